package attach

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// explainUprobe says in words what the kernel's number means for a uprobe.
func explainUprobe(err error, e *Error) string {
	errno, ok := errors.AsType[unix.Errno](err)
	if !ok {
		return err.Error()
	}
	switch errno {
	case unix.EPERM, unix.EACCES:
		return "no permission (needs root, or CAP_BPF and CAP_PERFMON)"
	case unix.EINVAL:
		return "the kernel refuses this place: past the end of the file, or the instruction there cannot be probed"
	case 524, unix.EOPNOTSUPP: // ENOTSUPP
		return "the kernel cannot probe the instruction there (it has a LOCK or segment prefix, is privileged or unknown to the kernel, or a breakpoint stands there already)"
	case unix.ENOEXEC:
		return "there is no valid instruction at that place"
	case unix.EIO:
		return "the file system cannot give the kernel the instruction there"
	case unix.ENOENT:
		return "the file does not exist any more"
	case unix.EBADF:
		return "not a regular file"
	case unix.ESRCH:
		return fmt.Sprintf("process %d does not exist any more", e.PID)
	case unix.EMFILE, unix.ENFILE:
		return "too many open files: this kernel takes two descriptors for each probe (ulimit -n)"
	case unix.ENOMEM:
		return "no memory in the kernel"
	case unix.E2BIG:
		return "more places than the kernel takes for one program"
	case unix.ENOSYS:
		return "this kernel has no uprobes"
	}
	return errno.Error()
}

// explainTracepoint does the same for tracepoints and functions of the kernel.
func explainTracepoint(err error) error {
	switch err {
	case unix.ENOENT:
		return fmt.Errorf("this kernel has no such tracepoint: %w", err)
	case unix.EPERM, unix.EACCES:
		return fmt.Errorf("no permission (needs root, or CAP_BPF and CAP_PERFMON): %w", err)
	case unix.EINVAL, unix.E2BIG:
		return fmt.Errorf("the kernel refuses this kind of attachment: %w", err)
	case unix.EBUSY:
		return fmt.Errorf("the place is taken by something that does not share it: %w", err)
	}
	return err
}

// explainPerf does the same for clocks.
func explainPerf(err error) error {
	switch err {
	case unix.EPERM, unix.EACCES:
		return fmt.Errorf("no permission (needs root or CAP_PERFMON, or a lower kernel.perf_event_paranoid): %w", err)
	case unix.ENOENT, unix.EOPNOTSUPP, unix.ENODEV:
		return fmt.Errorf("this machine has no such clock: %w", err)
	}
	return err
}
