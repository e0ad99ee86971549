package family

import (
	"strings"

	"github.com/gostap/gostap/compiler/probe"
)

// gone are aliases of stap's library whose functions no kernel that gostap runs on has any more, from 6.1 on, or has
// only in a form that tells nothing, by the words that their names begin with.
var gone = []struct{ names, hint string }{
	{"generic.fop.aio_read generic.fop.read generic.fop.readv", "use generic.fop.read_iter, or vfs.read and vfs.readv"},
	{"generic.fop.aio_write generic.fop.write generic.fop.writev",
		"use generic.fop.write_iter, or vfs.write and vfs.writev"},
	{"generic.fop.sendfile nfs.fop.sendfile", "use generic.fop.splice_read, or syscall.sendfile"},
	{"vfs.block_sync_page", "use ioblock.request for what goes to the disk"},
	{"nfs.aop.set_page_dirty", "use nfs.aop.write_end for pages that a program has written to"},
	{"nfs.aop.writepage", "use nfs.aop.writepages"},
	{"nfs.proc.read nfs.proc2.read nfs.proc3.read nfs.proc4.read", "use nfs.proc.read_setup and nfs.proc.read_done"},
	{"nfs.proc.write nfs.proc2.write nfs.proc3.write nfs.proc4.write",
		"use nfs.proc.write_setup and nfs.proc.write_done"},
	{"nfs.proc.commit nfs.proc3.commit nfs.proc4.commit", "use nfs.proc.commit_setup and nfs.proc.commit_done"},
	{"nfs.proc.rename nfs.proc2.rename nfs.proc3.rename nfs.proc4.rename",
		"use nfs.proc.rename_setup and nfs.proc.rename_done"},
	{"socket.aio_read socket.readv", "use socket.read_iter, or socket.recvmsg"},
	{"socket.aio_write socket.writev", "use socket.write_iter, or socket.sendmsg"},
	{"nfsd.createv3", "use nfsd.proc3.create and nfsd.proc4.create"},
	{"nfsd.open nfsd.close", "the server keeps files open as it likes; use nfsd.proc.read and nfsd.proc.write"},
}

// whyGone says what to use instead of an alias that no kernel has a place for, "" for other names.
func whyGone(req probe.Request) string {
	var words []string
	for _, c := range req.Comps {
		words = append(words, c.Name)
	}
	name := strings.Join(words, ".") + "."
	for _, g := range gone {
		for n := range strings.FieldsSeq(g.names) {
			if strings.HasPrefix(name, n+".") {
				return g.hint
			}
		}
	}
	return ""
}
