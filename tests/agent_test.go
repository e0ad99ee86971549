package tests

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gostap/gostap/tests/patience"
)

// agent is a "gostap agent" under test, which listens at a port of this machine.
type agent struct {
	*session
	port string
}

// certificates makes those of an agent on this machine and of the client ann, and gives their directory.
func certificates(t *testing.T, more ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "certs")
	args := append([]string{"agent", "keys", dir, "localhost,127.0.0.1", "--client", "ann"}, more...)
	if out, err := gostapRuns(t, args...); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

var listens = regexp.MustCompile(`listening at \S+:(\d+) as localhost`)

func beginAgent(t *testing.T, certs string, args ...string) *agent {
	t.Helper()
	s := begin(t, append([]string{"agent", "--listen", "127.0.0.1:0", "--tls", certs}, args...)...)
	s.said("listening at ")
	m := listens.FindStringSubmatch(s.stderr())
	if m == nil {
		t.Fatal(s.stderr())
	}
	return &agent{s, m[1]}
}

func (a *agent) uri() string { return "tls://localhost:" + a.port }

// children are the processes of the agent's sessions.
func (a *agent) children() string {
	b, _ := exec.Command("pgrep", "-P", fmt.Sprint(a.cmd.Process.Pid)).Output()
	return string(b)
}

// TestAgent: sessions by TLS. The agent tells who asked, from where, for what, and how it ended.
func TestAgent(t *testing.T) {
	dir := certificates(t)
	a := beginAgent(t, dir+"/localhost")
	script := filepath.Join(t.TempDir(), "s.stp")
	write(t, script, `probe begin { println("it is ", remote_id(), " ", remote_uri()) error("so") }`)
	out, err := gostapRuns(t, "--tls", dir+"/ann", "--remote", a.uri(), script)
	if err == nil || !strings.HasPrefix(out, "it is 1 "+a.uri()+"\n") {
		t.Errorf("%v: %s", err, out)
	}
	out, err = gostapRuns(t, "--tls", dir+"/ann", "--remote", a.uri(), "-c", "echo from there", "-e",
		`probe end { println("over") }`)
	if err != nil || sorted(out) != sorted("from there\nover\n") {
		t.Errorf("%v: %s", err, out)
	}
	a.said("session 2: ended with status 0 after ")
	for _, want := range []string{
		`session 1: ann \(certificate [0-9a-f]{32}\) from 127\.0\.0\.1:\d+ runs ` + regexp.QuoteMeta(script) + "\n",
		`session 1: ended with status 1 after `, `session 2: ann .* runs a script of the command line\n`} {
		if !regexp.MustCompile(want).MatchString(a.stderr()) {
			t.Errorf("no %s in\n%s", want, a.stderr())
		}
	}
	home := filepath.Join(t.TempDir(), "gostap")
	if err := os.CopyFS(home+"/tls", os.DirFS(dir+"/ann")); err != nil {
		t.Fatal(err)
	}
	os.Chmod(home+"/tls/tls.key", 0o600)
	t.Setenv("XDG_CONFIG_HOME", filepath.Dir(home))
	if out, err := gostapRuns(t, "--remote", a.uri(), "-e", onRemote); err != nil ||
		!strings.Contains(out, "it is 1 "+a.uri()) {
		t.Errorf("%v: %s", err, out)
	}
	a.signal(syscall.SIGTERM)
	if status := a.end(); status != 0 {
		t.Errorf("status %d: %s", status, a.stderr())
	}
	out, err = gostapRuns(t, "--remote", a.uri(), "-e", onRemote)
	want := "error: localhost:" + a.port + ": no session: nobody listens at port " + a.port + "\n  hint: "
	if err == nil || !strings.HasPrefix(out, want) {
		t.Errorf("%v: %s", err, out)
	}
}

