package tests

import (
	"bufio"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// walkedHandler prints each stack as the host unwinds it and as the kernel has walked it.
const walkedHandler = ` { print("HIT\n") print_ubacktrace() print("=\n", ustack()) }`

// returnProbe is the end of a stack that the host has cut, with the address of the kernel's return probes that it gives
// where there are many of them; noAddress is one with what cannot be an address.
var (
	returnProbe = regexp.MustCompile(`(?m)(^ 0x7f[0-9a-f]+ : 0x7f[0-9a-f]+\n)? \.\.\.\n$`)
	noAddress   = regexp.MustCompile(`(?m)^ 0x[0-9a-f]{15,16} : 0x[0-9a-f]+\n \.\.\.\n$`)
)

// sameStacks counts the hits of which both forms are the same, those of which the kernel has more frames and, from the
// first of several frames that it had whole on, those of which it has less. It reports those with others.
func sameStacks(t *testing.T, out string) (same, more, cut int) {
	t.Helper()
	entered := false
	for _, hit := range strings.Split(out, "HIT\n")[1:] {
		want, got, ok := strings.Cut(hit, "=\n")
		switch {
		case !ok:
			t.Errorf("no stack of the kernel's:\n%s", hit)
		case got == "" && strings.HasSuffix(want, " ...\n"): // the program has ended, and its memory is gone
		case want == got, got == noAddress.ReplaceAllString(want, " ...\n"):
			same++
			entered = entered || strings.Count(got, "\n") > 3 && !strings.HasSuffix(got, " ...\n")
		case strings.HasSuffix(want, " ...\n") && strings.HasPrefix(got, returnProbe.ReplaceAllString(want, "")):
			more++ // the host has the top of a stack only
		case strings.HasSuffix(got, " ...\n") && begins(want, strings.TrimSuffix(got, " ...\n")):
			if entered {
				cut++
				t.Logf("cut:\n%s\nwant:\n%s", got, want)
			}
		default:
			t.Errorf("two stacks of one hit:\n%s\nof the kernel:\n%s", want, got)
		}
	}
	return same, more, cut
}

// begins reports whether a stack begins with the frames of another one. That what comes last is where a handler of
// signals returns to is known by what lies behind it, and it may have another name without.
func begins(want, got string) bool {
	last := strings.LastIndexByte(strings.TrimSuffix(got, "\n"), '\n') + 1
	addr, _, _ := strings.Cut(got[last:], ":")
	return strings.HasPrefix(want, got[:last]+addr)
}

// TestWalkedStacks: where code has no frame pointers, the kernel walks stacks by tables, and comes to the same frames
// as the host.
func TestWalkedStacks(t *testing.T) {
	needRoot(t)
	path := bin(t, "unframed")
	t.Run("-c", func(t *testing.T) { // from the first hit on
		s := begin(t, "-v", "-s", "64", "-D", "MAXBACKTRACE=60", "-e",
			`probe process("`+path+`").function("leaf")`+walkedHandler, "-c", path+" 3")
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
			`probe process("`+path+`").function("leaf")`+walkedHandler, "-x", v.pid())
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
	// most stacks may be cut, or as many of each 200.
	run := func(t *testing.T, least, most int, script, program string) string {
		s := begin(t, "--no-global-var-display", "-v", "-s", "64", "-D", "MAXBACKTRACE=60", "-e", script, "-c", program)
		if status := s.end(); status != 0 {
			t.Errorf("status %d\n%s", status, s.stderr())
		}
		same, more, cut := sameStacks(t, s.stdout())
		if same < least || cut > most*max(1, same/200) {
			t.Errorf("%d stacks are the same, %d longer, %d cut\n%s", same, more, cut, s.stderr())
		}
		return s.stdout()
	}
	t.Run("return", func(t *testing.T) { // the kernel's return probes have put their addresses into the stack
		point := func(f string) string { return `probe process("` + path + `").function("` + f + `")` }
		run(t, 100, 0, point("leaf")+walkedHandler+point("large")+".return"+walkedHandler+
			"global n "+point("small")+".return { n++ }"+point("next")+".return { n++ }", path+" 1")
	})
	t.Run("cgo", func(t *testing.T) {
		prog := bin(t, "cgocalls")
		// Where a thread is being made the kernel's lock may be held until the walk gives up.
		run(t, 15, 4, `probe process("`+prog+`").function("c_*").call`+walkedHandler, prog+" 2 2 2 >/dev/null")
	})
	t.Run("garbage", func(t *testing.T) { // on stacks that were never made by calls
		prog := bin(t, "garbage")
		run(t, 1500, 0, `probe process("`+prog+`").function("leaf")`+walkedHandler, prog+" 2000")
	})
	t.Run("clock", func(t *testing.T) { // the process is entered when it was met first
		// At the last instructions of aligned() only r10 leads to its caller; while the kernel makes the frame of a
		// signal, the registers are not all of one moment. How often that is met goes by the number of samples.
		out := run(t, 30, 5, "probe timer.profile { if (pid() == target())"+walkedHandler+"}", path+" 20000")
		// In a system call the program goes on behind the function that makes it. This one puts the registers back.
		whole, cut := 0, 0
		for _, hit := range strings.Split(out, "HIT\n")[1:] {
			if want, _, _ := strings.Cut(hit, "=\n"); !strings.Contains(first(want), "__restore_rt+0x9") {
				continue
			} else if strings.HasSuffix(want, " ...\n") {
				cut++
			} else {
				whole++
			}
		}
		if whole < 3 || cut > whole/3 {
			t.Errorf("where a handler of signals returns, %d stacks are whole and %d cut", whole, cut)
		}
	})
}

// TestWalkedPlugins: where a library takes the place of another one, of the same size and with other frames, no stack
// is walked by what holds for the other.
func TestWalkedPlugins(t *testing.T) {
	needRoot(t)
	path := bin(t, "plugins")
	for _, c := range []struct{ name, point, often string }{
		{"uprobe", `process("` + path + `").function("leaf")`, " 200 20 "}, {"clock", "timer.profile", " 20 1000 "},
	} {
		t.Run(c.name, func(t *testing.T) {
			whole, cut, said := 0, 0, ""
			for range 20 { // how many samples there are in one run is the processor's to say
				// Without memory it is about to be gone, and has no stack any more.
				s := begin(t, "--no-global-var-display", "-v", "-s", "64", "-e", "probe "+c.point+
					` { if (pid() == target() && uaddr() != 0 && @task(task_current())->mm)`+
					` print("HIT\n", ustack()) }`, "-c", path+c.often+bin(t, "plugin-1")+" "+bin(t, "plugin-2"))
				if status := s.end(); status != 0 {
					t.Fatalf("status %d\n%s", status, s.stderr())
				}
				said = s.stderr()
				for _, hit := range strings.Split(s.stdout(), "HIT\n")[1:] {
					lines := strings.Split(strings.TrimSuffix(hit, "\n"), "\n")
					last := lines[len(lines)-1]
					switch {
					case last == " ...":
						cut++
					case !strings.Contains(hit, " : main+0x") && strings.Contains(hit, " : leaf+0x"),
						!strings.Contains(last, " : _start+0x"), c.name == "uprobe" && len(lines) != 7:
						t.Errorf("this cannot be a stack:\n%s", hit)
					default:
						whole++
					}
				}
				if whole >= 100 {
					break
				}
			}
			t.Logf("%d stacks, %d cut", whole, cut)
			if whole < 100 {
				t.Errorf("%d stacks are whole, %d are cut\n%s", whole, cut, said)
			}
		})
	}
}

// first gives the first line of a text.
func first(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
