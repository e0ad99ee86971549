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
	bad, err := refusedSite(&own, want, err)
	return &Error{Path: u.File.Path, Site: bad, Err: err}
}

// refusedSite finds a place that the kernel refuses among sites, which it has refused together for the reason why. It
// does not say which it is, and to take a link away takes it some 40 ms, so halves are tried, and the links that were
// made go in the background.
func refusedSite(u *Uprobes, sites []Site, why error) (Site, error) {
	for len(sites) > 1 {
		half := sites[:len(sites)/2]
		fd, err := linkMulti(u, half)
		if err != nil {
			sites, why = half, err
			continue
		}
		go kern.Close(fd)
		sites = sites[len(half):]
	}
	if fd, err := linkMulti(u, sites); err != nil {
		return sites[0], err
	} else {
		go kern.Close(fd)
	}
	return sites[0], why
}
