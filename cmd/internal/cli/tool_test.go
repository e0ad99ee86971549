package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gostap/gostap/cmd/internal/rcfile"
	"github.com/gostap/gostap/tapsets/tools"
)

// toolArgs are what tools are translated with that take arguments, or trace a program.
var toolArgs = map[string]string{
	"fsdist": "ext4", "fsslower": "ext4", "funccount": "tcp_sendmsg*", "funclatency": "vfs_read",
	"funcslower": "vfs_read", "stackcount": "vfs_read", "trace": "vfs_unlink", "kfuncs": "openat",
}

// typed runs a command line as a shell would have it.
func typed(t *testing.T, env []string, line string) (out string, status int) {
	t.Helper()
	args, err := rcfile.Words(line)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	var b bytes.Buffer
	status = Run(args, Streams{In: strings.NewReader(""), Out: &b, Err: &b}, env)
	return b.String(), status
}

// TestTools: each tool says all that its head has to say, its examples are command lines that it takes, and it
// translates for the kernel at hand.
func TestTools(t *testing.T) {
	dir := t.TempDir()
	env := []string{"PATH=/bin:/usr/bin", "HOME=" + dir, "SYSTEMTAP_DIR=" + dir}
	t.Chdir(dir)
	all := tools.All()
	if len(all) != len(tools.Names()) {
		t.Errorf("%d tools, %d names", len(all), len(tools.Names()))
	}
	seen, programs := map[string]bool{}, toolPrograms{}
	for _, tool := range all {
		if seen[tool.Name] {
			t.Errorf("%s is there twice", tool.Name)
		}
		seen[tool.Name] = true
		if len(tool.Output) == 0 || len(tool.Examples) == 0 {
			t.Errorf("%s: the head has %d words for its output, %d examples", tool.Name, len(tool.Output),
				len(tool.Examples))
		}
		help, status := typed(t, env, tool.Name+" --help")
		if status != 0 || !strings.HasPrefix(help, "gostap "+tool.Name+" - ") {
			t.Errorf("%s --help: status %d\n%s", tool.Name, status, help)
		}
		for l := range strings.Lines(help) {
			if len(l) > 100 {
				t.Errorf("%s --help: this line is wide: %s", tool.Name, l)
			}
		}
		for _, e := range tool.Examples {
			line := strings.TrimPrefix(e.Command, "gostap ")
			args, err := rcfile.Words(line)
			if err != nil || len(e.Text) == 0 {
				t.Errorf("%s: example %s: %v, %d lines about it", tool.Name, e.Command, err, len(e.Text))
				continue
			}
			r, err := useTool(args, env)
			if err == nil && r == nil {
				t.Errorf("%s: example %s names no tool", tool.Name, e.Command)
			} else if err != nil {
				t.Errorf("%s: example %s: %v", tool.Name, e.Command, err)
			} else if _, err = parseFlags(r.args); err != nil {
				t.Errorf("%s: example %s: %v", tool.Name, e.Command, err)
			}
		}
		if os.Geteuid() != 0 {
			continue // names of the kernel have no addresses then
		}
		line := tool.Name + " " + programs.fill(t, tool, toolArgs[tool.Name])
		if out, status := typed(t, env, line+" -p3"); status != 0 || strings.Contains(out, "warning:") {
			if len(out) > 3000 {
				out = out[:3000]
			}
			t.Errorf("gostap %s -p3: status %d\n%s", line, status, out)
		}
	}
	for name := range toolArgs {
		if !seen[name] {
			t.Errorf("there is no tool %s", name)
		}
	}
}

