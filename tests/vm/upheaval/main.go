// Command upheaval does to a machine, over and over, what can go wrong while programs are traced: file systems are
// unmounted, files truncated and replaced, tracers and programs killed, modules loaded again, at moments that a
// seed decides. After each round the kernel must hold what it held before. Tests in virtual machines run it.
//
//	upheaval [-seed N] [-rounds N]
package main

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	mountPoint = "/mnt/t"
	program    = mountPoint + "/prog"
)

// tracers are what is run; each goes on until it is told to end.
var tracers = [][]string{
	{"kmodrun", "-cache", "/lab/cache", "-name", "all", "all.ir"},
	{"kmodrun", "-cache", "/lab/cache", "-name", "kside", "kside.ir"},
	{"kmodrun", "-cache", "/lab/cache", "-name", "mounted", "mounted.ir"},
	{"kmodrun", "-cache", "/lab/cache", "-name", "together", "together.ir"},
	{"kmodrun", "-bpf", "all.ir"},
	{"kmodrun", "-bpf", "kside.ir"},
	{"kmodrun", "-bpf", "mounted.ir"},
}

// done counts what was done, by name.
var done = map[string]int{}

func main() {
	seed := flag.Uint64("seed", 1, "decides what happens when")
	rounds := flag.Int("rounds", 20, "how often")
	flag.Parse()
	r := rand.New(rand.NewPCG(*seed, 0))
	os.MkdirAll(mountPoint, 0o755)
	// What the kernel holds for ever once it was asked for is there before the first look.
	for range 2 {
		for _, t := range tracers {
			if out, err := exec.Command(t[0],
				append([]string{"-T", "50ms", "-c", "true"}, t[1:]...)...).CombinedOutput(); err != nil &&
				!strings.Contains(string(out), program) {
				fail("%v: %v\n%s", t, err, out)
			}
		}
	}
	before := held()
	for same := 0; same < 50; same++ {
		time.Sleep(20 * time.Millisecond) // what those before had is freed behind them
		if now := held(); fmt.Sprint(now) != fmt.Sprint(before) {
			before, same = now, 0
		}
	}
	for i := range *rounds {
		round(i, r)
		if i%10 == 9 || i == *rounds-1 {
			check(i, before)
		}
	}
	fmt.Printf("rounds %d: %v\nkept %v\n", *rounds, done, before)
}

func fail(format string, args ...any) {
	fmt.Printf("FAILED: "+format+"\n", args...)
	os.Exit(1)
}

