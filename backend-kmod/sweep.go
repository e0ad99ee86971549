package kmod

import (
	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-kmod/internal/kbuild"
	"github.com/gostap/gostap/backend-kmod/internal/stage"
)

// Sweep removes what commands that were killed have left: modules that nobody can use any more, and folders of builds.
func Sweep() (modules, folders []string) {
	return stage.Sweep(), kbuild.Sweep(func(pid int) bool { return unix.Kill(pid, 0) != unix.ESRCH })
}
