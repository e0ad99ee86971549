package tests

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/tests/patience"
)

// filesOf asks a session for its files at a Unix socket.
func filesOf(t *testing.T, name string) func(method, path, text string) (int, string) {
	t.Helper()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _,
		_ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", "/run/gostap/"+name+"/http")
	}}}
	return func(method, path, text string) (int, string) { return request(t, c, method, "http://x/"+path, text) }
}

func request(t *testing.T, c *http.Client, method, url, text string) (int, string) {
	t.Helper()
	ctx, stop := patience.Context(context.Background(), soon)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(text))
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	a, err := c.Do(r)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	if err != nil {
		t.Error(err)
	}
	return a.StatusCode, string(body)
}

// aside has sessions leave what -m keeps in a folder of the test's.
func aside(t *testing.T) {
	bin(t, "gostap")
	t.Chdir(t.TempDir())
}

// asNobody reads a file as the user nobody, who is one thread of this process, and gives the answer as it comes.
func asNobody(t *testing.T, socket, path string) string {
	t.Helper()
	fd := make(chan int)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with the goroutine
		s, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		const nobody = 65534
		_, _, e1 := unix.RawSyscall(unix.SYS_SETRESGID, nobody, nobody, nobody)
		_, _, e2 := unix.RawSyscall(unix.SYS_SETRESUID, nobody, nobody, nobody)
		if err == nil && e1 == 0 && e2 == 0 {
			err = unix.Connect(s, &unix.SockaddrUnix{Name: socket})
		}
		if err != nil || e1 != 0 || e2 != 0 {
			t.Error(err, e1, e2)
		}
		fd <- s
	}()
	f := os.NewFile(uintptr(<-fd), socket)
	defer f.Close()
	fmt.Fprintf(f, "GET /%s HTTP/1.0\r\nHost: x\r\n\r\n", path)
	text, err := io.ReadAll(f)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

