// Command supervise runs the tests of a package for "go test -exec": it ends them when they hang, whatever else the
// machine does, and leaves nothing of them behind.
//
//	go test -timeout 0 -exec bin/supervise ./...
//
// The tests hang when they and all that they have started use no CPU for a while, on the clock of package patience;
// and they go round in circles when they have used more than any of them does. Both end with the goroutines of the
// test (SIGQUIT), then with SIGKILL for all of them. What they make in the folder for temporary files is made in
// one of their own, which is removed. Tests that leave something else than the device at /dev/null fail.
// GOSTAP_TEST_TIMES names a file to which a line with the CPU time of each package is added.
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/tests/patience"
)

const (
	// idle is for how long tests may do nothing: each wait in them has a limit of its own below that.
	idle = 6 * time.Minute
	// little is the CPU time of nothing: a guest that sleeps uses some.
	little = 500 * time.Millisecond
	// most is the CPU time that no package needs.
	most = 40 * time.Minute
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: go test -exec supervise ...")
		os.Exit(2)
	}
	os.Exit(run(os.Args[1:], idle, most))
}

// run runs a command and gives its exit status.
func run(args []string, idle, most time.Duration) int {
	// Orphans come to this process, so that they are found.
	unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	dir, err := folder()
	if err != nil {
		fmt.Fprintln(os.Stderr, "supervise:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	device := isDevice(null)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "supervise:", err)
		return 1
	}
	sigs := make(chan os.Signal, 4)
	signal.Notify(sigs, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	done := make(chan struct{})
	why := make(chan string, 1)
	go watch(cmd.Process, idle, most, sigs, done, why)
	adopted := make(chan struct{})
	go func() {
		defer close(adopted)
		adopt(cmd.Process.Pid, done)
	}()
	err = cmd.Wait()
	close(done)
	reason := <-why
	<-adopted
	left := sweep()
	for pid, err := 1, error(nil); pid > 0 && err == nil; { // nobody else waits any more
		pid, err = syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
	}
	u := cmd.ProcessState
	var kids unix.Rusage
	unix.Getrusage(unix.RUSAGE_CHILDREN, &kids)
	note(filepath.Base(args[0]), time.Since(begin), time.Duration(kids.Utime.Nano()), time.Duration(kids.Stime.Nano()))
	if reason != "" {
		fmt.Fprintf(os.Stderr, "supervise: %s was ended: %s\n", filepath.Base(args[0]), reason)
		return 1
	}
	if device && !isDevice(null) {
		fmt.Fprintf(os.Stderr, "supervise: while %s ran, something was put in the place of %s\n",
			filepath.Base(args[0]), null)
		return 1
	}
	if err == nil && left > 0 {
		note(fmt.Sprintf("%s left %d processes", filepath.Base(args[0]), left), 0, 0, 0) // so that somebody sees to it
	}
	if s, ok := u.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return 128 + int(s.Signal())
	}
	return u.ExitCode()
}

// null is the device that programs of root remove, or put a file in the place of, when they are to write to it and
// are careless.
var null = os.DevNull

// isDevice tells whether the name is that of a device.
func isDevice(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode()&fs.ModeCharDevice != 0
}

// folder makes a folder whose path has always the same length: paths stand in messages, with columns behind them.
func folder() (string, error) {
	for range 1000 {
		dir := filepath.Join(os.TempDir(), fmt.Sprintf("gostap-t%04d", rand.IntN(10000)))
		if err := os.Mkdir(dir, 0o755); !errors.Is(err, fs.ErrExist) {
			return dir, err
		}
	}
	return "", errors.New("no name for a folder is free")
}

// watch ends the process when it hangs, goes round in circles or a signal asks for it; why gets one reason, "" for
// none.
func watch(p *os.Process, idle, most time.Duration, sigs <-chan os.Signal, done <-chan struct{}, why chan<- string) {
	mark, used := patience.Now(), time.Duration(0)
	for {
		reason, dump := "", syscall.SIGQUIT
		select {
		case <-done:
			why <- ""
			return
		case s := <-sigs:
			reason = "signal " + s.String()
			dump = s.(syscall.Signal)
		case <-time.After(max(idle/60, 5*time.Millisecond)): // what is looked at is each process of the machine
			switch now, u := patience.Now(), spent(); {
			case u > most:
				reason = fmt.Sprintf("it has used %v of CPU time", u.Round(time.Second))
			case u > used+min(little, idle/10):
				mark, used = now, u
			case now > mark+idle:
				reason = fmt.Sprintf("it does nothing any more (CPU time %v)\n%s", u.Round(time.Millisecond), family())
			}
		}
		if reason == "" {
			continue
		}
		p.Signal(dump)
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			sweep()
			p.Kill()
		}
		why <- reason
		return
	}
}

