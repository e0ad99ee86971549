package kbuild

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// tempPrefix begins the names of the folders in which modules are built: it is followed by the number of the process.
const tempPrefix = "gostap-kmod-"

// Sweep removes the folders of builds that were killed, and gives their paths. alive says whether there is a
// process of that number.
func Sweep(alive func(pid int) bool) []string { return sweep(os.TempDir(), alive) }

func sweep(dir string, alive func(pid int) bool) (removed []string) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range list {
		rest, ok := strings.CutPrefix(e.Name(), tempPrefix)
		id, _, ok2 := strings.Cut(rest, "-")
		pid, err := strconv.Atoi(id)
		if !ok || !ok2 || err != nil || pid <= 0 || alive(pid) || !e.IsDir() {
			continue
		}
		// What others have put there under such a name is theirs.
		info, err := e.Info()
		if err != nil {
			continue
		}
		if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if os.RemoveAll(path) == nil {
			removed = append(removed, path)
		}
	}
	return removed
}