// TestAgentPage: the three commands of docs/remote.md are all that it takes, at another port and with a host that is
// there.
func TestAgentPage(t *testing.T) {
	page, err := os.ReadFile("../docs/remote.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "\n## Hosts without ssh\n\n")
	text, _, _ = strings.Cut(text, "\n\n")
	var commands [][]string
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(strings.ReplaceAll(line, "web1", "localhost"), "#")
		commands = append(commands, strings.Fields(line)[1:])
	}
	if len(commands) != 3 {
		t.Fatalf("%q", commands)
	}
	gostap := bin(t, "gostap")
	t.Chdir(t.TempDir())
	write(t, "slow.stp", `probe begin { println("it runs") exit() }`)
	if out, err := exec.Command(gostap, commands[0]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	a := begin(t, append(commands[1], "--listen=127.0.0.1:0")...)
	a.said("listening at ")
	for i, word := range commands[2] {
		if word == "tls://localhost" {
			commands[2][i] += ":" + listens.FindStringSubmatch(a.stderr())[1]
		}
	}
	if out, err := exec.Command(gostap, commands[2]...).CombinedOutput(); err != nil || string(out) != "it runs\n" {
		t.Errorf("%q: %v: %s", commands[2], err, out)
	}
}

// TestAgentMerge: two agents count a Go program, and the sum is exact. A third that is not there is told, and the
// status is 1.
func TestAgentMerge(t *testing.T) {
	needRoot(t)
	prog := bin(t, "busy")
	dir := certificates(t)
	a, b := beginAgent(t, dir+"/localhost"), beginAgent(t, dir+"/localhost")
	gone := beginAgent(t, dir+"/localhost")
	gone.signal(syscall.SIGTERM)
	gone.end()
	hosts := filepath.Join(t.TempDir(), "hosts")
	write(t, hosts, "# the hosts of a test\n"+a.uri()+"\n\n"+b.uri()+" # the second\n"+gone.uri()+"\n")
	script := `global calls, by, size
probe process("` + prog + `").function("main.step") { calls++ by[$n % 3]++ size <<< $n }
probe timer.ms(200) { printf("so far %d\n", calls) }
probe end {
	printf("%d calls, sum %d, %d to %d\n", calls, @sum(size), @min(size), @max(size))
	foreach (k+ in by) printf("%d: %d\n", k, by[k])
}`
	for _, args := range [][]string{
		{"--tls", dir + "/ann", "--merge", "--remote", a.uri(), "--remote", b.uri(), "-e", script},
		{"fleet", "run", "--tls", dir + "/ann", "--hosts", hosts, "-e", script},
	} {
		s := begin(t, args...)
		s.line("so far 0")
		for range 3 {
			if out, err := exec.Command(prog, "2000").CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		}
		s.line("so far 12600") // 3 * 2100, twice
		if out, err := exec.Command(prog, "60").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		s.signal(syscall.SIGINT)
		status, said := s.end(), s.stderr()
		sum, calls, by := 0, 0, [3]int{}
		for _, n := range []int{2000, 2000, 2000, 60} {
			for _, m := range []int{n, n / 20} {
				for i := range m {
					sum, calls = sum+2*i, calls+2 // by both agents
					by[i%3] += 2
				}
			}
		}
		want := fmt.Sprintf("%d calls, sum %d, 0 to 1999\n0: %d\n1: %d\n2: %d\n", calls, sum, by[0], by[1], by[2])
		if !strings.HasSuffix(s.stdout(), want) {
			t.Errorf("want %s%s%s", want, s.stdout(), said)
		}
		lost := "localhost:" + gone.port + ": error: no session: nobody listens at port " + gone.port
		if fleet := args[0] == "fleet"; status == 0 == fleet || strings.Contains(said, lost) != fleet {
			t.Errorf("%q: status %d\n%s", args[:2], status, said)
		}
	}
}

// TestFleetHosts: what is wrong with a file of hosts is told with its place; --separate has each host print.
func TestFleetHosts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hosts")
	for text, want := range map[string]string{
		"a\nftp://b\n":               file + ":2: ftp://b: only ssh, tls and kube are known as ways to a host",
		"# x\n\na # y\nb c\n":        file + `:4: "c" stands behind the host`,
		"tls://a:1\ntls://a:1\n":     file + ":2: tls://a:1 is in line 1 already",
		"tls://a:99999":              file + ":1: tls://a:99999: a port is a number from 1 to 65535",
		"unix:\n":                    file + ":1: unix:: there is no path behind unix:",
		"# nobody\n":                 "no host is in " + file,
		"a\x1b[2J\x00\n":             file + ":1: ",
		strings.Repeat("\xff", 5000): file + ":1: ",
	} {
		write(t, file, text)
		out, err := gostapRuns(t, "fleet", "run", "--hosts="+file, "-p1", "-e", "probe begin { }")
		if bad := strings.HasPrefix(text, "\xff"); !bad && (err == nil || !strings.HasPrefix(out, "error: ") ||
			!strings.Contains(out, want)) || strings.Contains(out, "\x1b") || strings.Contains(out, "internal error") {
			t.Errorf("%q: %v: want %q: %s", text, err, want, out)
		}
	}
	for want, args := range map[string][]string{
		"--hosts: /nonexistent/h: no such file": {"--hosts", "/nonexistent/h", "x.stp"},
		"--hosts is given twice":                {"--hosts", file, "--hosts", file, "x.stp"},
		"--hosts names a file, and there is no": {"--hosts"},
	} {
		if out, err := gostapRuns(t, append([]string{"fleet", "run"}, args...)...); err == nil ||
			!strings.Contains(out, want) {
			t.Errorf("%q: %v: %s", args, err, out)
		}
	}
	write(t, file, "direct\n")
	out, err := gostapRuns(t, "fleet", "run", "--separate", "--remote-prefix", "--hosts", file, "-e", onRemote)
	if err != nil || out != "direct: it is 1 direct\n" {
		t.Errorf("%v: %s", err, out)
	}
}

