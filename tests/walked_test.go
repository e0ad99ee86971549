package tests

import (
	"bufio"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// walkedScript prints each stack as the host unwinds it and as the kernel has walked it.
func walkedScript(point string) string {
	return "probe " + point + ` { print("HIT\n") print_ubacktrace() print("=\n", ustack()) }`
}

// sameStacks counts the hits of which both forms are the same, those of which the kernel has more frames and those of
// which it has less, and reports those with others.
func sameStacks(t *testing.T, out string) (same, more, cut int) {
	t.Helper()
	for _, hit := range strings.Split(out, "HIT\n")[1:] {
		want, got, ok := strings.Cut(hit, "=\n")
		switch {
		case !ok:
			t.Errorf("no stack of the kernel's:\n%s", hit)
		case want == got:
			same++
		case strings.HasSuffix(want, " ...\n") && strings.HasPrefix(got, strings.TrimSuffix(want, " ...\n")):
			more++ // the host has the top of a stack only
		case strings.HasSuffix(got, " ...\n") && strings.HasPrefix(want, strings.TrimSuffix(got, " ...\n")):
			cut++
			t.Logf("cut:\n%s\nwant:\n%s", got, want)
		default:
			t.Errorf("two stacks of one hit:\n%s\nof the kernel:\n%s", want, got)
		}
	}
	return same, more, cut
}

// TestWalkedStacks: where code has no frame pointers, the kernel walks stacks by tables, and comes to the same frames
// as the host.
func TestWalkedStacks(t *testing.T) {
	needRoot(t)
	path := bin(t, "unframed")
	t.Run("-c", func(t *testing.T) { // from the first hit on
		s := begin(t, "-v", "-s", "64", "-D", "MAXBACKTRACE=60", "-e",
			walkedScript(`process("`+path+`").function("leaf")`), "-c", path+" 3")
		if status := s.end(); status != 0 {
			t.Errorf("status %d\n%s", status, s.stderr())
		}
		same, more, cut := sameStacks(t, s.stdout())
		if same < 300 || more == 0 || cut > 0 {
			t.Errorf("%d stacks are the same, %d longer, %d cut\n%s", same, more, cut, s.stderr())
		}
	})
	t.Run("-x", func(t *testing.T) {
		cmd := exec.Command(path, "wait")
		in, out := piped(t, cmd)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { cmd.Process.Kill(); cmd.Wait() }()
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		v := victim{cmd, path}
		s := begin(t, "-v", "-s", "64", "-D", "MAXBACKTRACE=60", "-e",
			walkedScript(`process("`+path+`").function("leaf")`), "-x", v.pid())
		attached(t, s)
		if _, err := in.Write([]byte("1")); err != nil {
			t.Fatal(err)
		}
		if status := s.end(); status != 0 {
			t.Errorf("status %d\n%s", status, s.stderr())
		}
		same, more, cut := sameStacks(t, s.stdout())
		if same < 100 || more == 0 || cut > 0 {
			t.Errorf("%d stacks are the same, %d longer, %d cut\n%s", same, more, cut, s.stderr())
		}
		for _, name := range []string{"large", "unknown", "aligned", "handler", "qsort", "start_thread"} {
			if !regexp.MustCompile(` : \S*` + name).MatchString(s.stdout()) {
				t.Errorf("no stack leads through %s", name)
			}
		}
	})
}
