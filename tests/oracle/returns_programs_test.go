package oracle

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/cdwarf"
	"github.com/gostap/gostap/compiler/machine/insn"
)

// everything counts entries and returns of all functions of a file.
const everything = `global e, r
probe process(@1).function("*").call { e[ppfunc()] <<< 1 }
probe process(@1).function("*").return { r[ppfunc()] <<< 1 }
probe end {
	foreach (f in e) printf("ENTRIES %s %d\n", f, @count(e[f]))
	foreach (f in r) printf("RETURNS %s %d\n", f, @count(r[f]))
}`

// loaded is a real program with something to do.
type loaded struct {
	name string
	file string   // whose functions are probed
	args []string // of the command; $DIR is its folder, $PORT a free port
	// drive talks to a server and gives what it answers; nil for programs that end by themselves.
	drive func(port string) (string, error)
	files map[string]string
	full  bool // in the full form alone: it calls millions of functions
	// open is how many calls may be open when the program exits.
	open int
	// jumps are the functions that longjmp takes calls of away from.
	jumps []string
}

var loads = []loaded{
	{name: "sqlite3", file: "/usr/lib/x86_64-linux-gnu/libsqlite3.so.0",
		args: []string{"/usr/bin/sqlite3", ":memory:", ".read $DIR/q.sql"}, open: 1, files: map[string]string{"q.sql": `
create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i+1 from n where i<40) insert into t select i, 'x'||i, i/3.0 from n;
create index ti on t(b); select count(*), sum(c), max(b) from t where b like 'x1%'; select b from t order by c desc limit 3;
begin; delete from t where a % 3; rollback; select group_concat(b) from t where a between 3 and 9; select x from nowhere;
`}},
	{name: "nginx", file: "/usr/sbin/nginx", full: true, open: 4,
		args: []string{"/usr/sbin/nginx", "-p", "$DIR", "-c", "$DIR/nginx.conf"}, drive: overHTTP,
		files: map[string]string{
			"nginx.conf": "daemon off; master_process off; pid $DIR/pid; error_log $DIR/error.log; events {}\n" +
				"http { access_log $DIR/access.log; gzip on; gzip_min_length 1; server { listen " +
				"127.0.0.1:$PORT; root " +
				"$DIR; location /moved { return 302 /index.html; } } }\n",
			"index.html": strings.Repeat("a page with some text\n", 100)}},
	{name: "redis-server", file: "/usr/bin/redis-server", full: true, open: 30, jumps: []string{"lua_error"},
		args: []string{"/usr/bin/redis-server", "--port", "$PORT", "--save", "", "--dir", "$DIR"}, drive: overRESP},
	{name: "python3", file: "/usr/bin/python3", full: true, open: 1,
		args: []string{"/usr/bin/python3", "-S", "-E", "$DIR/p.py"}, files: map[string]string{"p.py": `
import json, re, hashlib
class A:
    def __init__(self, n): self.n = n
    def __lt__(self, o): return self.n < o.n
def f(n):
    if n % 7 == 3: raise ValueError(n)
    return n * n
def g(n):
    for i in range(n): yield i
t = 0
for i in range(200):
    try: t += f(i) + sum(g(5))
    except ValueError as e: t += e.args[0]
print(t, sorted([A(3), A(1)])[0].n, json.dumps({"a": [1, 2.5, None]}), re.sub(r"(\w)x", r"\1y", "axbx"), hashlib.md5(b"x").hexdigest())
`}},
}

// TestReturnsOfPrograms enters and leaves all functions of real programs, as Debian builds them: the output is the
// same, and what was entered is left again.
func TestReturnsOfPrograms(t *testing.T) {
	needRoot(t)
	for _, p := range loads {
		if p.full && !Full() {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			need(t, p.args[0])
			file, err := filepath.EvalSymlinks(p.file)
			if err != nil {
				t.Skip(err)
			}
			refused := decodes(t, file)
			want := p.run(t, func(dir string, args []string) *exec.Cmd {
				return exec.Command(args[0], args[1:]...)
			})
			tool, err := gostap()
			if err != nil {
				t.Fatal(err)
			}
			var said string
			got := p.run(t, func(dir string, args []string) *exec.Cmd {
				said = filepath.Join(dir, "said")
				script := write(t, dir, "all.stp", everything)
				for i, a := range args {
					args[i] = "'" + a + "'"
				}
				cmd := exec.Command(tool, "-D", "MAXMAPENTRIES=20000", "-D", "MAXACTION_INTERRUPTIBLE=1000000", "-o",
					said, script, file, "-c", strings.Join(args, " "))
				cmd.Env = append(os.Environ(), "NO_COLOR=1")
				return cmd
			})
			var f Figures
			if want != got {
				f.Wrong("%s prints\n%s\nunder probes, without them\n%s", p.name, got, want)
			} else {
				f.Equal(1)
			}
			out, err := os.ReadFile(said)
			if err != nil {
				t.Fatal(err, got)
			}
			entries, returns, open := byFunction(string(out), "ENTRIES "), byFunction(string(out), "RETURNS "), 0
			calls := 0
			for name, e := range entries {
				r := returns[name]
				calls += e
				switch {
				case r == 0 && refused[name] != "":
					f.Refused(refused[name])
				case r == e:
					f.Equal(1)
				case r < e && slices.Contains(p.jumps, name):
					f.Note("calls left by longjmp", e-r)
				case r < e && e-r <= p.open-open:
					open += e - r
					f.Note("calls under way when the program exits", e-r)
				default:
					f.Wrong("%s: %s was entered %d times and left %d times", p.name, name, e, r)
				}
			}
			t.Logf("%s: %d functions called, %d calls", p.name, len(entries), calls)
			f.Report(t, 100)
		})
	}
}