// TestAgentRefuses: who may not is told so in plain words, by gostap on the other side, and nothing is traced.
func TestAgentRefuses(t *testing.T) {
	dir, other := certificates(t, "--client", "bob"), certificates(t)
	a := beginAgent(t, dir+"/localhost", "--allow", "bob", "--sessions", "1")
	for want, certs := range map[string]string{
		"no session: ann is not among those that the agent is told to --allow\n":           dir + "/ann",
		"no session: its certificate is not of the authority in ":                          other + "/ann",
		"error: " + dir + "/localhost/tls.crt is one of an agent, not of a client\n  hint": dir + "/localhost",
		"error: " + dir + "/none/ca.crt: no such file or directory\n  hint: gostap agent ": dir + "/none",
	} {
		out, err := gostapRuns(t, "--tls", certs, "--remote", a.uri(), "-e", onRemote)
		if err == nil || !strings.Contains(out, want) {
			t.Errorf("%v: want %q: %s", err, want, out)
		}
	}
	bob := []string{"--tls", dir + "/bob", "--remote", a.uri(), "-e"}
	s := begin(t, append(bob, `probe timer.ms(10) { println("on") }`)...)
	s.line("on")
	out, err := gostapRuns(t, append(bob, onRemote)...)
	if err == nil || !strings.Contains(out, "1 sessions run there already, and no more are taken (--sessions)") {
		t.Errorf("%v: %s", err, out)
	}
	s.signal(syscall.SIGINT)
	if status := s.end(); status != 0 {
		t.Errorf("status %d: %s", status, s.stderr())
	}
	if out, err = gostapRuns(t, append(bob, onRemote)...); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	for want, args := range map[string][]string{
		"tls.crt is one of a client, not of an agent": {"--tls", dir + "/ann"},
		"--listen takes [HOST]:PORT":                  {"--listen", "77"},
		"--listen 127.0.0.1:" + a.port + ": ":         {"--tls", dir + "/localhost", "--listen", "127.0.0.1:" + a.port},
		"--sessions takes a number from 1":            {"--sessions", "0"},
		"--allow takes the common name":               {"--allow", ""},
		`"x" is one argument too many`:                {"x"},
		"unknown flag: --no":                          {"--no"},
	} {
		out, err := gostapRuns(t, append([]string{"agent"}, args...)...)
		if err == nil || !strings.Contains(out, want) {
			t.Errorf("%q: %v: want %q: %s", args, err, want, out)
		}
	}
}

