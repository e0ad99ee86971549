package price

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gostap/gostap/compiler/backend"
)

// TestMeasure: a hit takes longer than no hit, and one that is single-stepped no less than half of one that is not.
func TestMeasure(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: attaches BPF programs")
	}
	bare := timed(atRet)
	start := time.Now()
	p, err := measure()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("emulated %v, single-stepped %v, a call %v; measured in %v", p.Emulated, p.Stepped, bare, time.Since(start))
	if p.Emulated <= bare || p.Stepped <= bare || p.Stepped < p.Emulated/2 {
		t.Errorf("emulated %v, single-stepped %v, a call %v", p.Emulated, p.Stepped, bare)
	}
}

// TestKept: what an earlier run measured is taken, unless it is of another boot, damaged, or may be somebody else's.
func TestKept(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: attaches BPF programs")
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Skip(err)
	}
	id := string(boot[:len(boot)-1])
	dir := t.TempDir()
	first, err := Of(dir)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "prices")
	if got, err := Of(dir); got != first || err != nil {
		t.Errorf("%v, then %v, %v", first, got, err)
	}
	mark := backend.Prices{Emulated: 5 * time.Millisecond, Stepped: 6 * time.Millisecond}
	for _, c := range []struct {
		text string
		mode os.FileMode
		kept bool
	}{
		{format(mark, id), 0o600, true},
		{format(mark, id), 0o666, false},
		{format(mark, "0"+id[1:]+"x"), 0o600, false},
		{format(backend.Prices{Emulated: 1, Stepped: 2}, id), 0o600, false},
		{format(mark, id)[:20], 0o600, false},
		{"", 0o600, false},
	} {
		os.Remove(path)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		os.Chmod(path, c.mode)
		if got, err := Of(dir); err != nil || (got == mark) != c.kept {
			t.Errorf("%q with mode %o: %v, %v", c.text, c.mode, got, err)
		}
	}
}

func FuzzKept(f *testing.F) {
	f.Add(format(backend.Prices{Emulated: 1000, Stepped: 2000}, "boot"))
	f.Fuzz(func(t *testing.T, text string) {
		if p, ok := parse(text, "boot"); ok && !sound(p) {
			t.Errorf("%q: %v", text, p)
		}
	})
}
