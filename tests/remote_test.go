package tests

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/tests/patience"
)

// fakeSSH stands for ssh: the command line for the other machine is run by a shell here, with nothing of this session
// around it but HOME, and a banner before it. Tests of real connections are in tests/vm.
const fakeSSH = `#!/bin/sh
echo "$@" | head -n 1 >>%[1]s/asked
while [ "$1" != -- ]; do shift; done
[ "$2" != refused ] || { echo "Permission denied (publickey)." >&2; exit 255; }
[ "$2" != mute ] || exit 0
echo "Welcome to $2"
echo $$ >%[1]s/pid
exec env -i HOME=%[1]s/home TMPDIR=%[1]s PATH=%[1]s/bin:/usr/bin:/bin sh -c "$3"
`

// otherMachine gives a folder with a command ssh, for PATH.
func otherMachine(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{"home", "bin", "tmp"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, "ssh"), fmt.Sprintf(fakeSSH, dir))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return dir
}

// write makes an executable file.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// awaitFile waits until there is a file.
func awaitFile(t *testing.T, path string) {
	t.Helper()
	for mark := patience.Now(); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Lstat(path); err == nil {
			return
		}
		if patience.Now()-mark > time.Minute {
			t.Fatalf("%s does not appear", path)
		}
	}
}

func gostapRuns(t *testing.T, args ...string) (string, error) {
	t.Helper()
	out, err := exec.Command(bin(t, "gostap"), args...).CombinedOutput()
	return string(out), err
}

const onRemote = `probe begin { println("it is ", remote_id(), " ", remote_uri()) exit() }`

