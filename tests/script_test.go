package tests

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/gostap/gostap/tests/patience"
)

var update = flag.Bool("update", false, "rewrite the expected output of the whole-program tests")

// TestScripts runs testdata/*.txtar. The comment says what a test is about and which
// fixtures it needs ("fixtures: stap trace"); "root" on a line of its own that it
// traces. The file cmd is a shell script; gostap and the fixtures are in $BIN, which
// is also in PATH. stdout, stderr and status are what must come out: {{...}} in them is a
// regular expression; a first line "(any order)" compares sorted lines. Other files
// are laid into the working directory.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { runScript(t, file) })
	}
}

func runScript(t *testing.T, file string) {
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	bin(t, "gostap")
	for _, line := range strings.Split(string(ar.Comment), "\n") {
		if line == "root" {
			needRoot(t)
		}
		if list, ok := strings.CutPrefix(line, "fixtures:"); ok {
			for _, f := range strings.Fields(list) {
				bin(t, f)
			}
		}
	}
	dir := t.TempDir()
	want := map[string]string{"status": "0\n"}
	var script string
	for _, f := range ar.Files {
		switch f.Name {
		case "cmd":
			script = string(f.Data)
		case "stdout", "stderr", "status":
			want[f.Name] = string(f.Data)
		default:
			path := filepath.Join(dir, f.Name)
			os.MkdirAll(filepath.Dir(path), 0o755)
			if err := os.WriteFile(path, f.Data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "BIN="+binDir, "PATH="+binDir+":"+os.Getenv("PATH"), "NO_COLOR=1", "TZ=UTC")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = 10 * time.Minute // for what outlives the script and holds its output
	stop := patience.AfterFunc(3*time.Minute, func() { cmd.Process.Kill() })
	err = cmd.Run()
	stop()
	status := "0\n"
	var ee *exec.ExitError
	if errors.As(err, &ee) {
		status = strings.TrimPrefix(ee.String(), "exit status ") + "\n"
	} else if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{"stdout": stdout.String(), "stderr": slowVerifier.ReplaceAllString(stderr.String(), ""),
		"status": status}
	for name, text := range got {
		got[name] = strings.ReplaceAll(strings.ReplaceAll(text, binDir, "$BIN"), dir, "$WORK")
	}
	if *update {
		rewrite(t, file, ar, got, want)
		return
	}
	for _, name := range []string{"stdout", "stderr", "status"} {
		if !matches(want[name], got[name]) {
			t.Errorf("%s:\n--- got\n%s--- want\n%s", name, got[name], want[name])
		}
	}
}

// rewrite stores what came out, unless the pattern that stands there already matches.
func rewrite(t *testing.T, file string, ar *txtar.Archive, got, want map[string]string) {
	for _, name := range []string{"stdout", "stderr", "status"} {
		if matches(want[name], got[name]) {
			continue
		}
		at := -1
		for i, f := range ar.Files {
			if f.Name == name {
				at = i
			}
		}
		if at < 0 {
			ar.Files = append(ar.Files, txtar.File{Name: name})
			at = len(ar.Files) - 1
		}
		ar.Files[at].Data = []byte(got[name])
	}
	if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
		t.Fatal(err)
	}
}

var hole = regexp.MustCompile(`\{\{(.*?)\}\}`)

func matches(want, got string) bool {
	if rest, ok := strings.CutPrefix(want, "(any order)\n"); ok {
		want, got = sorted(rest), sorted(got)
	}
	var re strings.Builder
	re.WriteString(`\A`)
	last := 0
	for _, m := range hole.FindAllStringSubmatchIndex(want, -1) {
		re.WriteString(regexp.QuoteMeta(want[last:m[0]]))
		re.WriteString("(?:" + want[m[2]:m[3]] + ")")
		last = m[1]
	}
	re.WriteString(regexp.QuoteMeta(want[last:]) + `\z`)
	ok, err := regexp.MatchString(re.String(), got)
	return err == nil && ok
}

func sorted(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines { // a small insertion sort keeps the empty last line at the front
		for j := i; j > 0 && lines[j] < lines[j-1]; j-- {
			lines[j], lines[j-1] = lines[j-1], lines[j]
		}
	}
	return strings.Join(lines, "\n")
}
