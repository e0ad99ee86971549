package gostap_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gostap/gostap"
)

// collect runs a script and gives its events.
func collect(t *testing.T, script string, o gostap.Options) ([]gostap.Event, error) {
	t.Helper()
	var all []gostap.Event
	err := gostap.Run(context.Background(), script, o, func(e gostap.Event) error {
		all = append(all, e)
		return nil
	})
	return all, err
}

// TestHandlers: begin, end, timers and handlers that run here come as in the command, in order.
func TestHandlers(t *testing.T) {
	all, err := collect(t, `global n
probe begin { printf("begin %s\n", @1) }
probe timer.ms(1) { if (n++ == 2) exit() printf("%d of %s\n", n, pp()) }
probe end { printf("end %d\n", n) warn("careful") }`, gostap.Options{Args: []string{"x"}})
	var got []string
	for _, e := range all {
		got = append(got, fmt.Sprint(e.Kind, " ", e.Point, " ", e.Args, " ", strings.TrimSpace(e.Text)))
	}
	want := `print begin [x] begin x
print timer.ms(1) [1 timer.ms(1)] 1 of timer.ms(1)
print timer.ms(1) [2 timer.ms(1)] 2 of timer.ms(1)
print timer.ms(1) [3 timer.ms(1)] 3 of timer.ms(1)
print end [3] end 3
warning  [] careful`
	if err != nil || strings.Join(got, "\n") != want {
		t.Errorf("error %v, events\n%s", err, strings.Join(got, "\n"))
	}
}

// TestErrors: what is wrong with a script comes with places, hints and the line; what goes wrong in it as an event and
// a Failure.
func TestErrors(t *testing.T) {
	_, err := collect(t, "probe begin {\n  printl(1)\n}", gostap.Options{Name: "my.stp"})
	e, ok := errors.AsType[*gostap.Error](err)
	if !ok || len(e.Diagnostics) != 1 {
		t.Fatalf("%#v", err)
	}
	d := e.Diagnostics[0]
	if d.File != "my.stp" || d.Line != 2 || d.Column != 3 || d.Warning || d.Code == "" ||
		!strings.Contains(d.Hint, "print") || !strings.Contains(d.String(), "  printl(1)\n    ^~~~~~\n") ||
		!strings.HasPrefix(err.Error(), "my.stp:2:3: ") {
		t.Errorf("%+v\n%s\n%v", d, d, err)
	}
	all, err := collect(t, "probe begin {\n  println(1/(pid() - pid()))\n}", gostap.Options{})
	f, ok := errors.AsType[*gostap.Failure](err)
	if !ok || f.Errors != 1 || !f.Stopped || len(all) != 1 || all[0].Kind != gostap.Fault || all[0].Code != "divzero" ||
		all[0].Line != 2 {
		t.Errorf("%v, %+v", err, all)
	}
	if _, err := collect(t, `probe process("/none").function("f") {}`, gostap.Options{Runtime: "jit"}); err == nil ||
		!strings.Contains(err.Error(), `"jit"`) {
		t.Errorf("a runtime that is none: %v", err)
	}
	if _, err := collect(t, `probe kernel.function("vfs_read") {}`, gostap.Options{Runtime: gostap.Host}); err == nil {
		t.Error("a kernel probe on the host")
	}
	_, err = collect(t, `probe begin { println(target()) }`, gostap.Options{Command: "exit 3"})
	if f, ok := errors.AsType[*gostap.Failure](err); !ok || f.Child != "exited with status 3" {
		t.Errorf("a command that fails: %v", err)
	}
}

