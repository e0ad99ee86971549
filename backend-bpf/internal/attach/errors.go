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
		return "the kernel cannot probe the instruction there (it has a LOCK or segment prefix, is privileged or " +
			"unknown to the kernel, or a breakpoint stands there already)"
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

// explainPerf does the same for events that are counted.
func explainPerf(typ uint32, err error) error {
	switch {
	case err == unix.EPERM || err == unix.EACCES:
		return fmt.Errorf("no permission (needs root or CAP_PERFMON, or a lower kernel.perf_event_paranoid): %w", err)
	case typ == unix.PERF_TYPE_BREAKPOINT && err == unix.ENOSPC:
		return fmt.Errorf("all watchpoints of the processor are taken (it has four): %w", err)
	case typ == unix.PERF_TYPE_BREAKPOINT && err == unix.EINVAL:
		return fmt.Errorf("the kernel watches no such address: %w", err)
	case typ == unix.PERF_TYPE_BREAKPOINT && (err == unix.ENOENT || err == unix.EOPNOTSUPP || err == unix.ENODEV):
		return fmt.Errorf("this machine has no watchpoints: %w", err)
	case err == unix.ENOENT || err == unix.EOPNOTSUPP || err == unix.ENODEV:
		return fmt.Errorf("this machine does not count that (few virtual machines have hardware counters; software "+
			"events are type 1): %w", err)
	case err == unix.EINVAL:
		return fmt.Errorf("the kernel knows no such event: %w", err)
	case err == unix.ESRCH:
		return fmt.Errorf("the target has ended: %w", err)
	case err == unix.ENOSPC:
		return fmt.Errorf("all counters of the processor are taken: %w", err)
	}
	return err
}
