package session

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-kmod/internal/cgen"
	"github.com/gostap/gostap/backend-kmod/internal/stage"
	"github.com/gostap/gostap/compiler/backend/traced"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/diag/diagtest"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/irtest"
	"github.com/gostap/gostap/runtime/wire"
)

// module is a module that does nothing but note what it is told.
type module struct {
	state  int64
	done   []stage.Op
	attach error // what attaching gives, with the site in bad
	bad    int64
	files  int
	target int64
	closed int
}

func (m *module) Do(op stage.Op, glob uint32, n int64, key, val []byte) (int64, error) {
	m.done = append(m.done, op)
	switch op {
	case stage.State:
		m.state = max(m.state, n)
		return m.state, nil
	case stage.Target:
		if n == 99999999 {
			return 0, unix.ESRCH
		}
		m.target = n
	case stage.File:
		m.files++
	case stage.Attach:
		return m.bad, m.attach
	case stage.Counters:
		for i := range len(val) / 8 {
			binary.LittleEndian.PutUint64(val[8*i:], uint64(i+1))
		}
	}
	return 0, nil
}

func (m *module) Close() error { m.closed++; return nil }

func open(t *testing.T, text string, files map[string]debuginfo.FileID) (*Session, *module) {
	t.Helper()
	p := irtest.Parse(t, text)
	u, ds := cgen.Generate(p, cgen.Options{Name: "m"})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	m := &module{}
	return &Session{cfg: Config{Unit: u, Name: "m", Files: files}, m: m}, m
}

