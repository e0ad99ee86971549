package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// stage goes where a program is to run, and becomes it: args are a file cgroup.procs, the mount namespace as start has
// it, and the program's words.
func stage(args []string) error {
	runtime.LockOSThread() // the namespace is this thread's, and the program's after it
	if len(args) < 3 {
		return errors.New("stage is for kubelab itself")
	}
	procs, mounts, words := args[0], args[1], args[2:]
	if err := os.WriteFile(procs, []byte(strconv.Itoa(os.Getpid())), 0); err != nil {
		return err
	}
	var err error
	if made, ok := strings.CutPrefix(mounts, "new:"); ok {
		err = ownMounts(made)
	} else if mounts != "" {
		err = joinMounts(mounts)
	}
	if err != nil {
		return err
	}
	path, err := exec.LookPath(words[0])
	if err != nil {
		return err
	}
	return fmt.Errorf("%s: %w", path, unix.Exec(path, words, os.Environ()))
}

// ownMounts makes a mount namespace whose mounts others do not see, and that sees theirs, with empty folders in the
// places that every node would write to. The file says that it is done.
func ownMounts(made string) error {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("no mount namespace: %w", err)
	}
	for _, flag := range []uintptr{unix.MS_SLAVE, unix.MS_SHARED} {
		if err := unix.Mount("", "/", "", flag|unix.MS_REC, ""); err != nil {
			return fmt.Errorf("mounts of the namespace: %w", err)
		}
	}
	for _, dir := range fixedPaths {
		if err := unix.Mount("none", dir, "tmpfs", 0, ""); err != nil {
			return fmt.Errorf("a tmpfs at %s: %w", dir, err)
		}
	}
	return os.WriteFile(made, nil, 0o644)
}

func joinMounts(pid string) error {
	ns, err := os.Open("/proc/" + pid + "/ns/mnt")
	if err != nil {
		return err
	}
	// One that shares its root with other threads cannot go.
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return err
	}
	return unix.Setns(int(ns.Fd()), unix.CLONE_NEWNS)
}
