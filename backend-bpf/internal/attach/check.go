package attach

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-bpf/internal/kern"
)

// check asks the kernel about the instructions at the sites that want it. The kernel looks at an instruction only
// when it puts the breakpoint into a process; with no process there, it takes the link, and what it then refuses in a
// process that starts later, it refuses without a word: the probe never fires. So the pages are mapped
// here, and a link that is limited to this process is made first.
func check(u *Uprobes, sites []Site) error {
	var want []Site
	for _, p := range sites {
		if p.Check {
			want = append(want, p)
		}
	}
	if want == nil {
		return nil
	}
	f, err := os.Open(u.File.kernelPath())
	if err != nil {
		return nil // not readable by us, but for the kernel: it will see
	}
	defer f.Close()
	page := uint64(os.Getpagesize())
	last := ^uint64(0)
	for _, p := range want {
		if p.Offset/page == last {
			continue
		}
		last = p.Offset / page
		m, err := unix.Mmap(int(f.Fd()), int64(last*page), int(page), unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE)
		if err != nil {
			return nil // on a mount without execution nothing runs anyway
		}
		defer unix.Munmap(m)
	}
	own := *u
	own.PID = os.Getpid()
	fd, err := linkMulti(&own, want)
	if err == nil {
		go kern.Close(fd) // takes the kernel some time
		return nil
	}
	for _, p := range want {
		fd, err := linkMulti(&own, []Site{p})
		if err != nil {
			return &Error{Path: u.File.Path, Site: p, Err: err}
		}
		kern.Close(fd)
	}
	return nil
}
