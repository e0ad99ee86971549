package attach

import (
	"fmt"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-bpf/internal/kern"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/tests/patience"
)

// touch takes page faults.
func touch(t *testing.T, pages int) {
	t.Helper()
	mem, err := unix.Mmap(-1, 0, pages*4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	unix.Madvise(mem, unix.MADV_NOHUGEPAGE)
	for i := range pages {
		mem[i*4096] = 1
	}
	unix.Munmap(mem)
}

// TestMissedEvents: hits that the kernel has counted and the program has not seen are told. Runs of programs are
// counted from the middle on only, which looks the same.
func TestMissedEvents(t *testing.T) {
	needRoot(t)
	faults := probe.PerfEvent{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_PAGE_FAULTS, Period: 1}
	wait := patience.After(time.Minute)
	for _, missed := range []int{0, 500} {
	again:
		c := loadCounter(t, ebpf.PerfEvent, ebpf.AttachNone, "")
		count := func() int {
			fd, err := kern.EnableStats()
			if err != nil {
				t.Fatal(err)
			}
			return fd
		}
		stats := -1
		if missed == 0 {
			stats = count()
		}
		var s Set
		if err := s.Perf(c.prog(), faults, os.Getpid(), 3); err != nil {
			t.Fatal(err)
		}
		touch(t, max(missed, 1))
		if missed > 0 {
			// Another session of this machine may have them counted.
			if info, err := kern.ProgInfo(c.prog()); err != nil {
				t.Fatal(err)
			} else if info.RunCount > 0 {
				s.Detach()
				select {
				case <-wait:
					t.Skip("all the time somebody else counts the runs of programs")
				case <-time.After(50 * time.Millisecond):
				}
				goto again
			}
			stats = count()
		}
		touch(t, 300)
		s.Detach()
		kern.Close(stats)
		got := 0
		for _, w := range s.Warnings() {
			if m := regexp.MustCompile(`^(\d+) hits of counted events`).FindStringSubmatch(w); m != nil {
				fmt.Sscan(m[1], &got)
			}
		}
		if got < missed || got > missed+missed/2 {
			t.Errorf("%d missed hits are told, there were %d", got, missed)
		}
	}
}
