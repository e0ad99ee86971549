package bpf

import (
	"testing"

	"github.com/gostap/gostap/compiler/partition"
	"github.com/gostap/gostap/compiler/probe"
)

// TestCrowded: the kernel takes 64 programs at an event, so that scripts with many keep to raw tracepoints.
func TestCrowded(t *testing.T) {
	for _, c := range []struct {
		name string
		n    int
		site func(i int) probe.Site
		want bool
	}{
		{"one handler for each of many calls", 400, func(i int) probe.Site {
			return probe.Site{Kind: probe.ProcessSyscall, Syscall: probe.SyscallPart{Nr: i}}
		}, false},
		{"many handlers of one call", mostAtEvent + 1,
			func(int) probe.Site {
				return probe.Site{Kind: probe.ProcessSyscall, Syscall: probe.SyscallPart{Nr: 39}}
			}, true},
		{"as many as may be", mostAtEvent, func(int) probe.Site {
			return probe.Site{Kind: probe.ProcessSyscall, Syscall: probe.SyscallPart{Nr: 39}}
		}, false},
		{"ends of many programs", mostAtEvent + 1, func(int) probe.Site { return probe.Site{Kind: probe.ProcessEnd} },
			true},
		{"functions", 400, func(int) probe.Site { return probe.Site{Kind: probe.Uprobe} }, false},
		{"as many tracepoints", 400, func(i int) probe.Site {
			return probe.Site{Kind: probe.Tracepoint, Event: "sched:e" + string(rune('0'+i))}
		}, false},
	} {
		one, each := &partition.Handler{}, []*partition.Handler(nil)
		for i := range c.n {
			s := c.site(i)
			one.Sites = append(one.Sites, &s)
			each = append(each, &partition.Handler{Sites: []*probe.Site{&s}})
		}
		if got := crowded([]*partition.Handler{one}); got != c.want {
			t.Errorf("%s, as one handler's sites: %v", c.name, got)
		}
		if got := crowded(each); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
