package godwarf

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// variants are the ways in which testdata/shapes is built. The tests' answers are the same for all
// but the stripped one.
var variants = []struct {
	name  string
	flags []string
}{
	{"default", nil},
	{"noopt", []string{"-gcflags=-N -l"}},
	{"pie", []string{"-buildmode=pie"}},
	{"cgo", []string{"-tags=withcgo"}},
	{"inflated", []string{"-ldflags=-compressdwarf=false"}},
	{"stripped", []string{"-ldflags=-s -w"}},
}

var (
	buildDir  string
	buildOnce sync.Map
)

func TestMain(m *testing.M) {
	var err error
	if buildDir, err = os.MkdirTemp("", "godwarf"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(buildDir)
	os.Exit(code)
}

// prebuilt is testdata/shapes as another Go release built it, to run the tests on that.
var prebuilt = os.Getenv("GODWARF_TEST_PREBUILT")

// fixture builds testdata/shapes in the given variant, once.
func fixture(t testing.TB, variant string) string {
	if prebuilt != "" {
		return prebuilt
	}
	f, _ := buildOnce.LoadOrStore(variant, sync.OnceValues(func() (string, error) {
		out := filepath.Join(buildDir, variant)
		for _, v := range variants {
			if v.name != variant {
				continue
			}
			args := append(append([]string{"build", "-trimpath=false", "-o", out}, v.flags...),
				"./testdata/shapes")
			cmd := exec.Command("go", args...)
			if v.name == "cgo" {
				cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
			}
			if b, err := cmd.CombinedOutput(); err != nil {
				return "", fmt.Errorf("go %s: %v\n%s", strings.Join(args, " "), err, b)
			}
			return out, nil
		}
		return "", fmt.Errorf("no variant %q", variant)
	}))
	path, err := f.(func() (string, error))()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t testing.TB, variant string) *Image {
	im, err := Open(fixture(t, variant))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { im.Close() })
	return im
}

// each runs f for every variant with debug information.
func each(t *testing.T, f func(t *testing.T, im *Image)) {
	for _, v := range variants {
		if v.name != "stripped" {
			t.Run(v.name, func(t *testing.T) { f(t, open(t, v.name)) })
		}
	}
}
