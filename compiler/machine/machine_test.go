package machine_test

import (
	"debug/elf"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo/btf"
	"github.com/gostap/gostap/compiler/machine"
)

// TestPtRegs holds the offsets against the running kernel's own description of struct pt_regs.
func TestPtRegs(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the running kernel is of another machine")
	}
	k, err := btf.Open(btf.RunningPath, nil)
	if err != nil {
		t.Skip(err)
	}
	m := machine.AMD64
	at := map[string]int{m.Syscall.NumberField: m.Syscall.Number, m.Mode.Field: m.Mode.Offset}
	for _, r := range m.Registers {
		at[r.Field] = r.Offset
	}
	if len(at) != len(m.Registers)+2 {
		t.Errorf("%d members for %d registers", len(at), len(m.Registers))
	}
	for field, off := range at {
		if got, _, err := k.MemberAt("pt_regs", field); err != nil || got != off {
			t.Errorf("%s: the kernel has it at %d (%v), not at %d", field, got, err, off)
		}
	}
}

// TestConsistent: every register that a convention names exists, and none is named twice.
func TestConsistent(t *testing.T) {
	for _, m := range machine.Machines {
		for what, list := range map[string][]int{
			"arguments of C": m.C.Args, "results of C": m.C.Results, "arguments of Go": m.Go.Args,
			"results of Go": m.Go.Results,
			"system calls":  m.Syscall.Args, "places": {m.SP, m.FP, m.IP}, "Go's own": {m.SP, m.Goroutine},
		} {
			for i, n := range list {
				if !m.General(int64(n)) || slices.Contains(list[:i], n) {
					t.Errorf("%s, %s: register %d", m.Name, what, n)
				}
			}
		}
		names := map[string]bool{}
		for n, r := range m.Registers {
			if names[r.Name] || r.Offset%int(m.WordSize) != 0 {
				t.Errorf("%s: %+v", m.Name, r)
			}
			names[r.Name] = true
			for _, s := range []string{r.Name, "%" + r.Name} {
				if got, ok := m.Number(s); !ok || got != n {
					t.Errorf("%s: %s has the number %d", m.Name, s, got)
				}
			}
			if got := m.RegName(uint64(n)); got != r.Name {
				t.Errorf("%s: %d is called %s", m.Name, n, got)
			}
		}
		if m.CanSet(int64(m.SP)) || m.CanSet(int64(m.IP)) || m.CanSet(-1) || m.CanSet(int64(m.Vector)) ||
			!m.CanSet(int64(m.C.Results[0])) {
			t.Errorf("%s: which registers may be written", m.Name)
		}
		if _, ok := m.Number("pc0"); ok {
			t.Errorf("%s has a register pc0", m.Name)
		}
	}
}

// TestForELF: files of all machines but those that are traced are refused by the machine's name.
func TestForELF(t *testing.T) {
	for _, c := range []struct {
		class elf.Class
		data  elf.Data
		m     elf.Machine
		want  string
	}{
		{elf.ELFCLASS64, elf.ELFDATA2LSB, elf.EM_AARCH64, "AArch64; this gostap traces x86-64 only"},
		{elf.ELFCLASS64, elf.ELFDATA2MSB, elf.EM_S390, "S/390, big-endian; this gostap traces x86-64 only"},
		{elf.ELFCLASS32, elf.ELFDATA2LSB, elf.EM_386, "i386, 32 bits; this gostap traces x86-64 only"},
		{elf.ELFCLASS32, elf.ELFDATA2LSB, elf.EM_X86_64, "x86-64, 32 bits; this gostap traces x86-64 only"},
		{elf.ELFCLASS64, elf.ELFDATA2LSB, elf.EM_IA_64, "IA_64; this gostap traces x86-64 only"},
		{elf.ELFCLASS64, elf.ELFDATA2LSB, 9999, "machine number 9999; this gostap traces x86-64 only"},
	} {
		if m, err := machine.ForELF(c.class, c.data, c.m); m != nil || err == nil || err.Error() != c.want {
			t.Errorf("%v %v %v: %v, %v", c.class, c.data, c.m, m, err)
		}
	}
	for n := range 1 << 16 {
		m := elf.Machine(n)
		got, err := machine.ForELF(elf.ELFCLASS64, elf.ELFDATA2LSB, m)
		if (got == nil) == (err == nil) || got != nil && got.ELF != m || strings.HasPrefix(machine.ELFName(m), "EM_") {
			t.Fatalf("%v: %v, %v", m, got, err)
		}
	}
}

// TestByArch: a machine is found by the word of scripts.
func TestByArch(t *testing.T) {
	for _, m := range machine.Machines {
		if machine.ByArch(m.Arch) != m {
			t.Errorf("%s is not found", m.Arch)
		}
	}
	if machine.ByArch("vax") != nil {
		t.Error("a machine that there is not")
	}
}

// TestHost: this process runs on a machine that is known, or gostap would not have been built for it.
func TestHost(t *testing.T) {
	if machine.Host.GOARCH != runtime.GOARCH && runtime.GOARCH == "amd64" || machine.Default != machine.Host {
		t.Errorf("%s runs on %s", machine.Host.Name, runtime.GOARCH)
	}
	m := machine.Host
	for what, ok := range map[string]bool{
		"breakpoint": len(m.Breakpoint) > 0, "code that starts programs": len(m.Exec) > 0, "decoder": m.Code != nil,
		"system calls": len(m.Calls) > 300, "makers": len(m.Syscall.Makers) > 1,
		"registers of fprobe": m.AtCall&m.AtReturn != 0 && m.PrivateStack != nil,
	} {
		if !ok {
			t.Errorf("%s: no %s", m.Name, what)
		}
	}
	for i, name := range []string{"clone", "fork", "vfork", "clone3"} {
		if c := machine.AMD64.Calls.ByName(name); int64(c.Nr) != machine.AMD64.Syscall.Makers[i] {
			t.Errorf("%s: %d", name, c.Nr)
		}
	}
}
