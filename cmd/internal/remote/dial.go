package remote

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/cmd/internal/remote/links"
)

// link is a way to a session on a host.
type link struct {
	*conn
	// cut ends the link at once. It may be called more than once.
	cut func()
	// wait gives, after the link has ended, what the program that made it said of it, nil if nothing.
	wait func() error
}

// executable is the executable that is run on the other side.
type executable struct {
	path string
	size int64
	sum  string // 16 hexadecimal digits of its SHA-256
}

// ourselves is the running executable. It is read once, for all hosts.
var ourselves = sync.OnceValues(func() (*executable, error) {
	f, err := os.Open("/proc/self/exe")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return &executable{"/proc/self/exe", n, hex.EncodeToString(h.Sum(nil))[:16]}, err
})

// bootstrap is what the shell of the other machine runs: it says whether gostap is there already, takes it if not, and
// becomes it. A directory that only the user can write to keeps it for the next time; where there is none, the file
// is gone as soon as it runs. There is no quote ' in it.
const bootstrap = `
umask 077
keep=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/gostap/bin
name=gostap-%[1]s
if mkdir -p "$keep" 2>/dev/null && [ -O "$keep" ] && [ -w "$keep" ]; then dir=$keep tmp=
else
    dir=$(mktemp -d /tmp/gostap-XXXXXX 2>/dev/null || mktemp -d /dev/shm/gostap-XXXXXX) || { echo gostap-nodir; exit 3; }
    tmp=$dir
fi
f=$dir/$name
if ! [ -x "$f" ]; then
    [ -n "$tmp" ] || rm -f "$dir"/gostap-*
    echo gostap-need $(uname -m)
    head -c %[2]d >"$f.$$"
    if [ "$(wc -c <"$f.$$")" -eq %[2]d ] && chmod 700 "$f.$$" && mv -f "$f.$$" "$f"; then :
    else rm -f "$f.$$"; [ -z "$tmp" ] || rm -rf "$tmp"; echo gostap-failed; exit 3; fi
fi
echo gostap-have
if [ -n "$tmp" ]; then exec 9<"$f"; rm -rf "$tmp"; exec /proc/self/fd/9 remote-session; fi
exec "$f" remote-session
`

// uname gives the release of the running kernel and the machine.
func uname() (release, machine string) {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return "", ""
	}
	return unix.ByteSliceToString(u.Release[:]), unix.ByteSliceToString(u.Machine[:])
}

// dial makes the link to h. note is told what takes long.
func dial(ctx context.Context, h Host, note func(string)) (*link, error) {
	if h.Socket != "" {
		d := net.Dialer{Timeout: 10 * time.Second}
		c, err := d.DialContext(ctx, "unix", h.Socket)
		if err != nil {
			var sys syscall.Errno
			if errors.As(err, &sys) {
				err = fmt.Errorf("%s: %w", h.Socket, sys)
			}
			return nil, err
		}
		return &link{newConn(c, c), func() { c.Close() }, func() error { return nil }}, nil
	}
	if h.TLS {
		c, err := h.Keys.Dial(ctx, h.Address, h.Port)
		if err != nil {
			return nil, err
		}
		return &link{newConn(c, c), func() { c.Close() }, func() error { return nil }}, nil
	}
	exe, err := ourselves()
	if err != nil {
		return nil, fmt.Errorf("reading gostap itself: %w", err)
	}
	if h.Direct {
		cmd := exec.Command(exe.path, "remote-session")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is passed on as a frame
		return command(ctx, cmd, nil)
	}
	if h.Pod != "" {
		return dialPod(ctx, h)
	}
	args := []string{"-T", "-o", "ServerAliveInterval=10", "-o", "ServerAliveCountMax=2", "-o", "ConnectTimeout=20"}
	if h.User != "" {
		args = append(args, "-l", h.User)
	}
	if h.Port != "" {
		args = append(args, "-p", h.Port)
	}
	script := fmt.Sprintf(bootstrap, exe.sum, exe.size)
	ssh, err := exec.LookPath("ssh")
	if err != nil {
		return nil, errors.New("there is no command ssh here, which connects to hosts")
	}
	// Ctrl-C at the terminal reaches ssh too, and would cut the link before the session has ended: it is started with
	// that signal ignored. It stays in the terminal's group, since it may have to ask for a password.
	args = append([]string{"-c", `trap "" INT; exec "$@"`, "sh", ssh}, args...)
	cmd := exec.Command("sh", append(args, "--", h.Address, "exec sh -c '"+script+"'")...)
	return command(ctx, cmd, func(in *bufio.Reader, out io.Writer) error { return install(in, out, exe, note) })
}

