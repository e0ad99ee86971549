package completion

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func config() Config {
	return Config{
		Usage: "  -x, --pid PID           target\n  -t, --timing            report\n      --runtime NAME      how\n" +
			"      --emit=ftrace|perf  write\n  -o, --output FILE       to\n  -e, --execute TEXT      script\n" +
			"  -l, --list POINT        list\n  -L, --list-vars POINT   more\n",
		Commands: []string{"help", "profile", "tools"},
		Help:     func(string) string { return "  -o, --output FILE    to\n      --what LIST      what\n" },
		Script: func(text string) (string, []string) {
			if strings.HasSuffix(text, `function("main.`) {
				return "main.", []string{"main.a", "main.b"}
			}
			return "sysc", []string{"syscall"}
		},
		Point: func(text string) (string, []string) { return "beg", []string{"begin", "begin("} },
	}
}

// TestWords: what a line could go on with, as bash gets it and as the others do.
func TestWords(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, f := range []string{"a.stp", "b.txt", "x.plan", "m.ko", ".hidden.stp"} {
		os.WriteFile(f, nil, 0o644)
	}
	os.Mkdir("dir", 0o755)
	for _, c := range []struct{ line, bash, others string }{
		{"gostap --ti", "--timing", "--timing"},
		{"gostap --runtime=h", "host", "--runtime=host"},
		{"gostap --runtime h", "host", "host"},
		{"gostap --emit p", "perf", "perf"},
		{"sudo /usr/bin/gostap -t --emit=f", "ftrace", "--emit=ftrace"},
		{"true; gostap prof", "profile", "profile"},
		{"gostap profile --w", "--what", "--what"},
		{"gostap opensn", "opensnoop", "opensnoop"},
		{"gostap opensnoop --fai", "--failed", "--failed"},
		{"gostap help strle", "strlen", "strlen"},
		{"gostap help not-li", "not-live", "not-live"},
		{"gostap tools memo", "memory", "memory"},
		{"gostap completion z", "zsh", "zsh"},
		{"gostap run ", "dir/ m.ko dir/ x.plan", "dir/ m.ko dir/ x.plan"},
		{"gostap -o b", "b.txt", "b.txt"},
		{"gostap a", "a.stp", "a.stp"},
		{"gostap -l beg", "begin begin(", "begin begin("},
		{"gostap -L 'beg", "begin begin(", "begin begin("},
		{`gostap -e 'probe process("x").function("main.`, `probe process("x").function("main.a") probe ` +
			`process("x").function("main.b")`, ""},
		{"gostap -e 'probe sysc", "probe syscall probe syscall ", ""},
		{"gostap", "", ""},
		{"other x", "", ""},
		{"", "", ""},
		{"gostap 'a", "a.stp", "a.stp"},
	} {
		for shell, want := range map[string]string{"bash": c.bash, "fish": c.others} {
			var out strings.Builder
			Complete(c.line, shell, &out, config())
			got := strings.Join(strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n"), " ")
			if want == "" && shell == "fish" && c.bash != "" {
				want = c.bash
			}
			if got != want {
				t.Errorf("%q in %s: %q, not %q", c.line, shell, got, want)
			}
		}
	}
	var out strings.Builder
	CompleteWords([]string{"gostap", "-l", "beg"}, &out, config())
	if out.String() != "begin\nbegin(\n" {
		t.Errorf("words of zsh: %q", &out)
	}
}

// FuzzComplete: no line makes it fail, and each word begins as the last of the line does.
func FuzzComplete(f *testing.F) {
	for _, s := range []string{"gostap -e 'a b", `gostap "x\" y`, `gostap a\ b`, "gostap --x=", "gostap \\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		var out strings.Builder
		Complete(line, "fish", &out, config())
		Complete(line, "bash", &out, config())
	})
}

// TestScripts: bash takes what is printed for it.
func TestScripts(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	var script, errs strings.Builder
	if Run([]string{"bash"}, &script, &errs) != 0 {
		t.Fatal(errs.String())
	}
	dir := t.TempDir()
	stand := "#!/bin/sh\nprintf '%s\\n' \"$1 $2 $3\" --one=\n"
	if err := os.WriteFile(dir+"/gostap", []byte(stand), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bash, "--norc", "-c", script.String()+`
		COMP_LINE="gostap --on" COMP_POINT=11; compopt() { :; }; _gostap; printf '%s\n' "${COMPREPLY[@]}"`)
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if want := "complete-line bash gostap --on\n--one=\n"; err != nil || string(out) != want {
		t.Errorf("bash: %q, %v; not %q", out, err, want)
	}
	for _, s := range Shells {
		if Run([]string{s}, &script, &errs) != 0 || !slices.Contains(Shells, s) {
			t.Errorf("%s: %s", s, &errs)
		}
	}
	if Run([]string{"tcsh"}, &script, &errs) != 1 || !strings.Contains(errs.String(), "bash, fish, zsh") {
		t.Errorf("tcsh: %q", &errs)
	}
}
