package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is one of the cluster's, by the name that it has there.
type process struct {
	pid  int
	born string // when, as the kernel counts: another process with this number has another one
}

// bornAt is when a process started, "" if there is none, or one that is ending or waits for its parent.
func bornAt(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	end := strings.LastIndexByte(string(text), ')')
	if err != nil || end < 0 {
		return ""
	}
	f := strings.Fields(string(text[end+1:]))
	if len(f) < 20 || f[0] == "Z" || f[0] == "X" {
		return ""
	}
	// What it had open is closed before it is gone, and whoever was connected to it may be here by then.
	const exiting = 4 // PF_EXITING of the kernel
	if flags, err := strconv.Atoi(f[6]); err != nil || flags&exiting != 0 {
		return ""
	}
	return f[19]
}

func (l *lab) note(name string) string { return filepath.Join(l.run, "pid", name) }

func (l *lab) logFile(name string) string { return filepath.Join(l.run, "log", name+".log") }

// running gives the process that was started under a name, if it runs.
func (l *lab) running(name string) (p process, ok bool) {
	text, err := os.ReadFile(l.note(name))
	if err != nil {
		return p, false
	}
	fmt.Sscan(string(text), &p.pid, &p.born)
	return p, p.born != "" && bornAt(p.pid) == p.born
}

// noted are the names of all that was started.
func (l *lab) noted() (names []string) {
	list, _ := os.ReadDir(filepath.Join(l.run, "pid"))
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// start starts a program in the cluster's cgroup unless it runs. mounts says in which mount namespace: "" is ours, that
// of a process by its number, or a new one that gets a folder told.
func (l *lab) start(name, mounts string, args ...string) error {
	if _, ok := l.running(name); ok {
		return nil
	}
	log, err := os.OpenFile(l.logFile(name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command("/proc/self/exe", append([]string{"stage", l.tracked(), mounts}, args...)...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), "PATH="+l.bin+":"+os.Getenv("PATH"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	l.started.Store(true)
	pid := cmd.Process.Pid
	return os.WriteFile(l.note(name), []byte(strconv.Itoa(pid)+" "+bornAt(pid)+"\n"), 0o644)
}

// kill ends a process, if it runs.
func (l *lab) kill(name string) {
	p, ok := l.running(name)
	for ; ok; _, ok = l.running(name) {
		syscall.Kill(p.pid, syscall.SIGKILL)
		time.Sleep(5 * time.Millisecond)
	}
}

// until waits until something is so, as long as the process runs that makes it so.
func (l *lab) until(limit time.Duration, name, what string, is func() bool) error {
	for end := time.Now().Add(limit); !is(); time.Sleep(30 * time.Millisecond) {
		_, runs := l.running(name)
		if runs && time.Now().Before(end) {
			continue
		}
		why := fmt.Sprintf("%s ended", name)
		if runs {
			why = fmt.Sprintf("%s: not within %v", what, limit)
		}
		text, _ := os.ReadFile(l.logFile(name))
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		return hinted(why+"; its last words:\n"+strings.Join(lines[max(0, len(lines)-5):], "\n"),
			"all of it is in "+l.logFile(name))
	}
	return nil
}
