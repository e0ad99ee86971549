package vm

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gostap/gostap/tests/patience"
)

// Options say what runs in the guest.
type Options struct {
	// Command is a line for the shell; it starts in /lab.
	Command string
	// Files are copied into the guest: by the path there, the path on the host. A file or a folder.
	Files map[string]string
	// CPUs, MemoryMB and Timeout have defaults: 2, 1024, 3 minutes on the clock of package patience, which goes
	// slower when the host is busy.
	CPUs, MemoryMB int
	Timeout        time.Duration
	// Append is put on the kernel's command line.
	Append string
	// Count makes the guest's clock advance by one nanosecond an instruction, on one CPU: what is timed in the guest is
	// then a number of instructions that does not depend on the host's load.
	Count bool
	// Parallel gives each of the guest's CPUs a thread on the host, for tests of CPUs that work at the same time. Other
	// guests have one thread where qemu loses changes of code otherwise (see losesCode).
	Parallel bool
	// Devices are further arguments of qemu.
	Devices []string
	// Log, if given, is told of guests that are started once more, and why.
	Log func(format string, args ...any)
}

// Result is how a command ended.
type Result struct {
	Output string // what it wrote, both streams
	Status int
	// Console is what the kernel said.
	Console string
	// Out holds what the command left below /out, by path.
	Out map[string][]byte
}

// Crashed says that the guest died, or did not come to an end in time.
type Crashed struct {
	Why     string
	Output  string
	Console string
	// State is where the guest's CPUs were when its time was over.
	State string
	// emulator says what qemu did wrong, if it was that: the guest is started once more.
	emulator string
}

func (e *Crashed) Error() string {
	why := e.Why
	if e.emulator != "" && e.emulator != why {
		why += ": " + e.emulator
	}
	return fmt.Sprintf("%s\n%s\n%s\n%s", why, e.Output, Excerpt(e.Console), e.State)
}

const initScript = `#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/lab:/bin:/sbin:/usr/bin:/usr/sbin HOME=/root LANG=C
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm; mount -t devpts devpts /dev/pts; mount -t tmpfs tmpfs /dev/shm
mount -t debugfs debugfs /sys/kernel/debug
mount -t tracefs tracefs /sys/kernel/tracing
mount -t bpf bpf /sys/fs/bpf
ln -s /proc/self/fd /dev/fd
ip link set lo up
for t in 1 2 3; do stty -F /dev/ttyS$t raw -echo 115200; done
if [ -e /modules ]; then # until there are files on the disk: see snapshot
	for m in $(cat /modules); do insmod $m; done
	until [ -e /dev/vda ]; do sleep 0.1; done
	[ ! -e /command ] || (cd /lab; sh /command) </dev/null >/dev/ttyS1 2>&1
	read -r was _ </proc/uptime
	echo ready >/dev/ttyS2
	until [ "$(dd if=/dev/vda bs=4096 skip=256 count=1 iflag=direct 2>/dev/null | head -n 1)" = files ]; do
		sleep 0.1
	done
	{ dd bs=1M skip=2 count=0 2>/dev/null; cpio -idmu 2>/dev/null; } </dev/vda
	for m in $(tac /modules); do rmmod $m; done
fi
[ ! -e /settle ] || for n in $(seq 20); do
	read -r _ a b c _ </proc/stat; sleep 1; read -r _ d e f _ </proc/stat
	[ $((d + e + f - a - b - c)) -gt 3 ] || break
done
cd /lab
dmesg -n 7
read -r up _ </proc/uptime
echo "begun $up ${was:-0}" >/dev/ttyS2
setsid sh /command </dev/null >/dev/ttyS1 2>&1
status=$?
[ -z "$(ls -A /out)" ] || tar -C /out -cf - . >/dev/ttyS3
echo "status $status" >/dev/ttyS2
sync
poweroff -f
`

// usualCPUs and usualMB are what a guest has that asks for nothing else.
const usualCPUs, usualMB = 2, 1024

