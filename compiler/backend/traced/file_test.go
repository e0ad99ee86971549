package traced

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
)

func write(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("program"), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "prog")
	write(t, path)
	id, err := Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	open := func(path string, want debuginfo.FileID) error {
		fd, f, err := Open(path, unix.O_PATH, want)
		if (err == nil) != (fd >= 0) {
			t.Errorf("descriptor %d with error %v", fd, err)
		}
		if err == nil {
			if f.Path != path || want != (debuginfo.FileID{}) && f.ID != want {
				t.Errorf("it is %+v", f)
			}
			unix.Close(fd)
		} else if !strings.HasPrefix(err.Error(), "cannot probe "+path+": ") {
			t.Errorf("the error does not say where: %v", err)
		}
		return err
	}
	if err := open(path, id); err != nil {
		t.Fatal(err)
	}
	if err := open(path, debuginfo.FileID{}); err != nil {
		t.Fatal(err)
	}
	os.Remove(path)
	if err := open(path, id); err == nil || !strings.Contains(err.Error(), "does not exist any more") {
		t.Errorf("removed: %v", err)
	}
	write(t, path)
	id, _ = Stat(path)
	write(t, path+".new")
	os.Rename(path+".new", path)
	if err := open(path, id); !errors.Is(err, ErrReplaced) || !strings.Contains(err.Error(), "inode") {
		t.Errorf("replaced: %v", err)
	}
	id, _ = Stat(path)
	later := time.Now().Add(time.Hour)
	os.Chtimes(path, later, later)
	if err := open(path, id); !errors.Is(err, ErrReplaced) || !strings.Contains(err.Error(), "it was written to") {
		t.Errorf("touched: %v", err)
	}
	if err := open(dir, debuginfo.FileID{}); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a directory: %v", err)
	}
}

// TestNoExec: a file on a mount from which nothing runs is noticed.
func TestNoExec(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("none", dir, "tmpfs", unix.MS_NOEXEC, ""); err != nil {
		t.Skip(err)
	}
	defer unix.Unmount(dir, unix.MNT_DETACH)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir+"/prog")
	for path, want := range map[string]bool{exe: false, dir + "/prog": true} {
		fd, f, err := Open(path, unix.O_RDONLY, debuginfo.FileID{})
		if err != nil {
			t.Fatal(err)
		}
		unix.Close(fd)
		if f.NoExec != want {
			t.Errorf("%s: NoExec %v", path, f.NoExec)
		}
		if w := f.Warnings(); want != (len(w) == 1 && strings.Contains(w[0], "noexec")) {
			t.Errorf("%s: warnings %q", path, w)
		}
	}
}

func TestWarnings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prog")
	for _, c := range []struct {
		change func()
		want   string
	}{
		{func() {}, ""},
		{func() { os.Remove(path) }, "was deleted while"},
		{func() { write(t, path+".new"); os.Rename(path+".new", path) }, "was replaced while"},
		{func() { os.WriteFile(path, []byte("another"), 0o755); os.Chtimes(path, time.Time{}, time.Unix(1, 0)) },
			"was written to while"},
	} {
		write(t, path)
		id, err := Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		f := File{Path: path, ID: id, All: true}
		c.change()
		w := f.Warnings()
		if c.want == "" && len(w) != 0 || c.want != "" && (len(w) != 1 || !strings.HasPrefix(w[0], path+" "+c.want)) {
			t.Errorf("want %q, got %q", c.want, w)
		}
		if f.All = false; len(f.Warnings()) != 0 {
			t.Error("a file of one process is warned about")
		}
	}
}

// image knows what file it read.
type image struct {
	debuginfo.Image
	id debuginfo.FileID
}

func (i image) FileID() debuginfo.FileID { return i.id }

func TestIdentify(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prog")
	write(t, path)
	now, err := Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	was := debuginfo.FileID{Ino: 1}
	p := &ir.Program{Probes: []*ir.Probe{{Sites: []*probe.Site{{Program: probe.ProgramPart{Path: path}}, {},
		{Program: probe.ProgramPart{Path: path + ".gone"}}}}}}
	if got := Identify(p); len(got) != 1 || got[path] != now {
		t.Errorf("got %v", got)
	}
	p.Probes[0].Sites = append(p.Probes[0].Sites, &probe.Site{Program: probe.ProgramPart{Path: path},
		Image: image{id: was}})
	if got := Identify(p); got[path] != was {
		t.Errorf("what was read is %v", got)
	}
	slices.Reverse(p.Probes[0].Sites)
	if got := Identify(p); got[path] != was {
		t.Errorf("the other way round it is %v", got)
	}
}

func TestNeedsTarget(t *testing.T) {
	s := &probe.Site{Kind: probe.Uprobe, Program: probe.ProgramPart{Target: true}}
	if err := NeedsTarget(s, 0); err == nil || !strings.HasPrefix(err.Error(), "uprobe: there is no target process") {
		t.Errorf("%v", err)
	}
	if NeedsTarget(s, 7) != nil || NeedsTarget(&probe.Site{}, 0) != nil {
		t.Error("refused without need")
	}
}

func TestListed(t *testing.T) {
	const text = "0xffffffff81000000-0xffffffff81000010\tnmi_enter\n\nnoise\n0xffffffffc0000000-0xffffffffc0000010" +
		"\tmod_fn\n"
	for symbol, want := range map[string]bool{"nmi_enter": true, "some:mod_fn": true, "vfs_read": false,
		"0xffffffff81000000-0xffffffff81000010": false, "": false} {
		if listed(text, symbol) != want {
			t.Errorf("%q: %v", symbol, !want)
		}
	}
}
