package features

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Capabilities that tracing needs (include/uapi/linux/capability.h).
const (
	capSysModule = 16
	capSysAdmin  = 21
	capPerfmon   = 38
	capBPF       = 39
)

// status reads one field of /proc/self/status.
func status(field string) string {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, field+":"); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

func hasCap(n uint) bool {
	eff, err := strconv.ParseUint(status("CapEff"), 16, 64)
	return err == nil && eff>>n&1 == 1
}

// readWord gives a file's first word, "unknown" if it cannot be read.
func readWord(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(b))
}

// Lockdown gives the kernel's lockdown mode: none, integrity, confidentiality, or "" where it cannot be read.
func Lockdown() string {
	b, err := os.ReadFile("/sys/kernel/security/lockdown")
	if err != nil {
		return ""
	}
	_, s, ok := strings.Cut(string(b), "[")
	if !ok {
		return ""
	}
	s, _, _ = strings.Cut(s, "]")
	return s
}

// noLockdown reports whether this kernel is known to have no lockdown: securityfs is there, and has no file for it.
func noLockdown() bool {
	b, err := os.ReadFile("/sys/kernel/security/lsm")
	return err == nil && !strings.Contains(","+strings.TrimSpace(string(b))+",", ",lockdown,")
}

// inUserNS reports whether this process is in a user namespace of its own: root there is not root for the kernel.
func inUserNS() bool {
	b, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return false
	}
	f := strings.Fields(string(b))
	return len(f) != 3 || f[0] != "0" || f[1] != "0" || f[2] != "4294967295"
}

const filter = "a system call filter (seccomp, as of containers) forbids it"

// filtered reports whether a filter of system calls forbids bpf(2) or perf_event_open(2) as such. Without one, calls
// that mean nothing are told so (EINVAL), whatever the process may do; the caller has CAP_BPF.
func filtered() bool {
	if status("Seccomp") != "2" {
		return false
	}
	const none = 1 << 30 // neither a command of the one nor a flag of the other
	_, _, noBPF := unix.Syscall(unix.SYS_BPF, none, 0, 0)
	_, _, noPerf := unix.Syscall6(unix.SYS_PERF_EVENT_OPEN, 0, 0, 0, 0, none, 0)
	return noBPF == unix.EPERM || noPerf == unix.EPERM
}

// Refusal says in words why the kernel answered "operation not permitted".
func Refusal() string {
	admin := hasCap(capSysAdmin)
	switch {
	case !admin && !(hasCap(capBPF) && hasCap(capPerfmon)):
		if os.Geteuid() == 0 {
			return "no permission: root without CAP_BPF and CAP_PERFMON (a container without --privileged?)"
		}
		return "no permission: needs root, or CAP_BPF and CAP_PERFMON"
	case inUserNS():
		return "no permission: root of a user namespace is not root of the machine; run it on the host"
	case Lockdown() == "confidentiality":
		return "the kernel is locked down (confidentiality), which forbids tracing programs"
	case filtered():
		return filter
	case !admin:
		return "the kernel wants root for it: CAP_BPF and CAP_PERFMON are not enough"
	case status("Seccomp") == "2": // filters may look at arguments too
		return filter
	}
	return "the kernel refuses it to root (a security module, or a kernel built so)"
}

// release gives the kernel's release, such as 6.18.44-generic.
func release() string {
	var u unix.Utsname
	unix.Uname(&u)
	return unix.ByteSliceToString(u.Release[:])
}

// systemRows tells what is not a yes or no.
func systemRows() []Row {
	lock := Lockdown()
	lockdown := Row{Name: "lockdown", OK: lock != "confidentiality", What: "must be none or integrity", Reason: lock}
	if lock == "" {
		lockdown.Unknown, lockdown.Reason = true, "securityfs is not mounted"
	}
	rows := []Row{
		{Name: "kernel", OK: true, Reason: release() + " " + runtime.GOARCH},
		lockdown,
	}
	caps := Row{Name: "capabilities", OK: hasCap(capSysAdmin) || hasCap(capBPF) && hasCap(capPerfmon),
		What: "CAP_BPF and CAP_PERFMON, or root"}
	if !caps.OK {
		caps.Reason = Refusal()
	}
	sec := Row{Name: "seccomp", What: "no filter of system calls", OK: status("Seccomp") != "2"}
	if !sec.OK {
		sec.Reason = "a filter is active and may forbid system calls"
	}
	var lim unix.Rlimit
	files := Row{Name: "open files", OK: true}
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &lim) == nil {
		files.Reason = fmt.Sprintf("%d at most", lim.Max)
	}
	return append(rows, caps, sec, files)
}

// PidNS gives the device and the inode number of the pid namespace that the tracer is in.
func PidNS() (dev, ino uint64, err error) {
	var st unix.Stat_t
	err = unix.Stat("/proc/self/ns/pid", &st)
	return st.Dev, st.Ino, err
}

// OtherPidNS reports whether the tracer is in a pid namespace of its own. The first one has a fixed inode number
// (PROC_PID_INIT_INO, include/linux/proc_ns.h).
func OtherPidNS() bool {
	const first = 0xEFFFFFFC
	_, ino, err := PidNS()
	return err == nil && ino != first
}
