package tests

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// examples is where the package systemtap-doc has the scripts that SystemTap ships, each with a .meta file whose line
// test_check says how it is translated.
const examples = "/usr/share/systemtap/examples"

// elsewhere are the codes of errors that examples may end with: what they name is not on this machine or in this
// kernel, or cannot be in eBPF, or is one of the things that docs/language.md says are not there.
var elsewhere = []string{"no-match", "target", "embedded-c", "bpf-write", "bpf-verdict", "bpf-packets",
	"probe-refused"}

// otherwise are the examples with another end: a tapset that does not come with SystemTap, a function that is refused,
// an argument that the shell does not find.
var otherwise = map[string]string{"gmalloc_watch": "probe-form", "numa_faults": "unresolved-function",
	"hw_watch_addr": "bad-number", "nfsd-recent": "no-alias"} // the last: where the module nfsd is not loaded

// TestExamples: no example is refused because the language or the library lacks something.
func TestExamples(t *testing.T) {
	metas, err := filepath.Glob(examples + "/*/*.meta*")
	if err != nil || len(metas) == 0 {
		t.Skip("not installed: systemtap-doc")
	}
	dir := t.TempDir()
	stap := `for a do shift; case $a in -p4) a=-p3;; -gp4) a=-gp3;; esac; set -- "$@" "$a"; done
exec ` + bin(t, "gostap") + ` --runtime=bpf -v "$@"`
	if err := os.WriteFile(filepath.Join(dir, "stap"), []byte("#!/bin/sh\n"+stap+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile(`error: .*\[([a-z-]+)\]\n`)
	good, all := 0, 0
	every := 4 // so that the test takes some seconds
	if os.Getenv("GOSTAP_ORACLE") == "full" {
		every = 1
	}
	for i, meta := range metas {
		if i%every != 0 {
			continue
		}
		check := checkOf(t, meta)
		if !strings.Contains(check, "stap ") {
			continue
		}
		all++
		cmd := exec.Command("sh", "-c", check)
		cmd.Dir = filepath.Dir(meta)
		cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "NO_COLOR=1")
		var said bytes.Buffer
		cmd.Stderr = &said
		if cmd.Run() == nil {
			good++
			continue
		}
		name, _, _ := strings.Cut(filepath.Base(meta), ".")
		for _, m := range code.FindAllStringSubmatch(said.String(), -1) {
			if !slices.Contains(elsewhere, m[1]) && otherwise[name] != m[1] {
				t.Errorf("%s: %s\n%s", name, check, said.String())
				break
			}
		}
		if strings.Contains(said.String(), "internal error") {
			t.Errorf("%s: %s", name, said.String())
		}
	}
	t.Logf("%d of %d examples are translated", good, all)
}

// checkOf gives the command of a .meta file, which may be compressed, "" if there is none.
func checkOf(t *testing.T, meta string) string {
	t.Helper()
	f, err := os.Open(meta)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(meta, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	_, check, _ := strings.Cut(string(text), "\ntest_check:")
	check, _, _ = strings.Cut(check, "\n")
	return strings.TrimSpace(check)
}
