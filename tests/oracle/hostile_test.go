package oracle

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gostap/gostap/compiler/debuginfo/elffile"
	"github.com/gostap/gostap/compiler/debuginfo/elftest"
	"github.com/gostap/gostap/compiler/debuginfo/kbtf"
	"github.com/gostap/gostap/compiler/debuginfo/kbtf/kbtftest"
	"github.com/gostap/gostap/compiler/debuginfo/open"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/tests/patience"
)

// What a hostile file may cost: memory beyond that of the sound file it was made from, and time of a CPU. The time
// is far from what any of them takes, and there to tell a loop that does not end.
const (
	hostileMemory = 1 << 30
	hostileTime   = 120 * time.Second
)

// TestHostile reads damaged files of all kinds in a process of its own, one after the other, and wants it to live,
// within memory and time.
func TestHostile(t *testing.T) {
	files := 120
	if Full() {
		files = 10000
	}
	var fig Figures
	w := newWorker(t)
	defer w.close()
	programs := hostilePrograms(t)
	names := slices.Sorted(maps.Keys(programs))
	type source struct {
		name   string
		m      *elftest.Mutator
		honest answer
	}
	var sources []source
	dir := t.TempDir()
	for _, name := range names {
		path := filepath.Join(dir, "sound")
		if err := os.WriteFile(path, programs[name], 0o600); err != nil {
			t.Fatal(err)
		}
		a := w.ask("memory", path)
		if a.err != "" {
			t.Fatalf("%s: the sound file: %s", name, a.err)
		}
		m, err := elftest.NewMutator(programs[name])
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%-12s %6d KB: %4.0f ms of CPU, %d MB", name, len(programs[name])>>10, a.cpu.Seconds()*1000, a.mem>>20)
		sources = append(sources, source{name, m, a})
	}
	var most answer
	for i, seed := range Seeds(files, files) {
		s := sources[i%len(sources)]
		r := rand.New(rand.NewPCG(seed, 1))
		img, what := s.m.Mutate(r)
		path := filepath.Join(dir, "damaged")
		if err := os.WriteFile(path, img, 0o600); err != nil {
			t.Fatal(err)
		}
		a := w.ask("memory", path)
		most.cpu, most.mem = max(most.cpu, a.cpu), max(most.mem, a.mem)
		if judge(&fig, fmt.Sprintf("%s, seed %d (%s)", s.name, seed, what), a, s.honest.mem+hostileMemory) {
			w = newWorker(t)
		}
		if a.caught > 0 {
			fig.Note("panics of readers that became errors", a.caught)
		}
	}
	t.Logf("at most %v of CPU and %d MB for one file", most.cpu.Round(time.Millisecond), most.mem>>20)
	fig.Report(t, files)
}

// judge enters what a reader made of a hostile file, which may take most bytes of memory. The result says whether
// the reader died.
func judge(fig *Figures, what string, a answer, most int64) bool {
	switch {
	case a.died:
		fig.Wrong("%s: the reader died: %s", what, a.err)
	case a.mem > most, a.cpu > hostileTime:
		fig.Wrong("%s: %d MB where at most %d are allowed, %v of CPU", what, a.mem>>20, most>>20, a.cpu)
	case strings.Contains(a.err, foreign.ErrChanged.Error()):
		fig.Refused("the file changed while it was read")
	case a.err != "":
		fig.Refused("not opened")
	default:
		fig.Equal(1)
	}
	return a.died
}

// TestHostileBTF does the same with the BTF of a kernel.
func TestHostileBTF(t *testing.T) {
	files := 400
	if Full() {
		files = 4000
	}
	var fig Figures
	w := newWorker(t)
	defer w.close()
	dir := t.TempDir()
	btf, symbols, err := kbtftest.Write(dir)
	if err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(btf)
	if err != nil {
		t.Fatal(err)
	}
	odd := []byte{0, 1, 0x7f, 0x80, 0xff}
	for _, seed := range Seeds(files, files) {
		r := rand.New(rand.NewPCG(seed, 2))
		b := bytes.Clone(good)
		for range 1 + r.IntN(6) {
			at := r.IntN(len(b))
			if r.IntN(3) == 0 {
				at = r.IntN(24)
			}
			b[at] = odd[r.IntN(len(odd))]
		}
		if r.IntN(20) == 0 {
			b = b[:r.IntN(len(b))]
		}
		path := filepath.Join(dir, "damaged")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		a := w.ask("btf", path+" "+symbols)
		if judge(&fig, fmt.Sprintf("seed %d", seed), a, hostileMemory) {
			w = newWorker(t)
		}
	}
	fig.Report(t, files)
}