// TestRemoteInstall: gostap comes to a machine that has nothing of it, once; where there is no directory for it, it
// leaves none behind.
func TestRemoteInstall(t *testing.T) {
	dir := otherMachine(t)
	out, err := gostapRuns(t, "--remote", "ssh://me@box:77", "-e", onRemote)
	if err != nil || !strings.HasPrefix(out, "me@box:77: copying gostap there, ") ||
		!strings.HasSuffix(out, "MB\nit is 1 ssh://me@box:77\n") {
		t.Errorf("%v: %s", err, out)
	}
	out, err = gostapRuns(t, "--remote", "box", "--remote", "other", "-e", onRemote)
	if err != nil || sorted(out) != sorted("box: it is 1 box\nother: it is 2 other\n") {
		t.Errorf("%v: %s", err, out)
	}
	asked, _ := os.ReadFile(filepath.Join(dir, "asked"))
	if first, _, _ := strings.Cut(string(asked), "\n"); !strings.Contains(first, " -l me -p 77 -- box ") {
		t.Errorf("ssh was called so: %s", first)
	}
	files, _ := filepath.Glob(dir + "/home/.cache/gostap/bin/*")
	if len(files) != 1 {
		t.Error("in the cache:", files)
	}
	// A copy that was cut off is none, and one of another version makes place.
	if err := os.Rename(files[0], dir+"/home/.cache/gostap/bin/gostap-0"); err != nil {
		t.Fatal(err)
	}
	out, err = gostapRuns(t, "--remote", "box", "-e", onRemote)
	again, _ := filepath.Glob(dir + "/home/.cache/gostap/bin/*")
	if err != nil || !strings.Contains(out, "copying") || len(again) != 1 || again[0] != files[0] {
		t.Errorf("%v: %s\n%s", err, out, again)
	}

	if err := os.RemoveAll(dir + "/home"); err != nil {
		t.Fatal(err)
	}
	write(t, dir+"/home", "no directory")
	before, _ := filepath.Glob("/tmp/gostap-??????")
	out, err = gostapRuns(t, "--remote", "box", "-e", onRemote)
	if err != nil || !strings.HasSuffix(out, "it is 1 box\n") {
		t.Errorf("without a home: %v: %s", err, out)
	}
	if after, _ := filepath.Glob("/tmp/gostap-??????"); len(after) > len(before) {
		t.Error("left:", after)
	}
	write(t, dir+"/bin/uname", "#!/bin/sh\necho aarch64\n")
	out, err = gostapRuns(t, "--remote", "box", "-e", onRemote)
	if err == nil || !strings.Contains(out, "it is a machine of kind aarch64, and this gostap is for ") {
		t.Errorf("%v: %s", err, out)
	}
	write(t, dir+"/bin/head", "#!/bin/sh\ndd bs=1000 count=3 2>/dev/null\n") // the disk is full
	write(t, dir+"/bin/uname", "#!/bin/sh\nexec /bin/uname \"$@\"\n")
	out, err = gostapRuns(t, "--remote", "box", "-e", onRemote)
	if err == nil || !strings.Contains(out, "could not be written there") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestRemoteFails: what goes wrong on one machine is told with its name and is no matter of the others.
func TestRemoteFails(t *testing.T) {
	otherMachine(t)
	out, err := gostapRuns(t, "--remote", "refused", "--remote", "box", "--remote", "mute", "--remote",
		"unix:/nonexistent/s", "-e", onRemote)
	for _, want := range []string{"refused: error: no session: Permission denied (publickey).\n", "box: it is 2 box\n",
		"mute: error: no session: ", "/nonexistent/s: error: no session: /nonexistent/s: no such file"} {
		if !strings.Contains(out, want) {
			t.Errorf("want %q:\n%s", want, out)
		}
	}
	if err == nil {
		t.Error("status 0")
	}
	for args, want := range map[string]string{
		"--remote box -p4 -m x": "-m does not go with --remote", "--remote box -r 6.1": "-r does not go with",
		"--remote box run x.ko": "run does not go with --remote", "--remote box": "no script given",
		"--remote box nosuch.stp": "nosuch.stp", "--remote box -I /nonexistent -": "/nonexistent"} {
		if out, err := gostapRuns(t, strings.Fields(args)...); err == nil || !strings.Contains(out, want) {
			t.Errorf("%s: %v: want %q:\n%s", args, err, want, out)
		}
	}
}

// TestRemoteEnds: a session ends in order by Ctrl-C, also when it is cut off; what it printed is complete. It is asked
// for an answer by a timer: those begin when all probes are there, and a signal before ends a session without its end.
func TestRemoteEnds(t *testing.T) {
	needRoot(t)
	dir := otherMachine(t)
	marker := filepath.Join(dir, "ended")
	script := filepath.Join(dir, "s.stp")
	write(t, script, fmt.Sprintf(`global n probe timer.ms(10) { if (!said++) println("ready") } global said
		probe syscall.getppid { n++ } probe end { system("touch %s") printf("over %%d\n", n < 0) }`, marker))
	s := begin(t, "--remote", "box", script)
	s.line("ready")
	s.cmd.Process.Signal(unix.SIGINT)
	<-s.done
	if code := s.cmd.ProcessState.ExitCode(); code != 0 || !strings.HasSuffix(s.stdout(), "over 0\n") {
		t.Errorf("status %d: %s%s", code, s.stdout(), s.stderr())
	}
	awaitFile(t, marker)
	os.Remove(marker)

	s = begin(t, "--remote", "box", "-o", dir+"/out", script)
	awaitFile(t, dir+"/out")
	for text := ""; !strings.Contains(text, "ready"); {
		b, _ := os.ReadFile(dir + "/out")
		text = string(b)
	}
	s.cmd.Process.Kill()
	<-s.done
	awaitFile(t, marker) // the other side ends by itself, by its end probes
}

// TestRemoteSocket: a socket that only the user can connect to serves sessions, several at a time, and is gone with
// who listens.
func TestRemoteSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	listen := exec.Command(bin(t, "gostap"), "remote-session", "--listen", path)
	if err := listen.Start(); err != nil {
		t.Fatal(err)
	}
	defer listen.Process.Kill()
	awaitFile(t, path)
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
		t.Error(st, err)
	}
	out, err := gostapRuns(t, "--remote", "unix:"+path, "--remote", "unix:"+path, "-c", "echo from there", "-e",
		`probe end { println("over") }`)
	want := path + ": from there\n" + path + ": over\n" + path + "#2: from there\n" + path + "#2: over\n"
	if err != nil || sorted(out) != sorted(want) {
		t.Errorf("%v:\n%s", err, out)
	}
	if out, err := gostapRuns(t, "remote-session", "--listen", path); err == nil ||
		!strings.Contains(out, "somebody serves "+path) {
		t.Errorf("%v: %s", err, out)
	}
	listen.Process.Signal(unix.SIGTERM)
	if err := listen.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("the socket is still there")
	}
}
