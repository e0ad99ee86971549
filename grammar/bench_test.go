package grammar

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/source"
)

// sample is 25 lines of ordinary script.
const sample = `
global reads%, last[1000], started

/* Latency of a function of a program, by thread. */
probe process("/usr/bin/target").function("handle_request").call {
	# entry
	started[tid()] = gettimeofday_us()
	if (@defined($req->len) && $req->len > 4096)
		printf("%s[%d] large request: %d bytes, flags %#x\n", execname(), pid(), $req->len, $req->flags & 0xff)
}

probe process("/usr/bin/target").function("handle_request").return {
	t = started[tid()]
	if (t == 0) next
	delete started[tid()]
	reads[execname(), pid()] <<< gettimeofday_us() - t
}

function average:long(name:string, id:long) {
	return @count(reads[name, id]) ? @avg(reads[name, id]) : 0
}

probe end, timer.s(10) {
	foreach ([name, id] in reads @sum - limit 20)
		printf("%-16s %6d %8d %8d\n", name, id, @count(reads[name, id]), average(name, id))
}
`

func lines(n int) []byte {
	text := strings.Repeat(sample, n/strings.Count(sample, "\n")+1)
	out := bytes.SplitAfterN([]byte(text), []byte("\n"), n+1)
	whole := bytes.Join(out[:n], nil)
	return whole[:bytes.LastIndex(whole, []byte("\n}\n"))+3]
}

func BenchmarkParse1000Lines(b *testing.B) {
	text := lines(1000)
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	start, n := cpuTime(b), 0
	defer func() { b.ReportMetric(float64((cpuTime(b)-start).Microseconds())/1000/float64(n), "cpu-ms/op") }()
	for b.Loop() {
		n++
		fs := new(source.FileSet)
		if _, l := Parse(fs.Add("x.stp", text), Options{Files: fs}); len(l) > 0 {
			b.Fatal(l[0])
		}
	}
}

func BenchmarkParseOneLine(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		fs := new(source.FileSet)
		Parse(fs.Add("x.stp", []byte(`probe begin { println("hi") exit() }`)), Options{Files: fs})
	}
}

func BenchmarkIndex1000Lines(b *testing.B) {
	text := lines(1000)
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, ok := Index(text); !ok {
			b.Fatal("not indexed")
		}
	}
}

func BenchmarkPrint1000Lines(b *testing.B) {
	fs := new(source.FileSet)
	f, _ := Parse(fs.Add("x.stp", lines(1000)), Options{Files: fs})
	var buf bytes.Buffer
	for b.Loop() {
		buf.Reset()
		ast.Fprint(&buf, f)
	}
}

// BenchmarkFirstParse is the first parse of a fresh process, which has to read
// ANTLR's tables: the test binary runs itself.
func BenchmarkFirstParse(b *testing.B) {
	var cpu, wall time.Duration
	n := 0
	for b.Loop() {
		cmd := exec.Command(os.Args[0], "-test.run=^TestFirstParse$", "-test.v")
		cmd.Env = append(os.Environ(), "GOSTAP_FIRST_PARSE=1")
		out, err := cmd.Output()
		if err != nil {
			b.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(out), "first parse: ")
		var c, w string
		fields := strings.Fields(rest)
		c, w = fields[0], fields[1]
		dc, _ := time.ParseDuration(c)
		dw, _ := time.ParseDuration(w)
		cpu, wall, n = cpu+dc, wall+dw, n+1
	}
	b.ReportMetric(float64(cpu.Microseconds())/float64(n)/1000, "cpu-ms/parse")
	b.ReportMetric(float64(wall.Microseconds())/float64(n)/1000, "ms/parse")
}

func TestFirstParse(t *testing.T) {
	if os.Getenv("GOSTAP_FIRST_PARSE") == "" {
		t.Skip("a helper of BenchmarkFirstParse")
	}
	c, w := cpuTime(t), time.Now()
	fs := new(source.FileSet)
	if _, l := Parse(fs.Add("x.stp", []byte(`probe begin { println("hi") exit() }`)), Options{Files: fs}); len(l) > 0 {
		t.Fatal(l[0])
	}
	t.Logf("first parse: %v %v", cpuTime(t)-c, time.Since(w))
}

// cpuTime is what this process has used, on all threads: wall time says little on a
// busy machine.
func cpuTime(t testing.TB) time.Duration {
	d := processTime()
	if d == 0 {
		t.Fatal("getrusage does not work")
	}
	return d
}

// processTime is how long this process has run on a CPU: the clock on the wall also counts what others do. 0 if the
// kernel does not tell.
func processTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
