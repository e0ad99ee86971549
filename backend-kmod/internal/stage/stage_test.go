package stage

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/runtime/kmod"
)

// abi prints how the module's side sees a request.
const abi = `
#define GS_MAXSTR 64
#define GS_LOCKS 0
#define GS_TRIES 0
#define GS_DELAY 0
#define GS_MAXACTION 1
#define GS_MAXNESTING 1
#define GS_MAXERRORS 0
#define GS_LEVELS 1
#define GS_SPARES 0
#define GS_STACK 8
#define GS_KEYS 8
#define GS_AGG 8
#define GS_OUT 8
#include "gs_user.h"
#include <sys/ioctl.h>
static int gs_test_read(void *dst, unsigned long addr, unsigned int n, bool kernel) { (void)dst; (void)addr; (void)n; (void)kernel; return -14; }
#include "gs_access.h"
static struct gs_glob gs_globs[1];
int main(void)
{
	printf("%lu %lu %lu %lu %lu %lu %lu\n", _IOWR('g', 0x57, struct gs_op), offsetof(struct gs_op, n), offsetof(struct gs_op, key),
	       offsetof(struct gs_op, val), offsetof(struct gs_op, nkey), offsetof(struct gs_op, nval), sizeof(struct gs_op));
	printf("%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d\n", GS_OP_INFO, GS_OP_STATE, GS_OP_TARGET, GS_OP_FILE, GS_OP_ATTACH, GS_OP_DETACH, GS_OP_COUNTERS,
	       GS_OP_GET, GS_OP_SET, GS_OP_ADD, GS_OP_DELETE, GS_OP_CLEAR, GS_OP_ADDSTAT, GS_OP_ELEMS, GS_OP_LOCK, GS_OP_UNLOCK, GS_OP_RUN, GS_OP_LEFT);
	return 0;
}
`

// TestRequest: both sides see a request alike.
func TestRequest(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("gcc is not installed")
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, kmod.Headers); err != nil {
		t.Fatal(err)
	}
	os.WriteFile(dir+"/abi.c", []byte(abi), 0o644)
	gcc := exec.Command("gcc", "-w", "-o", "abi", "abi.c")
	gcc.Dir = dir
	if out, err := gcc.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(dir + "/abi").Output()
	if err != nil {
		t.Fatal(err)
	}
	var r request
	want := fmt.Sprintln(ioc, unsafe.Offsetof(r.n), unsafe.Offsetof(r.key), unsafe.Offsetof(r.val),
		unsafe.Offsetof(r.nkey), unsafe.Offsetof(r.nval), unsafe.Sizeof(r)) +
		fmt.Sprintln(Info, State, Target, File, Attach, Detach, Counters, Get, Set, Add, Delete, Clear, AddStat, Elems,
			Lock, Unlock, Run, Left)
	if string(out) != want {
		t.Errorf("the module has\n%sthis side\n%s", out, want)
	}
}

// TestExplain: what the kernel refuses is said in words, with what to do.
func TestExplain(t *testing.T) {
	for err, want := range map[error][2]string{
		unix.EEXIST:       {"named m is loaded already", "-m"},
		unix.EPERM:        {"not permitted", "root"},
		unix.EKEYREJECTED: {"signed modules only", "--runtime=bpf"},
		unix.ENOEXEC:      {"does not belong to this kernel", "headers"},
		unix.ENOMEM:       {"not enough kernel memory", "MAXMAPENTRIES"},
		unix.ENOSYS:       {"no support for loadable modules", "--runtime=bpf"},
		unix.ENOENT:       {"does not export", "dmesg"},
		unix.EIO:          {"refuses module m: input/output error", ""},
	} {
		e, ok := errors.AsType[*Error](explain(err, "m"))
		if !ok || !strings.Contains(e.Msg, want[0]) || !errors.Is(e, err) {
			t.Errorf("%v: %v", err, e)
		} else if !strings.Contains(e.Hint, want[1]) && err != unix.EPERM {
			t.Errorf("%v: hint %q", err, e.Hint)
		}
	}
}

// TestHolder: who has a name already is told apart by what /proc and /sys show of it.
func TestHolder(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"proc", "sys/module/random", "sys/module/mine", "sys/module/ext4"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"proc/gostap.mine", "sys/module/mine/initstate", "sys/module/ext4/initstate"} {
		if err := os.WriteFile(filepath.Join(root, file), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"mine": "gostap", "ext4": "module", "random": "kernel", "free": ""} {
		if got := holder(name, root); got != want {
			t.Errorf("%s is held by %q, not %q", name, got, want)
		}
	}
}

// TestLoadRefused: bytes that are no module, or a kernel without modules, are an Error, and nothing is left.
func TestLoadRefused(t *testing.T) {
	m, err := Load([]byte("not a module"), "gostap_test", 0, nil)
	if err == nil {
		m.Close()
		t.Fatal("it was loaded")
	}
	if _, ok := errors.AsType[*Error](err); !ok {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat("/proc/gostap.gostap_test"); err == nil {
		t.Error("a control file is there")
	}
}

// TestClosed: a module whose control file is closed answers with an error.
func TestClosed(t *testing.T) {
	m := &Module{Name: "gostap_test"}
	if _, err := m.Do(Info, 0, 0, nil, make([]byte, 16)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("%v", err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

// TestForeignFile: a file that is no control file refuses the operations.
func TestForeignFile(t *testing.T) {
	f, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	m := &Module{file: f}
	if _, err := m.Do(Get, 0, 0, make([]byte, 8), make([]byte, 8)); err != unix.ENOTTY {
		t.Errorf("%v", err)
	}
	m.Close()
}

func TestTainted(t *testing.T) {
	if s := Tainted(0); s != "" {
		t.Errorf("%q", s)
	}
	if s := Tainted(taintOutside | taintUnsigned); s == "" {
		t.Error("nothing is said of a module's marks")
	}
}

// TestLeft: what nobody uses and has the control file of a gostap module was left by a tracer that was killed.
func TestLeft(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(root+"/proc", 0o755); err != nil {
		t.Fatal(err)
	}
	modules := "mine 16384 0 - Live 0xffffffffc0000000 (OE)\nused 16384 1 - Live 0xffffffffc0000000 (OE)\nnew 16384 " +
		"0 - Loading 0xffffffffc0000000 (OE)\n" +
		"ext4 16384 0 - Live 0xffffffffc0000000\ngostap_12 16384 0 - Live 0x0000000000000000 (OE)\nshort\n"
	for name, text := range map[string]string{"modules": modules, "gostap.mine": "", "gostap.used": "",
		"gostap.new": "", "gostap.gostap_12": "", "gostap.gone": ""} {
		if err := os.WriteFile(root+"/proc/"+name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Join(left(root), " "); got != "mine gostap_12" {
		t.Errorf("left: %s", got)
	}
	if got := left(root + "/nowhere"); got != nil {
		t.Errorf("left: %v", got)
	}
}