// dialPod makes the link to a container that has gostap: by kubectl, with the user's rights in the cluster.
func dialPod(ctx context.Context, h Host) (*link, error) {
	args := []string{"exec", "-i", "-q", "--namespace", h.Namespace, h.Pod}
	if h.Container != "" {
		args = append(args, "--container", h.Container)
	}
	args = append(args, "--", "gostap", "remote-session")
	if socket := os.Getenv(links.Variable); socket != "" {
		return borrow(ctx, socket, args)
	}
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		return nil, errors.New("there is no command kubectl here, which connects to pods")
	}
	if _, err := exec.LookPath("sh"); err != nil { // in a container: there is no terminal that kubectl could ask at
		cmd := exec.Command(kubectl, args...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		return command(ctx, cmd, nil)
	}
	// Of Ctrl-C it is as with ssh.
	args = append([]string{"-c", `trap "" INT; exec "$@"`, "sh", kubectl}, args...)
	return command(ctx, exec.Command("sh", args...), nil)
}

// borrow makes the link by a process that stands for kubectl (package links).
func borrow(ctx context.Context, socket string, args []string) (*link, error) {
	said := new(tail)
	l, err := links.Dial(ctx, socket, args, said)
	if err != nil {
		return nil, fmt.Errorf("what connects to pods is not reached: %w", err)
	}
	return &link{newConn(l.Pipe, l.Pipe), l.Kill, sync.OnceValue(func() error { return ended(said, l.Wait()) })}, nil
}

// ended is why what connects to a host has ended, nil if there is no more to say.
func ended(said *tail, status int) error {
	if text := said.text(); text != "" {
		return errors.New(text)
	}
	if status > 0 && status != 255 {
		return fmt.Errorf("what connects to it ended with status %d", status)
	}
	return nil
}

// install answers the bootstrap script. What a login shell prints before it is skipped.
func install(in *bufio.Reader, out io.Writer, exe *executable, note func(string)) error {
	var broken error // the copy was not taken; what comes next may tell why
	for skipped := 0; ; {
		line, err := in.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return cmp.Or(broken, err)
		}
		if skipped += len(line); skipped > 1<<20 {
			return errGarbage
		}
		word, rest, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		switch word {
		case "gostap-have":
			return nil
		case "gostap-nodir":
			return errors.New("there is no directory to put gostap into: " +
				"neither the user's cache nor /tmp nor /dev/shm")
		case "gostap-failed":
			return errors.New("gostap could not be written there: is the disk full?")
		case "gostap-need":
			if _, machine := uname(); rest != machine {
				return fmt.Errorf("it is a machine of kind %s, and this gostap is for %s", rest, machine)
			}
			note(fmt.Sprintf("copying gostap there, %d MB", (exe.size+1<<20-1)>>20))
			f, err := os.Open(exe.path)
			if err != nil {
				return err
			}
			_, broken = io.Copy(out, f)
			f.Close()
		}
	}
}

// command makes a link of a program's standard input and output. greet is called first, if it is not nil.
func command(ctx context.Context, cmd *exec.Cmd, greet func(*bufio.Reader, io.Writer) error) (*link, error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	var said tail
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	kill := func() { cmd.Process.Kill() }
	// Wait closes the pipe that is read from, so it comes after the last frame.
	wait := sync.OnceValue(func() error {
		in.Close()
		cmd.Wait()
		return ended(&said, cmd.ProcessState.ExitCode())
	})
	stop := context.AfterFunc(ctx, kill)
	defer stop()
	c := newConn(out, in)
	if greet != nil {
		if err := greet(c.in, in); err != nil {
			kill()
			if said := wait(); said != nil && !isOurs(err) {
				err = said
			}
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return nil, err
		}
	}
	return &link{c, func() { in.Close(); kill() }, wait}, nil
}

// isOurs tells an error with words of ours from one of a pipe or a connection.
func isOurs(err error) bool {
	if op := (*net.OpError)(nil); errors.As(err, &op) {
		return false
	}
	return !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, syscall.EPIPE) &&
		!errors.Is(err, os.ErrClosed)
}

// tail keeps the end of what is written to it.
type tail struct {
	mu sync.Mutex
	b  []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, b...)
	if n := len(t.b) - 4096; n > 0 {
		t.b = append(t.b[:0], t.b[n:]...)
	}
	return len(b), nil
}

// text is that, without the log of kubectl's library if there is more.
func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.ReplaceAll(string(t.b), "\r", "")
	if rest := strings.TrimSpace(logged.ReplaceAllString(text, "")); rest != "" {
		return rest
	}
	return strings.TrimSpace(text)
}

// logged is a line of klog: a letter, month and day, a time.
var logged = regexp.MustCompile(`(?m)^[IWEF]\d{4} \d\d:\d\d:.*\n?`)
