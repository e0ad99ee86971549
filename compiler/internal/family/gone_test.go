package family

import (
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/probe"
)

// TestGone: an alias of stap's for which no kernel has a place is refused with what to use, and its neighbours are not.
func TestGone(t *testing.T) {
	for name, want := range map[string]string{
		"generic.fop.readv":        "use generic.fop.read_iter",
		"generic.fop.readv.return": "use generic.fop.read_iter",
		"nfs.proc3.rename":         "use nfs.proc.rename_setup",
		"nfs.proc3.rename_setup":   "",
		"nfs.aop.writepage":        "nfs.aop.writepages",
		"nfs.aop.writepages":       "",
		"vfs.block_sync_page":      "ioblock.request",
		"vfs.nothing":              "",
		"socket.aio_read":          "socket.read_iter",
		"socket.readv.return":      "socket.recvmsg",
		"socket.writev":            "socket.write_iter",
		"socket.writing":           "",
	} {
		var r probe.Request
		for w := range strings.SplitSeq(name, ".") {
			r.Comps = append(r.Comps, probe.Comp{Name: w})
		}
		_, ds := Resolve(new(Env), r)
		if len(ds) != 1 {
			t.Fatal(name, ds)
		}
		gone := strings.Contains(ds[0].Message, "kernels from 6.1 on do not have the function")
		if gone != (want != "") || gone && !strings.Contains(ds[0].Hint, want) {
			t.Errorf("%s: %s; %s", name, ds[0].Message, ds[0].Hint)
		}
	}
}
