package tests

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// castLines is how many lines of a run are kept.
const castLines = 12

// toolCasts are runs that docs/tools.md shows, each a tool with its options and the command that it traces.
var toolCasts = []struct{ tool, load string }{
	{"execsnoop", "sh -c 'ls / | sort | head -1 >/dev/null; nothing'"},
	{"exitsnoop", "sh -c 'sleep 0.1; cat /nowhere; kill -9 \\$\\$'"},
	{"opensnoop --failed", "LC_ALL=C cat /nowhere"},
	{"errsnoop --top 5", "find /proc/self/ns /nowhere -name net"},
	{"syscount --top 5", "find /usr/share/doc -name README"},
	{"runqslower --min 1ms", "sh -c 'taskset -c 1 timeout 0.1 yes & taskset -c 1 timeout 0.1 yes'"},
	{"mmapsnoop --min 100k", "sort /etc/services"},
	{"tcpresets", "bash -c 'echo >/dev/tcp/127.0.0.1/1'"},
	{"slabratetop --interval 100s --top 5", "ls -R /usr/share/doc"},
	{"kmem --by process --top 3", "ls -R /usr/share/doc"},
	{"cpudist", "find /usr/share/doc -name README"},
}

// TestToolCasts runs what docs/tools.md shows: the first line, which has the heads of columns where there are some, is
// the one that is shown. GOSTAP_TOOLS=1 asks for it; GOSTAP_TOOLS=update keeps the runs.
func TestToolCasts(t *testing.T) {
	asked := os.Getenv(toolsAsked)
	if asked == "" {
		t.Skip(toolsAsked + "=1 asks for it; it takes ten seconds")
	}
	needRoot(t)
	gostap := bin(t, "gostap")
	const file = "../cmd/internal/toolbox/casts.txt"
	shown, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var kept strings.Builder
	for _, c := range toolCasts {
		out := filepath.Join(t.TempDir(), "out")
		// As the line that is shown would be, by a shell.
		typed := fmt.Sprintf("gostap %s -c \"%s\"", c.tool, c.load)
		cmd := exec.Command("sh", "-c", strings.Replace(typed, "gostap ", "$GOSTAP -o $OUT ", 1))
		cmd.Env = append(os.Environ(), "GOSTAP="+gostap, "OUT="+out)
		if said, err := cmd.CombinedOutput(); err != nil && !strings.Contains(string(said),
			"the traced command") {
			t.Errorf("gostap %s: %v\n%s", c.tool, err, said)
			continue
		}
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		name, _, _ := strings.Cut(c.tool, " ")
		if len(lines) < 2 {
			t.Errorf("gostap %s: %q", c.tool, text)
			continue
		}
		if len(lines) > castLines {
			lines = append(lines[:castLines-1], "...")
		}
		head := fmt.Sprintf("-- %s --\n$ %s\n", name, typed)
		begin := head
		if strings.ToUpper(lines[0]) == lines[0] && !strings.Contains(lines[0], ":") { // a time
			begin += strings.TrimRight(lines[0], " ") + "\n"
		}
		if asked != "update" && !strings.Contains(string(shown), begin) {
			t.Errorf("docs/tools.md shows another run than\n%s", begin)
		}
		kept.WriteString(head)
		for _, l := range lines {
			fmt.Fprintln(&kept, strings.TrimRight(l, " "))
		}
	}
	if asked == "update" && !t.Failed() {
		if err := os.WriteFile(file, []byte(kept.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