// decodes prints how many functions of a file are left in ways that are not known, and names them with the reason.
func decodes(t *testing.T, file string) map[string]string {
	im, err := cdwarf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer im.Close()
	funcs, err := im.Funcs("*")
	if err != nil {
		t.Skip(file, "has no symbols:", err)
	}
	why, reasons := map[string]string{}, map[string]int{}
	never := 0
	for _, fn := range funcs {
		_, err := im.ReturnSites(fn)
		var none *debuginfo.NoReturnError
		if errors.As(err, &none) {
			never++
			why[fn.Name] = "it never returns"
		} else if err != nil {
			reason := err.Error()
			var ce *insn.CodeError
			if errors.As(err, &ce) {
				reason = ce.Reason
			}
			why[fn.Name] = reason
			reasons[reason]++
		}
	}
	t.Logf("%s: %d functions, %d do not decode %v, %d never return", file, len(funcs), len(why)-never, reasons, never)
	return why
}

// run runs the program, as command says, with its load, and gives all that it printed and answered.
func (p *loaded) run(t *testing.T, command func(dir string, args []string) *exec.Cmd) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	fill := strings.NewReplacer("$DIR", dir, "$PORT", port)
	for name, text := range p.files {
		write(t, dir, name, fill.Replace(text))
	}
	args := make([]string, len(p.args))
	for i, a := range p.args {
		args[i] = fill.Replace(a)
	}
	cmd := command(dir, args)
	answers := ""
	if p.drive != nil {
		cmd.Stdout, cmd.Stderr = nil, os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if answers, err = p.drive(port); err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
		if p.name == "nginx" {
			must(t, dir, nil, p.args[0], "-p", dir, "-c", filepath.Join(dir, "nginx.conf"), "-s", "quit")
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
		return answers
	}
	out, _ := cmd.Output() // what the script prints goes to a file
	return string(out)
}

// connect waits until a server listens.
func connect(port string) (net.Conn, error) {
	for i := 0; ; i++ {
		c, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil || i == 600 {
			return c, err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

var dates = regexp.MustCompile(`(?m)^(Date|Last-Modified|Etag): .*\n|127\.0\.0\.1:\d+`)

func overHTTP(port string) (string, error) {
	c, err := connect(port)
	if err != nil {
		return "", err
	}
	c.Close()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	var all strings.Builder
	for i := range 60 {
		path := []string{"/index.html", "/", "/missing", "/moved", "/nginx.conf?x=1"}[i%5]
		r, err := client.Get("http://127.0.0.1:" + port + path)
		if err != nil {
			return all.String(), err
		}
		body, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil {
			return all.String(), err
		}
		if path == "/nginx.conf?x=1" {
			body = nil // the ports and folders of the two runs
			r.ContentLength = 0
		}
		fmt.Fprintf(&all, "%s %d %s %d\n", r.Status, r.ContentLength, dates.ReplaceAllString(string(body), ""),
			len(body))
	}
	client.CloseIdleConnections()
	return all.String(), nil
}

func overRESP(port string) (string, error) {
	c, err := connect(port)
	if err != nil {
		return "", err
	}
	defer c.Close()
	in := bufio.NewReader(c)
	var all strings.Builder
	for i := range 40 {
		for _, line := range []string{"SET k%d v%d", "GET k%d", "LPUSH list a%d b", "LRANGE list 0 3", "HSET h f%d 1",
			"HLEN h", "ZADD z %d m%d", "ZRANGE z 0 -1", "INCR n", "EVAL return{KEYS[1],1+%d} 1 a",
			"EVAL error('x%d') 0", "NOSUCH %d", "EXPIRE k%d 100", "SADD s %d", "SCARD s", "MULTI", "PING", "EXEC",
			"BITCOUNT k%d", "PFADD p %d", "PFCOUNT p"} {
			if n := strings.Count(line, "%d"); n > 0 {
				line = fmt.Sprintf(line, []any{i, i}[:n]...)
			}
			words := strings.Fields(line)
			fmt.Fprintf(c, "*%d\r\n", len(words))
			for _, w := range words {
				fmt.Fprintf(c, "$%d\r\n%s\r\n", len(w), w)
			}
			if err := reply(in, &all); err != nil {
				return all.String(), err
			}
		}
	}
	fmt.Fprint(c, "*2\r\n$8\r\nSHUTDOWN\r\n$6\r\nNOSAVE\r\n")
	io.Copy(io.Discard, c)
	return all.String(), nil
}

// reply reads one answer.
func reply(in *bufio.Reader, to *strings.Builder) error {
	line, err := in.ReadString('\n')
	if err != nil {
		return err
	}
	to.WriteString(line)
	n := 0
	fmt.Sscan(line[1:], &n)
	switch line[0] {
	case '$':
		if n >= 0 {
			_, err = io.CopyN(to, in, int64(n)+2)
		}
	case '*':
		for range n {
			if err = reply(in, to); err != nil {
				break
			}
		}
	}
	return err
}