// round is one session with everything that happens to it.
func round(n int, r *rand.Rand) {
	if err := unix.Mount("none", mountPoint, "tmpfs", 0, ""); err != nil {
		fail("round %d: mount: %v", n, err)
	}
	copyFile("/lab/prog", program)
	load := exec.Command(program, "300", "deep")
	load.Stdout = io.Discard
	if err := load.Start(); err != nil {
		fail("round %d: %v", n, err)
	}
	t := tracers[r.IntN(len(tracers))]
	tracer := exec.Command(t[0], t[1:]...)
	var said strings.Builder
	tracer.Stdout, tracer.Stderr = io.Discard, &said
	if err := tracer.Start(); err != nil {
		fail("round %d: %v", n, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- tracer.Wait() }()
	name := "none"
	// Half of the tracers trace by then.
	if r.IntN(2) == 0 {
		await(t, ended)
	}
	for range 1 + r.IntN(3) {
		time.Sleep(time.Duration(r.IntN(400)) * time.Millisecond)
		name = deeds[r.IntN(len(deeds))].do(load, r)
	}
	time.Sleep(time.Duration(r.IntN(200)) * time.Millisecond)
	sig := []os.Signal{syscall.SIGKILL, syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT}[r.IntN(4)]
	done[fmt.Sprint(sig)]++
	tracer.Process.Signal(sig)
	select {
	case <-ended:
	case <-time.After(2 * time.Minute):
		fail("round %d: %v does not end after %v (%s)\n%s", n, t, sig, name, said.String())
	}
	if r.IntN(3) == 0 {
		// The same once more at once: of a module that was left, its name is free.
		done["reload"]++
		again := exec.Command(t[0], append([]string{"-T", "20ms"}, t[1:]...)...)
		if out, err := again.CombinedOutput(); err != nil && strings.Contains(string(out), "loaded already") {
			fail("round %d: %v: %s", n, t, out)
		}
	}
	load.Process.Kill()
	load.Wait()
	// Nothing holds the file system any more; what a killed tracer had is let go while it ends.
	for i := 0; ; i++ {
		err := unix.Unmount(mountPoint, 0)
		if err == unix.EINVAL {
			return // unmounted before
		}
		if err == nil && i == 0 {
			done["unmounted at once"]++
		}
		if err != nil && i > 300 {
			fail("round %d: unmount after %v: %v", n, t, err)
		}
		if err != nil {
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// await waits until a tracer has its module or its links, or has ended.
func await(t []string, ended chan error) {
	for range 500 {
		time.Sleep(20 * time.Millisecond)
		attr := struct{ start, next, flags uint32 }{}
		if t[1] == "-bpf" {
			if _, _, e := unix.Syscall(unix.SYS_BPF, unix.BPF_LINK_GET_NEXT_ID, uintptr(unsafe.Pointer(&attr)),
				unsafe.Sizeof(attr)); e == 0 {
				done["traced"]++
				return
			}
		} else if _, err := os.Stat("/proc/gostap." + t[4]); err == nil {
			done["traced"]++
			return
		}
		if len(ended) > 0 {
			return
		}
	}
}

type deed struct {
	name string
	fn   func(load *exec.Cmd, r *rand.Rand) error
}

func (d deed) do(load *exec.Cmd, r *rand.Rand) string {
	name := d.name
	if err := d.fn(load, r); err != nil {
		name += " (" + err.Error() + ")"
	}
	done[name]++
	return name
}

var deeds = []deed{
	{"nothing", func(*exec.Cmd, *rand.Rand) error { return nil }},
	{"umount", func(load *exec.Cmd, _ *rand.Rand) error {
		load.Process.Kill()
		load.Wait()
		return unix.Unmount(mountPoint, 0)
	}},
	{"umount -l", func(*exec.Cmd, *rand.Rand) error { return unix.Unmount(mountPoint, unix.MNT_DETACH) }},
	{"remount ro", func(*exec.Cmd, *rand.Rand) error {
		return unix.Mount("none", mountPoint, "tmpfs", unix.MS_REMOUNT|unix.MS_RDONLY, "")
	}},
	{"truncate", func(load *exec.Cmd, r *rand.Rand) error {
		load.Process.Kill()
		load.Wait()
		return unwrap(os.Truncate(program, int64(r.IntN(2))*4096*int64(r.IntN(100))))
	}},
	{"overwrite", func(load *exec.Cmd, _ *rand.Rand) error {
		load.Process.Kill()
		load.Wait()
		f, err := os.OpenFile(program, os.O_WRONLY, 0)
		if err != nil {
			return unwrap(err)
		}
		defer f.Close()
		_, err = f.Write(make([]byte, 1<<19))
		return unwrap(err)
	}},
	{"replace", func(*exec.Cmd, *rand.Rand) error {
		if err := copyFile("/lab/prog", mountPoint+"/new"); err != nil {
			return unwrap(err)
		}
		return unwrap(os.Rename(mountPoint+"/new", program))
	}},
	{"remove", func(*exec.Cmd, *rand.Rand) error { return unwrap(os.Remove(program)) }},
	{"kill program", func(load *exec.Cmd, _ *rand.Rand) error { return unwrap(load.Process.Kill()) }},
	{"run more", func(*exec.Cmd, *rand.Rand) error {
		cmd := exec.Command(program, "20", "deep")
		cmd.Stdout, cmd.Stderr = io.Discard, io.Discard
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("it fails")
		}
		return nil
	}},
	{"rmmod", func(*exec.Cmd, *rand.Rand) error {
		for _, m := range []string{"all", "kside", "mounted", "together"} {
			if err := unix.DeleteModule(m, unix.O_NONBLOCK); err == nil {
				done["module removed"]++
			}
		}
		return nil
	}},
}

func unwrap(err error) error {
	for err != nil {
		u, ok := err.(interface{ Unwrap() error })
		if !ok {
			break
		}
		err = u.Unwrap()
	}
	return err
}

func copyFile(from, to string) error {
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o755)
	}
	return err
}

// check has everything cleaned up that killed tracers have left, and compares what the kernel holds with what it held.
func check(n int, before map[string]int) {
	out, err := exec.Command("gostap", "--cleanup").CombinedOutput()
	if err != nil {
		fail("round %d: cleanup: %v %s", n, err, out)
	}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		done["cleanup: "+strings.Join(f[:min(2, len(f))], " ")]++
	}
	now := held()
	for i := 0; i < 500 && fmt.Sprint(now) != fmt.Sprint(before); i++ {
		time.Sleep(20 * time.Millisecond) // programs and maps are freed behind their last user
		now = held()
	}
	if fmt.Sprint(now) != fmt.Sprint(before) {
		b, _ := os.ReadFile("/sys/kernel/tracing/kprobe_events")
		m, _ := os.ReadFile("/proc/modules")
		mounts, _ := os.ReadFile("/proc/mounts")
		fail("round %d: the kernel holds %v, before it held %v\n%s%s%s%s", n, now, before, out, b, m, mounts)
	}
	if out, err := exec.Command("gostap", "--cleanup").CombinedOutput(); err != nil ||
		string(out) != "nothing was left\n" {
		fail("round %d: cleaned up, and there is still something: %s", n, out)
	}
}

// held counts what tracing leaves in a kernel if it leaves anything.
func held() map[string]int {
	out := map[string]int{}
	for name, cmd := range map[string]uintptr{"programs": unix.BPF_PROG_GET_NEXT_ID, "maps": unix.BPF_MAP_GET_NEXT_ID,
		"links": unix.BPF_LINK_GET_NEXT_ID} {
		attr := struct{ start, next, flags uint32 }{}
		for {
			if _, _, e := unix.Syscall(unix.SYS_BPF, cmd, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr)); e != 0 {
				break
			}
			out[name]++
			attr.start = attr.next
		}
	}
	for name, path := range map[string]string{"modules": "/proc/modules",
		"kprobe events": "/sys/kernel/tracing/kprobe_events", "uprobe events": "/sys/kernel/tracing/uprobe_events",
		"kprobes": "/sys/kernel/debug/kprobes/list", "traced functions": "/sys/kernel/tracing/enabled_functions",
		"mounts": "/proc/mounts"} {
		b, err := os.ReadFile(path)
		if err != nil {
			fail("%v", err)
		}
		out[name] = strings.Count(string(b), "\n")
	}
	b, _ := os.ReadFile("/sys/kernel/rcu_expedited")
	out["expedited"] = strings.Count(string(b), "1")
	return out
}
