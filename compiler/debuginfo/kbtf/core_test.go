package kbtf

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gostap/gostap/compiler/debuginfo/btf"
)

func running(t testing.TB) (*Kernel, *Scope) {
	t.Helper()
	if _, err := os.Stat("/sys/kernel/btf/vmlinux"); err != nil {
		t.Skip("the running kernel has no BTF: ", err)
	}
	k := New(Config{})
	s, err := k.Kernel()
	if err != nil {
		t.Fatal(err)
	}
	return k, s
}

// TestRunningKernel asks for things that have been the same in all kernels with BTF.
func TestRunningKernel(t *testing.T) {
	_, s := running(t)
	p, err := s.FuncProto("vfs_read")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range p.Params {
		got = append(got, x.Type.Name+" "+x.Name)
	}
	if want := "struct file * file, char * buf, size_t count, loff_t * pos"; strings.Join(got, ", ") != want {
		t.Errorf("vfs_read(%s), want %s", strings.Join(got, ", "), want)
	}
	if p.Result.Name != "ssize_t" || !p.Result.Signed || p.Result.Size != 8 {
		t.Errorf("vfs_read returns %+v", p.Result)
	}
	ts, err := s.Type("struct task_struct")
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string]string{}
	for _, f := range ts.Fields() {
		fields[f.Name] = fmt.Sprintf("%s %d", f.Type.Name, f.Type.Size)
	}
	for name, want := range map[string]string{"pid": "pid_t 4", "comm": "char[16] 16", "mm": "struct mm_struct * 8"} {
		if fields[name] != want {
			t.Errorf("task_struct has %s as %q, want %q", name, fields[name], want)
		}
	}
	if v, of, ok := s.Enumerator("PIDTYPE_TGID"); !ok || v != 1 || of.Name != "enum pid_type" {
		t.Errorf("PIDTYPE_TGID is %d of %v", v, of)
	}
	if p, err := s.TypedefProto("btf_trace_sched_switch"); err != nil || len(p.Params) < 4 ||
		p.Params[2].Type.Name != "struct task_struct *" {
		t.Errorf("btf_trace_sched_switch: %+v %v", p, err)
	}
}

func TestRunningSymbols(t *testing.T) {
	k, _ := running(t)
	syms, err := k.Symbols()
	if err != nil {
		t.Skip("no symbols: ", err)
	}
	at := syms.Named("vfs_read")
	if len(at) != 1 || !at[0].Code() || !at[0].Global() || at[0].Module != "" {
		t.Fatalf("vfs_read: %+v", at)
	}
	i := 0
	syms.Each(func(x Symbol) bool {
		if i++; i%3000 == 0 {
			searched(t, syms, x.Name)
			searched(t, syms, x.Name[:len(x.Name)/2+1])
		}
		return true
	})
	if syms.Hidden() {
		t.Skip("this user may not see addresses")
	}
	found, end := syms.At(at[0].Addr + 1)
	if len(found) == 0 || found[0].Addr != at[0].Addr || end <= at[0].Addr {
		t.Errorf("at vfs_read+1: %+v, end %#x", found, end)
	}
}

func BenchmarkOpenAndProto(b *testing.B) {
	running(b)
	b.ReportAllocs()
	for range b.N {
		x, err := btf.Open(btf.RunningPath, nil)
		if err != nil {
			b.Fatal(err)
		}
		k := New(Config{})
		k.main = &Scope{k: k, b: x}
		if _, err := k.main.FuncProto("vfs_read"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkNamed looks for one function; a search for it with the space in front is the ratio's other side.
func BenchmarkNamed(b *testing.B) {
	k, _ := running(b)
	syms, err := k.Symbols()
	if err != nil {
		b.Skip(err)
	}
	took := map[string]time.Duration{}
	for range b.N {
		for how, find := range map[string]func(){
			"search": func() { syms.search("do_sys_openat2", func(string) bool { return true }) },
			"index":  func() { bytes.Count(syms.text, []byte(" do_sys_openat2")) },
		} {
			start := time.Now()
			find()
			took[how] += time.Since(start)
		}
	}
	b.ReportMetric(took["search"].Seconds()*1e6/float64(b.N), "us")
	b.ReportMetric(float64(took["search"])/float64(took["index"]), "of-bytes.Index")
}

func BenchmarkSymbols(b *testing.B) {
	for range b.N {
		if _, err := New(Config{}).Symbols(); err != nil {
			b.Skip(err)
		}
	}
}
