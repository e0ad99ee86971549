package stage

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A tracer that is killed leaves its module in the kernel, with nothing attached, and nobody can use it any more: a
// module serves one session. Whoever loads a module holds a lock until the control file is open, so that one that
// nobody has open is such a module.

// lockLoading keeps others from loading modules, and from taking a module that is being loaded for one that was
// left. The lock ends with the process at the latest.
func lockLoading() (unlock func()) {
	fd, err := unix.Open("/sys/module", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return func() {}
	}
	for i := 0; i < 1000 && unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) == unix.EWOULDBLOCK; i++ {
		time.Sleep(10 * time.Millisecond)
	}
	return func() { unix.Close(fd) }
}

// Sweep removes the modules that killed tracers have left, and gives their names.
func Sweep() []string {
	if len(left("/")) == 0 {
		return nil
	}
	unlock := lockLoading()
	defer unlock()
	return sweep("/")
}

func sweep(root string) []string {
	var out []string
	for _, name := range left(root) {
		if remove(name) == nil {
			out = append(out, name)
		}
	}
	return out
}

// left finds the modules of gostap that nobody uses, looking under root.
func left(root string) []string {
	b, err := os.ReadFile(root + "/proc/modules")
	if err != nil {
		return nil
	}
	var out []string
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line) // name, size, users, whose, state, address
		if len(f) < 5 || f[2] != "0" || f[4] != "Live" {
			continue
		}
		if _, err := os.Stat(root + "/proc/gostap." + f[0]); err == nil {
			out = append(out, f[0])
		}
	}
	return out
}