// adopt waits for orphans as init would: tests ask whether a process is there.
func adopt(but int, done <-chan struct{}) {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	defer signal.Stop(ended)
	for {
		select {
		case <-done:
			return
		case <-ended:
		case <-time.After(time.Second): // an orphan may have ended before this began to listen
		}
		lists, _ := filepath.Glob("/proc/self/task/*/children")
		for _, list := range lists {
			kids, _ := os.ReadFile(list)
			for _, f := range strings.Fields(string(kids)) {
				if pid, err := strconv.Atoi(f); err == nil && pid != but {
					syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
				}
			}
		}
	}
}

// kin are the processes below this one.
func kin() []int {
	kids := map[int][]int{}
	dirs, _ := filepath.Glob("/proc/[0-9]*") // with /stat behind it the folder of each process is read, too
	for _, d := range dirs {
		if pid, ppid, _, ok := stat(d + "/stat"); ok {
			kids[ppid] = append(kids[ppid], pid)
		}
	}
	var out []int
	for next := kids[os.Getpid()]; len(next) > 0; next = next[1:] {
		out = append(out, next[0])
		next = append(next, kids[next[0]]...)
	}
	return out
}

// stat reads a process's number, its parent's, and the CPU time of it and of those it has waited for.
func stat(file string) (pid, ppid int, used time.Duration, ok bool) {
	b, err := os.ReadFile(file)
	head, tail, found := strings.Cut(string(b), " (")
	if i := strings.LastIndex(tail, ") "); err == nil && found && i >= 0 {
		f := strings.Fields(tail[i+2:]) // the state, the parent, ...
		if len(f) < 15 {
			return 0, 0, 0, false
		}
		pid, _ = strconv.Atoi(head)
		ppid, _ = strconv.Atoi(f[1])
		for _, ticks := range f[11:15] {
			n, _ := strconv.Atoi(ticks)
			used += time.Duration(n) * 10 * time.Millisecond
		}
		return pid, ppid, used, true
	}
	return 0, 0, 0, false
}

// spent is the CPU time of all processes below this one, ended ones among them.
func spent() time.Duration {
	var kids unix.Rusage
	unix.Getrusage(unix.RUSAGE_CHILDREN, &kids)
	sum := time.Duration(kids.Utime.Nano() + kids.Stime.Nano())
	for _, pid := range kin() {
		if _, _, used, ok := stat(fmt.Sprintf("/proc/%d/stat", pid)); ok {
			sum += used
		}
	}
	return sum
}

// family lists what is running below this process.
func family() string {
	var out strings.Builder
	for _, pid := range kin() {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		where, _ := os.ReadFile(fmt.Sprintf("/proc/%d/wchan", pid))
		fmt.Fprintf(&out, "\t%d in %s: %.200s\n", pid, where, strings.ReplaceAll(string(line), "\x00", " "))
	}
	return out.String()
}

// sweep ends what the tests have left running, and says how much that was. Those that have ended may wait to be
// waited for.
func sweep() int {
	n := 0
	for range 50 {
		left := 0
		for _, pid := range kin() {
			if line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); len(line) > 0 {
				syscall.Kill(pid, syscall.SIGKILL)
				left++
			}
		}
		n = max(n, left)
		if left == 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return n
}

func note(what string, wall, user, sys time.Duration) {
	file := os.Getenv("GOSTAP_TEST_TIMES")
	if file == "" {
		return
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return
	}
	defer f.Close()
	wd, _ := os.Getwd()
	fmt.Fprintf(f, "%8.1f cpu %8.1f user %7.1f sys %8.1f wall %s %s\n", (user + sys).Seconds(), user.Seconds(),
		sys.Seconds(), wall.Seconds(), what, wd)
}