// TestCutWhileRead reads files which another process cuts short, overwrites or replaces at a random moment.
func TestCutWhileRead(t *testing.T) {
	runs := 48
	if Full() {
		runs = 3000
	}
	var fig Figures
	w := newWorker(t)
	defer w.close()
	programs := hostilePrograms(t)
	names := slices.Sorted(maps.Keys(programs))
	path := filepath.Join(t.TempDir(), "prog")
	took := map[string]time.Duration{}
	for i, seed := range Seeds(runs, runs) {
		name := names[i%len(names)]
		good := programs[name]
		r := rand.New(rand.NewPCG(seed, 3))
		os.Remove(path)
		if err := os.WriteFile(path, good, 0o600); err != nil {
			t.Fatal(err)
		}
		if took[name] == 0 {
			took[name] = w.ask("file", path).wall
		}
		how := r.IntN(4)
		done := make(chan answer, 1)
		go func() { done <- w.ask("file", path) }()
		time.Sleep(time.Duration(r.Float64() * 1.2 * float64(took[name])))
		switch how {
		case 0:
			os.Truncate(path, 0)
		case 1:
			os.Truncate(path, r.Int64N(int64(len(good))))
		case 2: // in place: another program of the same name
			os.WriteFile(path, programs[names[r.IntN(len(names))]], 0o600)
		case 3: // in place: bytes that never were a program's
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			junk := make([]byte, 64<<10)
			for i := range junk {
				junk[i] = byte(r.Uint32())
			}
			for at := int64(0); at < int64(len(good)); at += 3 * int64(len(junk)) {
				f.WriteAt(junk, at)
			}
			f.Close()
		}
		a := <-done
		if judge(&fig, fmt.Sprintf("%s, seed %d, kind %d", name, seed, how), a, hostileMemory+512<<20) {
			w = newWorker(t)
		}
	}
	fig.Report(t, runs)
}

// TestBombs has small files describe more than a machine has.
func TestBombs(t *testing.T) {
	path, err := gostap()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	src := write(t, dir, "b.c", "struct s { int a; } g;\n__attribute__((noinline)) int traceme(struct s *p) { return "+
		"p->a; }\nint main(void) { return traceme(&g); }\n")
	must(t, dir, nil, "gcc", "-g", "-O1", "-gdwarf-5", "-o", "sound", src)
	good, err := os.ReadFile(filepath.Join(dir, "sound"))
	if err != nil {
		t.Fatal(err)
	}
	type bomb struct {
		name, section string
		mb            int
		fill          byte
	}
	var bombs []bomb
	for _, s := range []string{".debug_info", ".debug_abbrev", ".debug_str", ".debug_line", ".debug_line_str",
		".debug_rnglists", ".debug_loclists", ".debug_aranges"} {
		bombs = append(bombs, bomb{"6 GB of zeros", s, 6 << 10, 0})
		if s == ".debug_info" || s == ".debug_line" || Full() {
			bombs = append(bombs, bomb{"400 MB of ones", s, 400, 1})
		}
		if Full() {
			bombs = append(bombs, bomb{"400 MB of zeros", s, 400, 0}, bomb{"400 MB of 0x80", s, 400, 0x80},
				bomb{"400 MB of 0x22", s, 400, 0x22}, bomb{"510 MB of 2", s, 510, 2})
		}
	}
	for _, s := range []string{".symtab", ".dynsym", ".strtab", ".dynamic", ".eh_frame", ".note.gnu.build-id",
		".rela.dyn"} {
		bombs = append(bombs, bomb{"6 GB of zeros", s, 6 << 10, 0})
	}
	var fig Figures
	var most int64
	for _, b := range bombs {
		img, err := elftest.Set(good, b.section, elftest.Bomb(b.mb, b.fill), 0x800)
		if err != nil {
			fig.Note(err.Error(), 1)
			continue
		}
		prog := filepath.Join(dir, "bomb")
		if err := os.WriteFile(prog, img, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"-L", `process("` + prog + `").function("*")`},
			{"-p4", "-e", `probe process("` + prog + `").statement("*@b.c:2") { println($p$$) print_ubacktrace() }`}} {
			cmd := exec.Command(path, args...)
			cmd.Env = append(os.Environ(), "GOGC=100")
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			err := cmd.Run()
			use := cmd.ProcessState.SysUsage().(*syscall.Rusage)
			most = max(most, use.Maxrss<<10)
			cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			switch {
			case cmd.ProcessState.ExitCode() > 1 || cmd.ProcessState.ExitCode() < 0 ||
				strings.Contains(out.String(), "internal error"):
				fig.Wrong("%s in %s: %v %.300s", b.name, b.section, err, out.String())
			case use.Maxrss<<10 > hostileMemory+256<<20 || cpu > hostileTime:
				fig.Wrong("%s in %s: %d MB, %v: %.300s", b.name, b.section, use.Maxrss>>10, cpu, out.String())
			case err != nil:
				fig.Refused("said what is wrong")
			default:
				fig.Equal(1)
			}
		}
	}
	t.Logf("at most %d MB", most>>20)
	fig.Report(t, 30)
}