// TestToolNames: which script a word means, and how options of tools are given.
func TestToolNames(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	env := []string{"PATH=/bin:/usr/bin", "HOME=" + dir, "SYSTEMTAP_DIR=" + dir}
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const own = ".config/gostap/tools/"
	write(own+"trial.stp", `// trial: an own one
//
// Output:
//   words  all of them
//
// Example: gostap trial one
//   tries
global times = 3 // --times N: how often
global min = 1500000 // --min TIME: at least TIME
global room = 0 // --room SIZE: bytes
global loud = 0 // --loud: with more
//   noise
global by = "name" // --by name|pid: what
@define what %( "none" %) // WHAT NAME: wrong on purpose, so that it is no option
@define first %( "" %) // TEXT: the first
@define where %( process %) // --where PROGRAM: a program
@define at %( timer.ms(7) %) // [POINT]: a place
probe begin {
	printf("own times=%d min=%d room=%d loud=%d by=%s first=%s\n", times, min, room, loud, by, @first)
	exit()
}
probe @at { }
%( @first == "where" %? probe @where.begin { } %)
`)
	write(own+"nowhere.stp", "// nowhere: has nothing to trace\n"+
		"probe begin { println(\"waits\") }\nprobe kernel.trace(\"no:such\") ? { println(\"hit\") }\n")
	write(own+"sub/opensnoop.stp", "// opensnoop: mine\nprobe begin { println(\"mine\") exit() }\n")
	write("biotop", "probe begin { println(\"a file\") exit() }\n")
	write("execsnoop.stp", "probe begin { println(\"a file with an ending\") exit() }\n")
	write(own+"headless.stp", "probe begin { }\n")
	write(own+"open.stp", "// open: to all\nprobe begin { exit() }\n")
	if err := os.Chmod(own+"open.stp", 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ line, want string }{
		{"--runtime=host trial one", "own times=3 min=1500000 room=0 loud=0 by=name first=one\n"},
		{"trial --runtime=host --times 0x10 --min=2s one --room 4k --loud --by pid",
			"own times=16 min=2000000000 room=4096 loud=1 by=pid first=one\n"},
		{"trial --runtime=host --min 0.5 -- --by", "min=500000000 room=0 loud=0 by=name first=--by\n"},
		{`trial --runtime=host 'a "b\c %) "'`, `first=a "b\c %) "` + "\n"},
		{"trial --runtime=host one timer.s(5)", "own"},
		{`trial -p1 where --where '/bin/a"b'`, `process("/bin/a\"b").begin`},
		{"trial", "TEXT is missing: the first"},
		{"trial one two three", `"three" is one argument too many`},
		{"trial one --timms 3", "did you mean --times?"},
		{"trial one --times x", `--times takes a number, not "x"`},
		{"trial one --min 5parsec", "--min takes a time such as"},
		{"trial one --min -1", "--min takes a time such as"},
		{"trial one --room 4x", "--room takes a number of bytes"},
		{"trial one --by x", `--by takes name or pid, not "x"`},
		{"trial one --loud=yes", "--loud takes no value"},
		{"trial one --times", "--times takes a value, and none follows"},
		{"trial one --where ''", "--where takes a program"},
		{"trial one -T x", "-T takes seconds"},
		{"trial --help", "  --loud           with more noise\n"},
		{"--help trial", "  --times N        how often (3 if not given)\n"},
		{"trial one 'syscall.nonsense'", "syscall.nonsense"},
		{"opensnoop --runtime=host", "mine\n"},
		{"biotop --runtime=host", "a file\n"},
		{"execsnoop.stp --runtime=host", "a file with an ending\n"},
		{"./execsnoop.stp --runtime=host", "a file with an ending\n"},
		{"-- trial", "no such file"},
		{"-e 'probe begin { println(@1) exit() }' --runtime=host trial", "trial\n"},
		{"triall", "no tool of that name\n  hint: did you mean trial?"},
		{"headless", "no head"},
		{"nowhere --runtime=host", "nowhere: there is nothing to trace"},
		{"open", "is not run"},
		{"tools --show opensnoop", "// opensnoop: mine\n"},
		{"tools --show opensnop", "did you mean opensnoop?"},
		{"tools own", "trial"},
		{"tools sub", "mine"},
		{"tools -k nOiSe", "trial"},
		{"tools -k no-such-word", "no tool says"},
		{"tools filse", "did you mean files?"},
		{"tools opensnoop", "it is a tool"},
		{"tools --show", "error:"},
		{"tools a b", "one subject too many"},
		{"tools --help", "usage: gostap tools"},
	} {
		if got, _ := typed(t, env, c.line); !strings.Contains(got, c.want) {
			t.Errorf("gostap %s\n%s--- want\n%s", c.line, got, c.want)
		}
	}
}

// TestInteractiveTool: an interactive session begins with the script of a tool, and has its options.
func TestInteractiveTool(t *testing.T) {
	var out bytes.Buffer
	status := Run([]string{"-i", "execsnoop", "--ok", "-T", "5"},
		Streams{In: strings.NewReader("list\nset\n"), Out: &out, Err: &out},
		[]string{"PATH=/bin:/usr/bin", "SYSTEMTAP_DIR=" + t.TempDir()})
	for _, want := range []string{"probe syscall.execve.return", "--global=ok=1", "--timeout=5"} {
		if status != 0 || !strings.Contains(out.String(), want) {
			t.Errorf("no %s, status %d:\n%s", want, status, &out)
		}
	}
}