// TestServedFiles: files of a script are read and written without a module as they are with one in /proc.
func TestServedFiles(t *testing.T) {
	needRoot(t)
	aside(t)
	name := fmt.Sprintf("files_%d", os.Getpid())
	prog := filepath.Join(t.TempDir(), "prog") // which nobody else runs
	if text, err := os.ReadFile("/bin/true"); err != nil {
		t.Fatal(err)
	} else if err := os.WriteFile(prog, text, 0o755); err != nil {
		t.Fatal(err)
	}
	s := begin(t, "-m", name, "-D", "MAXERRORS=5", "--serve", "0", "-e", `
global n = 5, last = "none", pieces, hits
probe begin { println("begun") }
probe process(@1).begin { hits++ }
probe procfs("count").read { $value = sprintf("%d\n", n++) }
probe procfs.write { last = $value pieces++ println("wrote ", strlen($value), " ", execname(), " ", pid(), " ", uid()) if (last == "stop\n") exit() }
probe procfs.read { $value = last; $value .= "(" . pp() . " " . module_name() . ")\n" }
probe procfs("sub/long").umask(0).read.maxsize(2000) { for (i = 0; i < 60; i++) $value .= "0123456789012345678901234567890123456789" }
probe procfs("sub/big").read.maxsize(1048576) { for (i = 0; i < 2100; i++) $value .= "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789" }
probe procfs("sub/bad").read { try { error("broken") } catch { } x = n / (n - n) $value = sprint(x) }
probe procfs("open").umask(0).write { println("open ", $value) }
probe procfs("who").umask(0).read { $value = execname() }
probe prometheus { printf("scraped %d\n", hits) $value = sprintf("hits_total %d\n", hits) }
probe end { println("end ", n, " ", pieces) }`, prog)
	s.line("begun") // who comes before the probes are there waits
	do := filesOf(t, name)
	expect := func(method, path, text string, status int, want string) {
		t.Helper()
		if code, got := do(method, path, text); code != status || got != want {
			t.Errorf("%s %s: %d %q, not %d %q", method, path, code, got, status, want)
		}
	}
	expect("GET", "count", "", 200, "5\n")
	expect("GET", "command", "", 200, "none(procfs.read "+name+")\n")
	expect("PUT", "command", "41\n", 204, "")
	if want := fmt.Sprintf("wrote 3 tests.test %d 0", os.Getpid()); s.line("wrote") != want {
		t.Errorf("no line %q\n%s", want, s.stdout())
	}
	expect("GET", "command", "", 200, "41\n(procfs.read "+name+")\n")
	expect("GET", "sub/long", "", 200, strings.Repeat("0123456789", 200))
	expect("GET", "sub/bad", "", 500, "the probe's handler did not come to its end\n")
	expect("GET", "nothing", "", 404, "the script has no file nothing\n")
	expect("PUT", "command", strings.Repeat("x", 1100), 204, "") // in pieces of 511
	for _, n := range []string{"511", "511", "78"} {
		s.line("wrote " + n)
	}

	// One who never reads the answer is in nobody's way, and each reader has a text of its own.
	slow, err := net.Dial("unix", "/run/gostap/"+name+"/http")
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	fmt.Fprint(slow, "GET /sub/big HTTP/1.1\r\nHost: x\r\n\r\n")
	var mu sync.Mutex
	var all []string
	var readers sync.WaitGroup
	for range 20 {
		readers.Go(func() {
			_, text := do("GET", "count", "")
			mu.Lock()
			defer mu.Unlock()
			all = append(all, text)
		})
	}
	readers.Wait()
	slices.SortFunc(all, func(a, b string) int { return atoi(t, strings.TrimSpace(a)) - atoi(t, strings.TrimSpace(b)) })
	for i, text := range all {
		if text != fmt.Sprintf("%d\n", 6+i) {
			t.Errorf("reader %d got %q", i, text)
		}
	}

	// Others may what the masks say.
	for path, want := range map[string]string{"who": "200 OK", "count": "403 Forbidden"} {
		if got := asNobody(t, "/run/gostap/"+name+"/http", path); !strings.Contains(got, " "+want+"\r\n") {
			t.Errorf("nobody reads %s: %q", path, got)
		}
	}

	// Over the network everybody is somebody else, whom nobody knows.
	_, url, ok := strings.Cut(s.stderr(), "the script's files: http:")
	if !ok {
		t.Fatalf("no address is told\n%s", s.stderr())
	}
	url, _, _ = strings.Cut("http:"+url, "\n")
	for range 3 {
		if out, err := exec.Command(prog).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	web := &http.Client{}
	if code, text := request(t, web, "GET", url+"metrics", ""); code != 200 || text != "hits_total 3\n" {
		t.Errorf("Prometheus gets %d %q", code, text)
	}
	if code, text := request(t, web, "PUT", url+"command", "x"); code != 403 {
		t.Errorf("somebody writes: %d %q", code, text)
	}
	if code, text := request(t, web, "PUT", url+"open", "x"); code != 204 || s.line("open") != "open x" {
		t.Errorf("somebody may write: %d %q", code, text)
	}
	if code, _ := request(t, web, "GET", url+"who", ""); code != 500 {
		t.Errorf("who asks over the network: %d", code)
	}

	// The end: the writer has an answer, the reader that is still there has none, and nothing is left.
	expect("PUT", "command", "stop\n", 204, "")
	if status := s.end(); status != 1 { // there were two errors
		t.Errorf("status %d", status)
	}
	s.line("end ")
	for _, want := range []string{"the text was cut, 2000 bytes of 2400 are read", "division by 0",
		"execname: over the network nobody knows which process asks"} {
		if strings.Count(s.stderr(), want) != 1 {
			t.Errorf("%q is not told once\n%s", want, s.stderr())
		}
	}
	if left, _ := filepath.Glob("/run/gostap/" + name + "*"); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestServedKilled: what a killed tracer leaves, the next one takes away, and nobody takes what is served.
func TestServedKilled(t *testing.T) {
	needRoot(t)
	aside(t)
	name := fmt.Sprintf("killed_%d", os.Getpid())
	script := `probe begin { println("begun") } probe procfs("x").read { $value = "text" }`
	a := begin(t, "-m", name, "-e", script)
	a.line("begun")
	if code, text := filesOf(t, name)("GET", "x", ""); code != 200 || text != "text" {
		t.Fatalf("%d %q", code, text)
	}
	b := begin(t, "-m", name, "-e", script)
	if status := b.end(); status != 1 || b.stdout() != "" ||
		!strings.Contains(b.stderr(), "a session named "+name+" serves files already") {
		t.Errorf("two of one name: status %d\n%s%s", status, b.stdout(), b.stderr())
	}
	a.signal(syscall.SIGKILL)
	a.end()
	if _, err := os.Stat("/run/gostap/" + name + "/http"); err != nil {
		t.Fatal(err)
	}
	c := begin(t, "-m", name, "-e", script)
	c.line("begun")
	if code, text := filesOf(t, name)("GET", "x", ""); code != 200 || text != "text" {
		t.Fatalf("%d %q", code, text)
	}
	c.signal(syscall.SIGINT)
	if status := c.end(); status != 0 {
		t.Errorf("status %d\n%s", status, c.stderr())
	}
	if left, _ := filepath.Glob("/run/gostap/" + name + "*"); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	d := begin(t, "--serve", "0", "-e", `probe timer.s(100) { }`)
	if status := d.end(); status != 1 || !strings.Contains(d.stderr(), "there is nothing to serve") {
		t.Errorf("nothing to serve: status %d\n%s", status, d.stderr())
	}
}
