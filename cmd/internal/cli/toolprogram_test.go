package cli

import (
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gostap/gostap/tapsets/tools"
)

func init() {
	maps.Copy(toolArgs, map[string]string{
		"go-callers": "main.get",
		"go-calls":   "main.*",
		"go-grpc":    "-c {../testdata/rpcs}",
		"go-latency": "main.get",
		"go-slow":    "main.get",
		"go-trace":   "main.get",
		"pgqueries":  "--postgres {statements/statements.c}",
		"uflow":      "run -c {statements/statements.c}",
		"usdt":       "-c {statements/statements.c}",
	})
}

// toolPrograms are the fixtures that were built for tools, by name.
type toolPrograms map[string]string

// fill completes the arguments of a tool with a program to trace, where it has to have one, and puts paths for fixtures
// ({NAME}).
func (p toolPrograms) fill(t *testing.T, tool *tools.Tool, args string) string {
	t.Helper()
	if tool.Subject == "go" && !strings.Contains(args, "-c") {
		args += " -c {labours}"
	}
	return regexp.MustCompile(`\{[^}]+\}`).ReplaceAllStringFunc(args, func(key string) string {
		if name := strings.Trim(key, "{}"); p[key] == "" {
			program := filepath.Join(t.TempDir(), "program")
			p[key] = program
			cmd := exec.Command("go", "build", "-o", program, ".")
			if filepath.Ext(name) == ".c" {
				cmd = exec.Command("gcc", "-g", "-O1", "-o", program, filepath.Base(name))
				name = filepath.Dir(name)
			}
			cmd.Dir = filepath.Join(testsDir, "fixtures", name)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, out)
			}
		}
		return p[key]
	})
}

// testsDir is where fixtures are, also for tests that change the working directory.
var testsDir = func() string {
	dir, err := filepath.Abs("../../../tests")
	if err != nil {
		panic(err)
	}
	return dir
}()