// hostilePrograms builds what is damaged: C and Go, with and without what readers can read.
func hostilePrograms(t *testing.T) map[string][]byte {
	dir := t.TempDir()
	fixtures, err := filepath.Abs("../fixtures")
	if err != nil {
		t.Fatal(err)
	}
	c := filepath.Join(fixtures, "..", "..", "compiler/debuginfo/cdwarf/testdata")
	out := map[string][]byte{}
	build := func(name, tool string, in string, args ...string) {
		if _, err := exec.LookPath(tool); err != nil {
			t.Logf("without %s: %s is not installed", name, tool)
			return
		}
		path := filepath.Join(dir, name)
		must(t, in, []string{"CGO_ENABLED=1"}, tool, append(args, "-o", path)...)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = b
	}
	build("c-O2", "gcc", c, "-g", "-O2", "main.c", "callee.c")
	build("c-O0-v4", "gcc", c, "-g", "-O0", "-gdwarf-4", "-no-pie", "main.c", "callee.c")
	build("c-clang", "clang", c, "-g", "-O2", "-Wno-everything", "main.c", "callee.c")
	build("c-gz", "gcc", c, "-g", "-O2", "-gz", "main.c", "callee.c")
	build("c-marks", "gcc", filepath.Join(fixtures, "marks"), "-g", "-O1", "marks.c")
	shapes := filepath.Join(fixtures, "skip")
	goBuild := func(name, flags string) {
		path := filepath.Join(dir, name)
		must(t, shapes, nil, "go", "build", "-ldflags="+flags, "-o", path, ".")
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = b
	}
	goBuild("go-plain", "-compressdwarf=false")
	goBuild("go-stripped", "-s -w")
	goBuild("go-default", "")
	return out
}

// answer is what the worker said of one file.
type answer struct {
	err    string
	died   bool
	cpu    time.Duration
	wall   time.Duration
	mem    int64 // at most, of the process
	caught int   // panics
}

// worker is a process that reads files for us.
type worker struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
	log bytes.Buffer
	mu  sync.Mutex
}

const workerEnv = "GOSTAP_HOSTILE_WORKER"

func newWorker(t *testing.T) *worker {
	t.Helper()
	w := &worker{t: t, cmd: exec.Command(os.Args[0])}
	w.cmd.Env = append(os.Environ(), workerEnv+"=1")
	w.cmd.Stderr = &w.log
	in, err := w.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	w.in, w.out = in, bufio.NewScanner(out)
	w.out.Buffer(nil, 1<<20)
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *worker) close() {
	w.in.Close()
	w.cmd.Wait()
}

// ask has the worker read a file: "memory" with all of its bytes read before, "file" as the command does, "btf".
func (w *worker) ask(how, path string) answer {
	w.mu.Lock()
	defer w.mu.Unlock()
	start := time.Now()
	defer patience.AfterFunc(10*time.Minute, func() { w.cmd.Process.Kill() })()
	fmt.Fprintln(w.in, how, path)
	if !w.out.Scan() {
		w.cmd.Wait()
		log := w.log.String()
		return answer{died: true, err: fmt.Sprintf("%v %.1500s", w.cmd.ProcessState, log)}
	}
	f := strings.SplitN(w.out.Text(), " ", 4)
	if len(f) != 4 {
		w.t.Fatalf("worker: %q", w.out.Text())
	}
	cpu, _ := strconv.ParseInt(f[0], 10, 64)
	mem, _ := strconv.ParseInt(f[1], 10, 64)
	caught, _ := strconv.Atoi(f[2])
	return answer{err: f[3], cpu: time.Duration(cpu), mem: mem, caught: caught, wall: time.Since(start)}
}

// workerMain is the other side: it is what TestMain runs in the worker.
func workerMain() {
	caught := 0
	foreign.OnPanic = func(any) { caught++ }
	sc := bufio.NewScanner(os.Stdin)
	for sc.Scan() {
		how, path, _ := strings.Cut(sc.Text(), " ")
		caught = 0
		os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // from here on the highest memory is counted anew
		before := cpuTime()
		err := readHostile(how, path)
		msg := ""
		if err != nil {
			msg = strings.ReplaceAll(err.Error(), "\n", " ")
		}
		fmt.Println(int64(cpuTime()-before), highWater(), caught, msg)
	}
}

func readHostile(how, path string) (err error) {
	defer foreign.Goroutine()()
	defer func() {
		if r := recover(); r != nil {
			if err = foreign.Explain(r); err == nil {
				panic(r)
			}
		}
	}()
	const few = 60
	switch how {
	case "memory":
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f, err := elffile.InMemory(b)
		if err != nil {
			return err
		}
		im, err := open.New(f)
		if err != nil {
			return err
		}
		askAll(im, few)
		return im.Close()
	case "file":
		im, err := open.Open(path)
		if err != nil {
			return err
		}
		defer im.Close()
		askAll(im, few)
		return im.(interface{ Changed() error }).Changed()
	case "btf":
		btf, symbols, _ := strings.Cut(path, " ")
		im, err := kbtf.New(kbtf.Config{BTF: btf, Map: symbols}).Image("")
		if err != nil {
			return err
		}
		askAll(im, few)
		for _, name := range []string{"struct task_struct", "struct file", "pid_t"} {
			if t, err := im.Type(name); err == nil {
				askType(t, 6)
			}
		}
		return nil
	}
	return fmt.Errorf("unknown question %q", how)
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// highWater is the most memory that the process has had.
func highWater() int64 {
	b, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(b), "VmHWM:")
	n, _ := strconv.ParseInt(strings.Fields(rest + " 0")[0], 10, 64)
	return n << 10
}