// TestEnds: whoever takes events ends the session by an error, by a panic, by leaving, by Stop and by the context; end
// probes run in all cases, and nothing is an error but what was one.
func TestEnds(t *testing.T) {
	const script = `global n probe timer.ms(1) { println(n++) } probe end { println("end") }`
	mine := errors.New("enough")
	if err := gostap.Run(context.Background(), script, gostap.Options{},
		func(gostap.Event) error { return mine }); err != mine {
		t.Errorf("an error: %v", err)
	}
	func() {
		defer func() {
			if r := recover(); r != any(mine) {
				t.Errorf("a panic came as %v", r)
			}
		}()
		gostap.Run(context.Background(), script, gostap.Options{}, func(gostap.Event) error { panic(mine) })
	}()
	ctx, cancel := context.WithCancel(context.Background())
	last := ""
	if err := gostap.Run(ctx, script, gostap.Options{}, func(e gostap.Event) error {
		last = e.Text
		cancel()
		return nil
	}); err != nil || last != "end\n" {
		t.Errorf("the context ended: %v, last %q", err, last)
	}
	if err := gostap.Run(ctx, script, gostap.Options{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
	p, err := gostap.Compile(context.Background(), script, gostap.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, how := range []string{"leave", "stop", "wait"} {
		ctx, cancel := context.WithCancel(context.Background())
		s, err := p.Start(ctx)
		if err != nil {
			t.Fatal(err)
		}
		last, seen := "", int64(0)
		for e, err := range s.Events() {
			if err != nil {
				t.Errorf("%s: %v", how, err)
			}
			if last = e.Text; seen == 0 {
				g, err := s.Globals()
				if seen = g["n"].Elements[0].Value.Int; err != nil || seen == 0 {
					t.Errorf("%s: while it runs n is %d, %v", how, seen, err)
				}
			}
			switch how {
			case "stop":
				go s.Stop()
			case "wait":
				go s.Wait()
				cancel()
			}
			if how == "leave" {
				break
			}
		}
		if err := s.Wait(); err != nil || how != "leave" && last != "end\n" {
			t.Errorf("%s: %v, last %q", how, err, last)
		}
		if g, err := s.Globals(); err != nil || g["n"].Elements[0].Value.Int < seen {
			t.Errorf("%s: at the end %v, %v", how, g, err)
		}
		cancel()
	}
}

// TestUnread: a session that nobody reads goes on for who waits for it, and says how much was left out.
func TestUnread(t *testing.T) {
	p, err := gostap.Compile(context.Background(), `global n
probe timer.us(100) { for (i = 0; i < 1000; i++) println(n++) if (n == 10000) exit() }`, gostap.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	s, err := p.Start(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(); err != nil {
		t.Fatal(err)
	}
	prints, lost := 0, 0
	for e, err := range s.Events() {
		switch {
		case err != nil:
			t.Error(err)
		case e.Kind == gostap.Lost:
			lost += int(e.Count)
		default:
			prints++
		}
	}
	if prints+lost != 10000 || lost == 0 {
		t.Errorf("%d events and %d left out", prints, lost)
	}
}

// TestAtOnce: sessions of one program run at the same time without knowing of each other.
func TestAtOnce(t *testing.T) {
	p, err := gostap.Compile(context.Background(), `global calls
probe process.function("main.charge") { calls[$customer]++ }
probe process.function("main.charge").return { if ($cents < 0) println("never") }`, gostap.Options{Command: shop})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			s, err := p.Start(context.Background())
			if err != nil {
				t.Error(err)
				return
			}
			for e, err := range s.Events() {
				t.Error(e, err)
			}
			g, err := s.Globals()
			calls, merr := gostap.Map[string, int64](g, "calls")
			if err != nil || merr != nil || fmt.Sprint(calls) != "map[ada:12 barbara:12 edsger:12 grace:12]" {
				t.Error(calls, err, merr)
			}
		})
	}
	wg.Wait()
}

// TestBytes: a program that was written down does what it did, and is refused where it would not.
func TestBytes(t *testing.T) {
	ctx := context.Background()
	own := filepath.Join(t.TempDir(), "shop")
	copyFile(t, shop, own)
	o := gostap.Options{Command: own}
	p, err := gostap.Compile(ctx, `global spent, n
probe process.function("main.charge") { spent[$customer] += $cents if (spent[$customer] < 0) error("no") }
probe process.function("main.handle").return { n <<< $depth }
probe end { printf("%s %d\n", pp(), @max(n)) error("at the end") }`, o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	b, err := p.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	saw := func(p *gostap.Program) string {
		t.Helper()
		s, err := p.Start(ctx)
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for e, err := range s.Events() {
			text += fmt.Sprintln(e.Kind, e.Text, e.Args, e.Point, e.File, e.Line, e.Column, err)
		}
		g, err := s.Globals()
		spent, merr := gostap.Map[string, int64](g, "spent")
		return text + fmt.Sprintln(spent, err, merr)
	}
	q, err := gostap.Load(b, o)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	here, there := saw(p), saw(q)
	if here != there || !strings.Contains(here, "ada:49720") || !strings.Contains(here, "at the end") {
		t.Errorf("here\n%s\nfrom bytes\n%s", here, there)
	}
	refused := func(what, want string, b []byte, o gostap.Options) {
		t.Helper()
		if _, err := gostap.Load(b, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused("damaged", "damaged", append(slices.Clone(b), 1), o)
	refused("nothing", "damaged", nil, o)
	refused("arguments", "Compile", b, gostap.Options{Args: []string{"x"}})
	refused("another program", "built to trace", b, gostap.Options{Command: "true"})
	if err := os.WriteFile(own, []byte("another"), 0o755); err != nil {
		t.Fatal(err)
	}
	refused("replaced", "not the file that the program was compiled for: it has the checksum", b, o)
	if _, err := q.Start(ctx); err == nil || !strings.Contains(err.Error(), "not the file") {
		t.Errorf("replaced behind loading: %v", err)
	}
	os.Remove(own)
	refused("removed", "no such file", b, o)
}

// TestPortable: a program for other kernels too does here what it does when it is compiled for this one.
func TestPortable(t *testing.T) {
	ctx := context.Background()
	const script = `probe kernel.trace("sched:sched_process_exec") {
	if ($p->pid == target())
		printf("%s %d %d %s\n", kernel_string($p->comm), $p->tgid == pid(), $bprm->argc, $p->cred->uid$)
}
probe kernel.trace("sched:sched_process_exit") {
	if ($p->pid == target())
		printf("%d %d %d\n", $p->exit_code, $p->real_parent->tgid == ppid(), $p->signal->rlim[3]->rlim_cur > 0)
}
probe end { println(%( kernel_v >= "6.1" %? "new" %: "old" %)) }`
	said := func(p *gostap.Program) string {
		t.Helper()
		text := ""
		if err := p.Run(ctx, func(e gostap.Event) error { text += e.Text; return nil }); err != nil {
			t.Fatal(err)
		}
		return text
	}
	compile := func(portable bool) *gostap.Program {
		t.Helper()
		p, err := gostap.Compile(ctx, script, gostap.Options{Command: "true", Portable: portable})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		return p
	}
	here, portable := compile(false), compile(true)
	if _, err := portable.Prepare(ctx); err == nil || !strings.Contains(err.Error(), "Load what its Bytes give") {
		t.Errorf("run as it is: %v", err)
	}
	if d, err := portable.Fits(); d != nil || err != nil {
		t.Errorf("fits one kernel: %v %v", d, err)
	}
	if d, err := here.Fits(); d == nil || err != nil || d.Line != 2 {
		t.Errorf("fits all kernels: %v %v", d, err)
	}
	b, err := portable.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	q, err := gostap.Load(b, gostap.Options{Command: "true"})
	if err != nil {
		t.Fatal(err)
	}
	want := said(here)
	if got := said(q); got != want || strings.Count(want, "\n") != 3 || !strings.Contains(want, "true 1 1 ") {
		t.Errorf("here\n%s\nas a plan\n%s", want, got)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestMap: globals as Go types, and what does not fit.
func TestMap(t *testing.T) {
	p, err := gostap.Compile(context.Background(), `global n, s, a, two, st, ast
probe begin {
  n = 3  s = "text"  a[-1] = "x"  a[2] = "y"  two["k", 7] = 5
  st <<< 10  st <<< 30
  for (i = 0; i < 4; i++) ast["p"] <<< i
  exit()
}
probe never { print(@hist_log(st)) print(@hist_linear(ast["p"], 0, 2, 1)) println(@variance(st)) }`, gostap.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	s, err := p.Start(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(); err != nil {
		t.Fatal(err)
	}
	g, err := s.Globals()
	if err != nil {
		t.Fatal(err)
	}
	check := func(name, want string) func(any, error) {
		return func(got any, err error) {
			t.Helper()
			if text := fmt.Sprintf("%v", got); err != nil || text != want {
				t.Errorf("%s is %s, %v, want %s", name, text, err, want)
			}
		}
	}
	type pair struct {
		Name string
		N    int64
	}
	n, err := gostap.Get[int64](g, "n")
	check("n", "3")(n, err)
	text, err := gostap.Get[string](g, "s")
	check("s", "text")(text, err)
	a, err := gostap.Map[int64, string](g, "a")
	check("a", "map[-1:x 2:y]")(a, err)
	two, err := gostap.Map[pair, int64](g, "two")
	check("two", "map[{k 7}:5]")(two, err)
	st, err := gostap.Get[*gostap.Stats](g, "st")
	check("st", "2 40 10 30 200 20 map[8:1 16:1]")(fmt.Sprint(st.Count, st.Sum, st.Min, st.Max, st.Variance, st.Avg(),
		st.Histograms[0].Map()), err)
	ast, err := gostap.Map[string, *gostap.Stats](g, "ast")
	check("ast", "[{0 0 1} {1 1 1} {2 2 1} {3 9223372036854775807 1}]")(ast["p"].Histograms[0].Buckets, err)
	for name, f := range map[string]func() error{
		"no global":    func() error { _, err := gostap.Get[int64](g, "none"); return err },
		"an array":     func() error { _, err := gostap.Get[int64](g, "two"); return err },
		"a scalar":     func() error { _, err := gostap.Map[int64, int64](g, "n"); return err },
		"other value":  func() error { _, err := gostap.Get[string](g, "n"); return err },
		"other key":    func() error { _, err := gostap.Map[string, string](g, "a"); return err },
		"fewer keys":   func() error { _, err := gostap.Map[string, int64](g, "two"); return err },
		"no aggregate": func() error { _, err := gostap.Map[pair, *gostap.Stats](g, "two"); return err },
	} {
		if f() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestSet: handlers see what the program that runs the script has set, in the kernel and on the host.
func TestSet(t *testing.T) {
	for _, runtime := range []gostap.Runtime{gostap.BPF, gostap.Host} {
		p, err := gostap.Compile(context.Background(), `global wanted, seen, a[2], s
probe timer.ms(1) { if (wanted == 7) { seen = wanted exit() } }
probe never { a[1] = wanted s = "x" }`, gostap.Options{Runtime: runtime})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		s, err := p.Start(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{"a": "no global with one number", "s": "no global with one number",
			"other": "no global other"} {
			if err := s.Set(name, 1); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := s.Set("wanted", 7); err != nil {
			t.Error(err)
		}
		if err := s.Wait(); err != nil {
			t.Error(err)
		}
		g, err := s.Globals()
		if n, merr := gostap.Get[int64](g, "seen"); err != nil || merr != nil || n != 7 {
			t.Errorf("%d, %v, %v", n, err, merr)
		}
		if err := s.Set("wanted", 8); err == nil || !strings.Contains(err.Error(), "has ended") {
			t.Errorf("behind the end: %v", err)
		}
	}
}
