package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSwitchFile: the script says where the output goes on, with and without files that become full.
func TestSwitchFile(t *testing.T) {
	script := `probe begin { println("one") switch_file() println("two") } probe end { switch_file() println("three") }
		probe begin(1) { exit() }`
	for _, turned := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "out")
		args := []string{"--runtime=host", "-o", path, "-e", script}
		names := []string{path, path + ".1", path + ".2"}
		if turned {
			args = append([]string{"-S", "1"}, args...)
			names[0] = path + ".0"
		}
		var said bytes.Buffer
		if status := Run(args, Streams{In: strings.NewReader(""), Out: &said, Err: &said}, nil); status != 0 {
			t.Fatal(said.String())
		}
		for i, want := range []string{"one\n", "two\n", "three\n"} {
			if got, err := os.ReadFile(names[i]); err != nil || string(got) != want {
				t.Errorf("%s: %q %v, want %q", names[i], got, err, want)
			}
		}
		if files, _ := filepath.Glob(path + "*"); len(files) != 3 {
			t.Errorf("files %q", files)
		}
	}
	var said bytes.Buffer
	if status := Run([]string{"--runtime=host", "-e", script}, Streams{In: strings.NewReader(""), Out: &said,
		Err: &said}, nil); status != 0 || said.String() != "one\ntwo\nthree\n" {
		t.Errorf("without -o: %s", said.String())
	}
}
