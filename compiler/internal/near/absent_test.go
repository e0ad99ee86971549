package near

import (
	"strings"
	"testing"
)

// TestAbsent asks for variables of an alias, of one that begins with its name, and of others.
func TestAbsent(t *testing.T) {
	for _, c := range []struct{ alias, name, say string }{
		{"syscall.select", "n", "nfds"},
		{"syscall.select", "nfds", ""},
		{"syscall.select6", "n", ""},
		{"nd_syscall.select", "n", "nfds"},
		{"tp_syscall.set_thread_area", "u_info_str", "u_info_uaddr"},
		{"dw_kprocess.n", "n", ""},
		{"n", "n", ""},
		{"nfs.fop.entries", "file", "only some"},
		{"nfs.fop.entries", "flie", ""},
		{"netfilter.arp.in", "family", "ARP"},
		{"netfilter.ip.pre_routing", "family", ""},
		{"", "n", ""},
	} {
		got := Absent(c.alias, c.name)
		if (got == "") != (c.say == "") || !strings.Contains(got, c.say) {
			t.Errorf("%s of %s: %q, want %q", c.name, c.alias, got, c.say)
		}
	}
}
