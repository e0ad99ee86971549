package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"

	bpf "github.com/gostap/gostap/backend-bpf"
	kmod "github.com/gostap/gostap/backend-kmod"
	"github.com/gostap/gostap/runtime/host/served"
)

// sweep removes in the background what killed sessions have left in tracefs, which everybody sees there. The
// command waits for it at its end. Left modules are removed by whoever loads one: that needs a lock.
func sweep() (wait func()) {
	if os.Geteuid() != 0 {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		bpf.Sweep()
	}()
	return func() { <-done }
}

// cleanup is --cleanup: it removes all that killed commands have left, and says what.
func cleanup(s Streams) int {
	if os.Geteuid() != 0 {
		fmt.Fprintln(s.Err, "note: only root sees what was left in the kernel")
	}
	events := bpf.Sweep()
	modules, folders := kmod.Sweep()
	folders = append(folders, served.Sweep()...)
	for _, l := range []struct {
		what string
		all  []string
	}{{"event of tracefs", events}, {"module", modules}, {"folder", folders}} {
		slices.Sort(l.all)
		switch {
		case len(l.all) > 8:
			what := strings.Replace(l.what, "event", "events", 1)
			if what == l.what {
				what += "s"
			}
			fmt.Fprintf(s.Out, "removed %d %s: %s ... %s\n", len(l.all), what, l.all[0], l.all[len(l.all)-1])
		default:
			for _, name := range l.all {
				fmt.Fprintf(s.Out, "removed %s %s\n", l.what, name)
			}
		}
	}
	if len(events)+len(modules)+len(folders) == 0 {
		fmt.Fprintln(s.Out, "nothing was left")
	}
	return 0
}
