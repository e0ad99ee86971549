package tracefs

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

const getpeername = `name: sys_enter_getpeername
ID: 1
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:int __syscall_nr;	offset:8;	size:4;	signed:1;
	field:int fd;	offset:16;	size:8;	signed:0;
	field:struct sockaddr * usockaddr;	offset:24;	size:8;	signed:0;
	field:char comm[16];	offset:32;	size:16;	signed:0;

print fmt: "fd: 0x%08lx", ((unsigned long)(REC->fd))
`

func TestParseFormat(t *testing.T) {
	want := []Field{{"__syscall_nr", "int", 8, 4, true}, {"fd", "int", 16, 8, false},
		{"usockaddr", "struct sockaddr *", 24, 8, false}, {"comm", "char[16]", 32, 16, false}}
	if got := ParseFormat([]byte(getpeername)); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func FuzzParseFormat(f *testing.F) {
	f.Add([]byte(getpeername))
	f.Add([]byte("field:;offset:1;\nfield: ;\nfield:a[;offset:-1;size:99999999999999999999;\nfield:a b"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, f := range ParseFormat(b) {
			if f.Name == "" || f.Off < 0 || f.Size < 0 {
				t.Errorf("%+v", f)
			}
		}
	})
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	os.MkdirAll(filepath.Join(dir, "events", "a", "b"), 0o755)
	os.WriteFile(filepath.Join(dir, "events", "a", "b", "format"), []byte(getpeername), 0o644)
	os.WriteFile(filepath.Join(dir, "available_events"), []byte("a:b\nc:d\n\n"), 0o644)
	fs, err := OpenAt(filepath.Join(dir, "none"), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer fs.Close()
	if ev, err := fs.Events(); err != nil || strings.Join(ev, " ") != "a:b c:d" {
		t.Errorf("%v, %v", ev, err)
	}
	if !fs.Has("a", "b") || fs.Has("a", "c") || fs.Has("..", "a/b") {
		t.Error("Has")
	}
	if fields, err := fs.Format("a", "b"); err != nil || len(fields) != 4 {
		t.Errorf("%v, %v", fields, err)
	}
}

// TestDetached looks at the kernel's own through a mount that stands nowhere.
func TestDetached(t *testing.T) {
	fs, err := OpenAt()
	if errors.Is(err, ErrNone) {
		t.Skip("no permission to mount tracefs: ", err)
	}
	defer fs.Close()
	if !fs.Has("sched", "sched_switch") {
		t.Error("no sched:sched_switch")
	}
	ev, err := fs.Events()
	if err != nil || len(ev) < 100 {
		t.Errorf("%d events, %v", len(ev), err)
	}
	mounts, _ := os.ReadFile("/proc/self/mounts")
	if n := strings.Count(string(mounts), " tracefs "); n > 2 {
		t.Errorf("%d mounts of tracefs", n)
	}
}