// Run boots the kernel and runs a command. The error is a *Crashed if the guest did not report an end.
func (k *Kernel) Run(ctx context.Context, o Options) (*Result, error) {
	if o.CPUs == 0 {
		o.CPUs = usualCPUs
	}
	if o.MemoryMB == 0 {
		o.MemoryMB = usualMB
	}
	if o.Timeout == 0 {
		o.Timeout = 3 * time.Minute
	}
	dir, err := os.MkdirTemp("", "gostap-vm-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	snap, err := k.snapshot(ctx, &o)
	if err != nil {
		return nil, err
	}
	for try := 0; ; try++ {
		if err := o.stage(dir, snap); err != nil {
			return nil, err
		}
		res, err := k.boot(ctx, dir, &o, snap)
		if c, ok := err.(*Crashed); ok && c.emulator != "" && try < 2 {
			if o.Log != nil {
				o.Log("%s is started once more: %s\n%v", k.Release, c.emulator, c)
			}
			snap = nil // it may be the one that is not well
			continue
		}
		return res, err
	}
}

// stage writes a guest's files into dir: a disk for one that goes on from a snapshot, else the file system to boot.
func (o *Options) stage(dir string, snap *snapshot) error {
	t := newTree()
	if err := t.given(o); err != nil {
		return err
	}
	if snap != nil {
		return snap.box(dir, t.archive())
	}
	if err := t.system(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "initrd"), t.archive(), 0o644)
}

// system enters what every guest has.
func (t *tree) system() error {
	bb, err := exec.LookPath("busybox")
	if err != nil {
		return err
	}
	for _, d := range []string{"proc", "sys", "dev", "tmp", "run", "etc", "root", "lab", "out", "var", "sbin",
		"usr/bin", "usr/sbin"} {
		t.dir(d)
	}
	t.add("/init", 0o100755, []byte(initScript))
	t.add("/etc/passwd", 0o100644, []byte("root:x:0:0:root:/root:/bin/sh\n"))
	return t.copy(bb, "/bin/busybox")
}

// given enters what one guest is to run.
func (t *tree) given(o *Options) error {
	t.add("/command", 0o100755, []byte(o.Command+"\n"))
	if o.Count {
		t.add("/settle", 0o100644, nil)
	}
	for dst, src := range o.Files {
		if err := t.copy(src, dst); err != nil {
			return err
		}
	}
	return nil
}

// guestCPU is a CPU with all that qemu emulates but for the flag by which the kernel copies and clears memory with "rep
// movsb": that is emulated byte by byte. Without it guests take a sixth less of the host's CPU.
const guestCPU = "max,-erms"

// bootTime is how long a guest may take until its command begins: 3 s on a quiet machine.
const bootTime = time.Minute

// machine gives qemu's arguments but for what the guest begins with, with the files of its serial lines in dir, and how
// many threads its CPUs have.
func (k *Kernel) machine(dir string, o *Options) (args []string, thread string) {
	thread, cpus := "multi", o.CPUs
	if losesCode() && !o.Parallel {
		thread = "single"
	}
	args = []string{"-accel", "tcg,thread=" + thread}
	khz := clockKHz()
	if o.Count {
		cpus, args, khz = 1, []string{"-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off"}, 1000000
	}
	// On a busy host the kernel measures its clock wrong (it trusts the PIT where that and the HPET differ), which then
	// runs up to 30 times too fast, and takes the timer's interrupt for missing.
	clock := "no_timer_check"
	if khz > 0 {
		clock += fmt.Sprintf(" tsc_early_khz=%d", khz)
	}
	args = append(args, "-cpu", guestCPU, "-machine", "q35", "-smp", strconv.Itoa(cpus),
		"-m", strconv.Itoa(o.MemoryMB), "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
		"-append", "console=ttyS0 panic=-1 oops=panic quiet nokaslr tsc=reliable random.trust_cpu=on mitigations=off "+
			"8250.nr_uarts=4 "+clock+" "+o.Append,
		"-chardev", "stdio,id=mon", "-mon", "chardev=mon,mode=control")
	args = append(args, o.Devices...)
	for i, n := range serialFiles {
		args = append(args, "-chardev", fmt.Sprintf("file,id=c%d,path=%s", i, filepath.Join(dir, n)), "-serial",
			fmt.Sprintf("chardev:c%d", i))
		os.Remove(filepath.Join(dir, n)) // of a guest before
	}
	return append(args, "-kernel", k.Image), thread
}

// serialFiles are what a guest writes to its serial lines.
var serialFiles = []string{"console", "output", "status", "out.tar"}

