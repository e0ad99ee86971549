package near

import (
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/probe"
)

const some = "only some of the probes that this name stands for have it: name those"

// absent are variables that stap's aliases set and ours do not: the aliases, all that begin with them included, their
// variables, and why not, with what to use. What is said of syscall holds for nd_syscall and tp_syscall.
var absent = []struct{ aliases, vars, why string }{
	{"ipmib.FragFails ipmib.FragOKs", "skb SourceIsLocal",
		"stap's has it; the packet is not there any more when it is known how it went, op and key are"},
	{"netfilter.arp", "family", "stap's has it; packets of ARP have no family of addresses, and pf is \"arp\""},
	{"nfs.aop.entries", "i_state", some},
	{"nfs.fop.entries", "bytes_to_read bytes_to_write file len pathname ppos", some},
	{"nfs.fop.return", "bytes_read bytes_to_read bytes_to_write bytes_written error error_str pos ret", some},
	{"nfs.proc.entries", "flags new_filelen old_filelen", some},
	{"nfs.proc.return", "size units", some},
	{"nfsd.entries", "access createmode file flag truncp vec verifier vlen", some},
	{"nfsd.proc.entries", "vlen", some},
	{"sunrpc.entry sunrpc.clnt.entry", "clones", some},
	{"nfs.fop.read nfs.fop.write", "s_id", "stap's has it; devname is its text"},
	{"nfs.proc.commit_done nfs.proc.rename_done nfs.proc2.rename_done nfs.proc3.commit_done nfs.proc3.rename_done " +
		"nfs.proc4.commit_done nfs.proc4.rename_done", "timestamp",
		"stap's has it; kernels from 6.1 on keep no time there: gettimeofday_ns() is the time of the hit"},
	{"nfsd.commit", "flag", "stap's has it; kernels from 6.1 on do not say it there"},
	{"nfsd.proc2.create", "createmode", "stap's has it, always 0; version 2 of NFS has no such thing"},
	{"nfsd.read nfsd.write", "file",
		"stap's has it; kernels from 6.1 on open the file in this function: fh is the handle"},
	{"nfsd.read nfsd.write nfsd.proc.read nfsd.proc.write nfsd.proc2.read nfsd.proc2.write nfsd.proc3.read " +
		"nfsd.proc3.write nfsd.proc4.read nfsd.proc4.write", "vec vlen",
		"stap's has it; newer kernels hand on pages in place of a list of buffers: size and offset are there"},
	{"signal.force_segv.return", "retstr", "stap's has it; the function returns nothing"},
	{"sunrpc.clnt.shutdown_client", "clones", "stap's has it; kernels from 6.1 on do not count clones"},
	{"syscall.get_thread_area syscall.set_thread_area", "u_info_str",
		"stap's has it for 32-bit programs, which alone have something there: u_info_uaddr says where"},
	{"syscall.select", "n",
		"stap's n of select is nfds: n is what many scripts call a global"},
	{"tcpmib.OutSegs", "iphdr", "stap's has it; the header is not written yet here: sk has the addresses"},
}

// Absent says why ours of an alias of stap's does not have a variable that stap's has, and what to use; "" for all
// others.
func Absent(alias, name string) string {
	if bare := alias[min(len("nd_"), len(alias)):]; strings.HasPrefix(bare, "syscall.") {
		alias = bare
	}
	for _, a := range absent {
		for p := range strings.FieldsSeq(a.aliases) {
			if (alias == p || strings.HasPrefix(alias, p+".")) && slices.Contains(strings.Fields(a.vars), name) {
				return a.why
			}
		}
	}
	return ""
}

// Gone is Absent of the first of the probes at for which it has an answer. A script that uses such a variable expects
// stap's value, which 0 would not be.
func Gone(at []*probe.Site, name string) string {
	for _, s := range at {
		if why := Absent(s.Alias, name); why != "" {
			return why
		}
	}
	return ""
}