// TestAgentEnds: a connection that is cut in the middle ends its session, with its end probes, and leaves nothing
// attached; an agent that is stopped has its sessions end in order, and their clients told; one that is killed, too.
func TestAgentEnds(t *testing.T) {
	needRoot(t)
	dir := certificates(t)
	tmp := t.TempDir()
	marker := filepath.Join(tmp, "ended")
	script := filepath.Join(tmp, "s.stp")
	write(t, script, fmt.Sprintf(`global n probe timer.ms(10) { if (!said++) println("ready") } global said
		probe syscall.getppid { n++ } probe end { system("touch %s") printf("over %%d\n", n < 0) }`, marker))
	a := beginAgent(t, dir+"/localhost")

	s := begin(t, "--tls", dir+"/ann", "--remote", a.uri(), script)
	s.line("ready")
	if a.children() == "" {
		t.Error("the agent has no session")
	}
	s.cmd.Process.Kill()
	<-s.done
	awaitFile(t, marker)
	a.said("session 1: its client went away; it ended after ")
	if left := a.children(); left != "" {
		t.Errorf("left: %s", left)
	}
	os.Remove(marker)

	// A line between the two that is cut, as a network is: neither side hears of it but by silence or a reset.
	cut := relay(t, a.port)
	s = begin(t, "--tls", dir+"/ann", "--remote", "tls://localhost:"+cut.port, script)
	s.line("ready")
	cut.cut()
	if status := s.end(); status != 1 || !strings.Contains(s.stderr(), "the connection was lost; the session there") {
		t.Errorf("status %d: %s", status, s.stderr())
	}
	awaitFile(t, marker)
	a.said("session 2: its client went away; it ended after ")
	os.Remove(marker)

	s = begin(t, "--tls", dir+"/ann", "--remote", a.uri(), script)
	s.line("ready")
	a.signal(syscall.SIGTERM)
	if status := s.end(); status != 1 || !strings.HasSuffix(s.stdout(), "over 0\n") || !strings.Contains(s.stderr(),
		"error: the session was ended there before its time: the agent was stopped") {
		t.Errorf("status %d: %s%s", status, s.stdout(), s.stderr())
	}
	if status := a.end(); status != 0 || !strings.Contains(a.stderr(), "session 3: ended with status 1 after ") {
		t.Errorf("status %d: %s", status, a.stderr())
	}
	awaitFile(t, marker)
	os.Remove(marker)

	a = beginAgent(t, dir+"/localhost")
	s = begin(t, "--tls", dir+"/ann", "--remote", a.uri(), script)
	s.line("ready")
	a.cmd.Process.Kill()
	if status := s.end(); status != 1 || !strings.Contains(s.stderr(), "the connection was lost") {
		t.Errorf("status %d: %s", status, s.stderr())
	}
	awaitFile(t, marker)
}

// cable is a connection to a port that can be cut.
type cable struct {
	port string
	cut  func()
}

func relay(t *testing.T, to string) *cable {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	conns := make(chan net.Conn, 2)
	go func() {
		in, err := l.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", "127.0.0.1:"+to)
		if err != nil {
			return
		}
		conns <- in
		conns <- out
		go io.Copy(in, out)
		io.Copy(out, in)
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return &cable{port, func() {
		for range 2 {
			c := <-conns
			c.(*net.TCPConn).SetLinger(0)
			c.Close()
		}
	}}
}

// TestAgentAttacked: a session goes on, and others begin, while connections say nothing, say garbage, or ask for
// sessions that they never use.
func TestAgentAttacked(t *testing.T) {
	dir := certificates(t)
	a := beginAgent(t, dir+"/localhost")
	s := begin(t, "--tls", dir+"/ann", "--remote", a.uri(), "-e",
		`probe timer.ms(20) { println("line ", n++) } global n`)
	s.line("line 1")
	for i := range 1000 {
		c, err := net.Dial("tcp", "127.0.0.1:"+a.port)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if i%10 == 0 {
			c.Write(bytes.Repeat([]byte{byte(i / 10)}, 3000))
		}
	}
	for range 3 {
		out, err := gostapRuns(t, "--tls", dir+"/ann", "--remote", a.uri(), "-e", onRemote)
		if err != nil || !strings.Contains(out, "it is 1 ") {
			t.Errorf("%v: %s", err, out)
		}
	}
	_, seen := s.line("line "), patience.Now()
	for patience.Now()-seen < time.Second {
		s.line("line ")
	}
	s.signal(syscall.SIGINT)
	if status := s.end(); status != 0 {
		t.Errorf("status %d: %s", status, s.stderr())
	}
	if n := strings.Count(a.stderr(), "refused: "); n == 0 || n > 100 {
		t.Errorf("%d refusals were told\n%s", n, a.stderr())
	}
}