func (k *Kernel) boot(ctx context.Context, dir string, o *Options, snap *snapshot) (*Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	args, thread := k.machine(dir, o)
	if snap != nil {
		args = append(args, snap.arguments(dir)...)
	} else {
		args = append(args, "-initrd", filepath.Join(dir, "initrd"))
	}
	cmd := exec.CommandContext(ctx, "qemu-system-x86_64", args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	mon, err := monitorOf(cmd)
	if err != nil {
		return nil, err
	}
	read := func(n string) string {
		b, _ := os.ReadFile(filepath.Join(dir, n))
		return strings.ReplaceAll(string(b), "\r", "")
	}
	crashed := &Crashed{}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		crashed.Why, crashed.emulator = watch(ctx, start, o, func() string { return read("status") })
		if crashed.Why == "" {
			return // it has ended
		}
		var stale string
		crashed.State, stale = mon.state(k)
		if stale != "" {
			crashed.emulator = stale
		}
		cancel(errors.New(crashed.Why))
	}()
	err = cmd.Wait()
	cancel(nil)
	<-done
	res := &Result{Output: read("output"), Console: read("console"), Out: map[string][]byte{}}
	_, status, ok := strings.Cut(strings.TrimSpace(read("status")), "status ")
	if !ok || crashed.Why != "" {
		crashed.Output, crashed.Console = res.Output, res.Console
		if crashed.Why == "" {
			crashed.Why = fmt.Sprintf("the guest did not report an end: %v %s", err, stderr.String())
		}
		if thread == "multi" && losesCode() && strings.Contains(res.Console, "int3: 0000 [#1]") {
			crashed.emulator = "a CPU met a breakpoint that was not there any more"
		}
		return nil, crashed
	}
	if res.Status, err = strconv.Atoi(status); err != nil {
		return nil, err
	}
	return res, res.untar(filepath.Join(dir, "out.tar"))
}

// watch waits for the end of a guest (ctx is done) and gives "", or says what is wrong with it, and whether that is the
// emulator's fault. status gives what the guest has reported.
func watch(ctx context.Context, start time.Time, o *Options, status func() string) (why, emulator string) {
	begun, mark := false, patience.Now()
	for {
		select {
		case <-ctx.Done():
			return "", ""
		case <-time.After(100 * time.Millisecond):
		}
		took := time.Since(start)
		over := func(limit time.Duration) bool { return patience.Now()-mark > limit }
		if !begun {
			_, s, ok := strings.Cut(status(), "begun ")
			var up, was float64 // seconds that the guest has been up, and was when its snapshot was made
			n, _ := fmt.Sscan(s, &up, &was)
			begun = ok && n == 2 && strings.Contains(s, "\n")
			if up -= was; begun && !o.Count && up > 2*took.Seconds()+1 {
				why = fmt.Sprintf("the guest's clock runs too fast: it says %.0f s after %.0f s", up, took.Seconds())
				return why, why
			}
		}
		if !begun && over(bootTime) {
			why = fmt.Sprintf("the guest did not come up within %v", bootTime)
			return why, why
		}
		if over(o.Timeout) {
			return fmt.Sprintf("the guest did not end within %v", o.Timeout), ""
		}
	}
}

// excerptLines is how much of a console is shown: a stall's traces of all CPUs have about a hundred lines.
const excerptLines = 200

// Excerpt is a console from its first complaint on, without one its end.
func Excerpt(console string) string {
	l := strings.Split(strings.TrimSpace(console), "\n")
	for i := range l {
		if complains(l[i]) {
			l = l[max(0, i-2):]
			return strings.Join(l[:min(excerptLines, len(l))], "\n")
		}
	}
	return strings.Join(l[max(0, len(l)-25):], "\n")
}

func complains(line string) bool {
	for _, bad := range []string{"BUG:", "WARNING:", "Oops", "Call Trace", "general protection", "INFO: task", "rcu:",
		"lockup", "int3:"} {
		if strings.Contains(line, bad) {
			return true
		}
	}
	return false
}

// Complaints are the lines of a console that say that the kernel is not well.
func Complaints(console string) []string {
	var out []string
	for _, line := range strings.Split(console, "\n") {
		if complains(line) {
			out = append(out, line)
		}
	}
	return out
}

func (r *Result) untar(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	for t := tar.NewReader(f); ; {
		h, err := t.Next()
		if err != nil {
			return nil // the end, or nothing at all
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		b, err := io.ReadAll(t)
		if err != nil {
			return err
		}
		r.Out[filepath.Clean(h.Name)] = b
	}
}