func program(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("text"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func uprobe(path string) string {
	return "probe \"p\" {\n site uprobe path=\"" + path + "\" offset=16 point=\"process.function(x)\"\nb0:\n end\n}\n"
}

func id(t *testing.T, path string) debuginfo.FileID {
	id, err := traced.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// TestNotTaken: bytes that are no module are refused by the kernel, or before it is asked.
func TestNotTaken(t *testing.T) {
	s, _ := open(t, "probe \"begin\" {\n site begin\nb0:\n end\n}\n", nil)
	s.cfg.KO = []byte("text")
	_, err := Load(t.Context(), s.cfg)
	if d := diagtest.Find(t, err, CodeLoad); d.Message == "" {
		t.Error("no words")
	}
}

// TestLife walks through a session.
func TestLife(t *testing.T) {
	path := program(t)
	s, m := open(t, uprobe(path), map[string]debuginfo.FileID{path: id(t, path)})
	if err := s.SetTarget(99999999); err == nil || !strings.Contains(err.Error(), "process 99999999 does not exist") {
		t.Errorf("%v", err)
	}
	if err := s.SetTarget(7); err != nil || m.target != 7 {
		t.Errorf("%v, target %d", err, m.target)
	}
	if err := s.Attach(context.Background()); err != nil || m.files != 1 {
		t.Fatalf("%v, %d files", err, m.files)
	}
	if r := s.Report(); len(r) != 1 || !strings.Contains(r[0], "process.function(x): uprobe at 0x10 of "+path) {
		t.Errorf("%q", r)
	}
	if err := s.SetState(wire.Running); err != nil || s.State() != wire.Running {
		t.Errorf("%v, state %v", err, s.State())
	}
	if s.Deferred(0) != nil || len(s.HostProbes()) != 0 {
		t.Error("handlers for the host")
	}
	c, err := s.Counters()
	if err != nil || len(c.ByCause) != int(ir.NumCauses) || c.ByCause[0] != 1 || c.Errors != uint64(ir.NumCauses)+1 {
		t.Errorf("%+v, %v", c, err)
	}
	if err := s.Detach(); err != nil || m.done[len(m.done)-1] != stage.Detach {
		t.Errorf("%v, %v", err, m.done)
	}
	for range 2 {
		if err := s.Close(); err != nil || m.closed != 1 {
			t.Errorf("%v, closed %d times", err, m.closed)
		}
	}
	if c, err := s.Counters(); err != nil || c.ByCause[0] != 1 {
		t.Errorf("after the end: %+v, %v", c, err)
	}
}

// TestFiles: a file that is not the one that was looked at is refused before anything is attached, and told of if
// that happens later.
func TestFiles(t *testing.T) {
	attach := func(change func(path string)) (*diag.Diagnostic, *module) {
		t.Helper()
		path := program(t)
		s, m := open(t, uprobe(path), map[string]debuginfo.FileID{path: id(t, path)})
		change(path)
		err := s.Attach(context.Background())
		d, _ := errors.AsType[*diag.Diagnostic](err)
		if err == nil || d == nil {
			t.Fatalf("%v", err)
		}
		return d, m
	}
	for what, c := range map[string]struct {
		change func(path string)
		code   diag.Code
		want   string
	}{
		"removed": {func(p string) { os.Remove(p) }, CodeAttach, "does not exist any more"},
		"folder":  {func(p string) { os.Remove(p); os.Mkdir(p, 0o755) }, CodeAttach, "not a regular file"},
		"replaced": {func(p string) { os.WriteFile(p+".new", nil, 0o755); os.Rename(p+".new", p) }, CodeReplaced,
			"inode"},
		"longer": {func(p string) { os.WriteFile(p, []byte("longer text"), 0o755) }, CodeReplaced,
			"4 bytes then, 11 now"},
		"same size": {func(p string) { os.WriteFile(p, []byte("TEXT"), 0o755) }, CodeReplaced, "written to"},
	} {
		d, m := attach(c.change)
		if d.Code != c.code || !strings.Contains(d.Message, c.want) {
			t.Errorf("%s: %s: %s", what, d.Code, d.Message)
		}
		if m.files != 0 {
			t.Errorf("%s: it was handed over", what)
		}
	}
	for want, change := range map[string]func(path string){
		"":                             func(string) {},
		"deleted while it was traced":  func(p string) { os.Remove(p) },
		"replaced while it was traced": func(p string) { os.WriteFile(p+".new", nil, 0o755); os.Rename(p+".new", p) },
		"written to while":             func(p string) { os.WriteFile(p, []byte("longer text"), 0o755) },
	} {
		path := program(t)
		s, _ := open(t, uprobe(path), nil)
		if err := s.Attach(context.Background()); err != nil {
			t.Fatal(err)
		}
		change(path)
		if w := strings.Join(s.Warnings(), "\n"); want == "" && w != "" || !strings.Contains(w, want) {
			t.Errorf("%q, not %q", w, want)
		}
	}
}

// TestRefused: what the kernel refuses is said of the site it was.
func TestRefused(t *testing.T) {
	path := program(t)
	text := uprobe(path) + "probe \"k\" {\n site kprobe symbol=\"vfs_read\" " +
		"point=\"kernel.function(vfs_read)\"\nb0:\n end\n}\n" +
		"probe \"t\" {\n site tracepoint event=\"a:b\"\nb0:\n end\n}\n"
	for _, c := range []struct {
		site int64
		err  unix.Errno
		want string
	}{
		{0, unix.Errno(524), "instruction at process.function(x)"},
		{0, unix.EIO, "file system"},
		{1, unix.EINVAL, "vfs_read"},
		{1, unix.ENOENT, "no function of that name"},
		{1, unix.EADDRNOTAVAIL, "more than one function"},
		{2, unix.ENOENT, "no tracepoint a:b"},
		{9, unix.EINVAL, "refuses the probes"},
	} {
		s, m := open(t, text, nil)
		m.bad, m.attach = c.site, c.err
		if err := s.Attach(context.Background()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("site %d, %v: %v, not %q", c.site, c.err, err, c.want)
		}
		if len(s.Report()) != 0 {
			t.Error("a report of what is not attached")
		}
	}
	s, m := open(t, strings.Replace(text, "offset=16", "offset=16 target=1", 1), nil)
	if err := s.Attach(context.Background()); err == nil || !strings.Contains(err.Error(), "no target process") ||
		len(m.done) != 0 {
		t.Errorf("%v, %v", err, m.done)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Attach(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestDeferred: a handler that was cut has its host's part here.
func TestDeferred(t *testing.T) {
	s, _ := open(t, "global st stats hist_log\nprobe \"p\" {\n site uprobe path=\"/a\" offset=16\nb0:\n printhist 0 "+
		"@st\n end\n}\n", nil)
	if s.Deferred(0) == nil || s.Deferred(1) != nil || s.Deferred(-1) != nil || len(s.Schema().Captures) != 1 {
		t.Error("no body for the record")
	}
}
