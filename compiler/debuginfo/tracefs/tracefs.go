// Package tracefs reads the kernel's list of trace events and the formats of their
// records (Documentation/trace/events.rst).
//
// In: the file system at /sys/kernel/tracing or /sys/kernel/debug/tracing; where nobody has mounted it and the caller
// may, a mount of its own that stands in no directory. Out: names "system:event", and fields.
package tracefs

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrNone says that there is no readable tracefs.
var ErrNone = errors.New("tracefs is not mounted, or not readable")

// FS is a tracefs. Nothing is kept open.
type FS struct {
	dir   string
	mount int // descriptor of a mount of our own, -1 if none
}

// mounts are where tracefs usually is.
var mounts = []string{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}

// Open finds the tracefs. The error wraps ErrNone if there is none that can be read.
func Open() (*FS, error) { return OpenAt(mounts...) }

// OpenAt is Open with other places to look at; without places only a mount of its own is tried.
func OpenAt(dirs ...string) (*FS, error) {
	for _, d := range dirs {
		if f, err := os.Open(filepath.Join(d, "available_events")); err == nil {
			f.Close()
			return &FS{dir: d, mount: -1}, nil
		}
	}
	fd, err := detached()
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrNone, err)
	}
	return &FS{dir: fmt.Sprintf("/proc/self/fd/%d", fd), mount: fd}, nil
}

// detached mounts tracefs nowhere: only this descriptor leads into it.
func detached() (int, error) {
	fs, err := unix.Fsopen("tracefs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, err
	}
	defer unix.Close(fs)
	const create = 6 // FSCONFIG_CMD_CREATE of include/uapi/linux/mount.h
	if _, _, e := unix.Syscall6(unix.SYS_FSCONFIG, uintptr(fs), create, 0, 0, 0, 0); e != 0 {
		return -1, e
	}
	return unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_RDONLY)
}

// Close gives a mount of its own back.
func (t *FS) Close() {
	if t.mount >= 0 {
		unix.Close(t.mount)
		t.mount = -1
	}
}

// Events lists all events as "system:event", in the kernel's order.
func (t *FS) Events() ([]string, error) {
	b, err := os.ReadFile(filepath.Join(t.dir, "available_events"))
	if err != nil {
		return nil, err
	}
	var out []string
	for line := range bytes.Lines(b) {
		if s := string(bytes.TrimSpace(line)); strings.Contains(s, ":") {
			out = append(out, s)
		}
	}
	return out, nil
}

// Has reports whether there is the event.
func (t *FS) Has(system, event string) bool {
	if !plain(system) || !plain(event) {
		return false
	}
	_, err := os.Stat(filepath.Join(t.dir, "events", system, event, "format"))
	return err == nil
}

// ID gives the event's number, which perf_event_open(2) wants in the config of a PERF_TYPE_TRACEPOINT.
func (t *FS) ID(system, event string) (uint64, error) {
	if !plain(system) || !plain(event) {
		return 0, fmt.Errorf("%s:%s: %w", system, event, os.ErrNotExist)
	}
	b, err := os.ReadFile(filepath.Join(t.dir, "events", system, event, "id"))
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(string(bytes.TrimSpace(b)), 10, 64)
}

// Tprobes reports whether events can be defined at tracepoints (Documentation/trace/fprobetrace.rst).
func (t *FS) Tprobes() bool {
	b, err := os.ReadFile(filepath.Join(t.dir, "README"))
	return err == nil && bytes.Contains(b, []byte("t[:"))
}

// plain reports whether s can be the name of a directory of events.
func plain(s string) bool {
	return s != "" && s != "." && s != ".." && !strings.ContainsAny(s, "/\x00")
}

// Field is a field of an event's record.
type Field struct {
	Name, Type string // "prev_comm" and "char[16]", in C
	Off, Size  int    // bytes
	Signed     bool
}

// Format gives the fields of an event's record, those that all events have left out.
func (t *FS) Format(system, event string) ([]Field, error) {
	if !plain(system) || !plain(event) {
		return nil, os.ErrNotExist
	}
	b, err := os.ReadFile(filepath.Join(t.dir, "events", system, event, "format"))
	if err != nil {
		return nil, err
	}
	return ParseFormat(b), nil
}

// ParseFormat reads a format file. Lines that are none of fields are passed over.
func ParseFormat(b []byte) []Field {
	var out []Field
	sc := bufio.NewScanner(bytes.NewReader(b))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		decl, rest, ok := strings.Cut(strings.TrimSpace(sc.Text()), ";")
		decl, found := strings.CutPrefix(decl, "field:")
		if !ok || !found {
			continue
		}
		f := Field{}
		bad := false
		for _, kv := range strings.Split(rest, ";") {
			k, v, _ := strings.Cut(strings.TrimSpace(kv), ":")
			n, err := strconv.Atoi(v)
			if k != "" && (err != nil || n < 0) {
				bad = true
			}
			switch k {
			case "offset":
				f.Off = n
			case "size":
				f.Size = n
			case "signed":
				f.Signed = n != 0
			}
		}
		array := ""
		if i := strings.IndexByte(decl, '['); i >= 0 {
			decl, array = decl[:i], decl[i:]
		}
		i := strings.LastIndexAny(decl, " *")
		if bad || i < 0 || i == len(decl)-1 {
			continue
		}
		f.Name, f.Type = decl[i+1:], strings.TrimSpace(decl[:i+1])+array
		if !strings.HasPrefix(f.Name, "common_") {
			out = append(out, f)
		}
	}
	return out
}
