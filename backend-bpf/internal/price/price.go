// Package price measures what it costs to get to a probe in a program on this machine.
//
// In: a folder for what is kept until the next boot. Out: the time that a hit takes, without what a handler does,
// where the kernel emulates the instruction and where it single-steps it. It takes some milliseconds, so it is
// asked where much depends on it only.
package price

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/attach"
	"github.com/gostap/gostap/backend-bpf/internal/features"
	"github.com/gostap/gostap/backend-bpf/internal/load"
	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/backend/traced"
	"github.com/gostap/gostap/compiler/cachefile"
	"github.com/gostap/gostap/compiler/trusted"
)

// least and most bound what is believed: a trap is never that quick, and a hit never takes that long.
const least, most = 20 * time.Nanosecond, 10 * time.Millisecond

// Of gives the prices of this machine: those that an earlier run has measured since the machine was booted and left
// in the folder, or new ones. With "" for the folder nothing is kept.
func Of(folder string) (backend.Prices, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if folder == "" || err != nil {
		return measure()
	}
	path, id := filepath.Join(folder, "prices"), strings.TrimSpace(string(boot))
	if text, err := trusted.ReadFile(path, 1<<10); err == nil {
		if p, ok := parse(string(text), id); ok {
			return p, nil
		}
	}
	p, err := measure()
	if err == nil && trusted.Dir(folder) == nil {
		cachefile.Write(path, []byte(format(p, id)))
	}
	return p, err
}

const heading = "gostap prices 1"

func format(p backend.Prices, boot string) string {
	return fmt.Sprintf("%s\n%s\n%d %d\n", heading, boot, p.Emulated.Nanoseconds(), p.Stepped.Nanoseconds())
}

func parse(text, boot string) (p backend.Prices, ok bool) {
	var emulated, stepped int64
	rest, ok := strings.CutPrefix(text, heading+"\n"+boot+"\n")
	if n, err := fmt.Sscanf(rest, "%d %d\n", &emulated, &stepped); !ok || err != nil || n != 2 {
		return p, false
	}
	p = backend.Prices{Emulated: time.Duration(emulated), Stepped: time.Duration(stepped)}
	return p, sound(p)
}

func sound(p backend.Prices) bool {
	return p.Emulated >= least && p.Emulated <= most && p.Stepped >= least && p.Stepped <= most
}

// measure probes two functions of this program that do nothing, and calls them.
func measure() (p backend.Prices, err error) {
	if !measured {
		return p, errors.New("what a hit costs is not measured on " + runtime.GOARCH)
	}
	nop, ret, err := places()
	if err != nil {
		return p, err
	}
	multi := features.Has(features.UprobeMulti) && features.Has(features.UprobeMultiPID)
	spec := &ebpf.ProgramSpec{Type: ebpf.Kprobe, Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()},
		License: "GPL"}
	if multi {
		spec.AttachType = ebpf.AttachTraceUprobeMulti
	}
	col, err := load.Load(&ebpf.CollectionSpec{Programs: map[string]*ebpf.ProgramSpec{"gostap_price": spec}},
		load.Options{})
	if err != nil {
		return p, err
	}
	defer col.Close()
	const self = "/proc/self/exe"
	id, err := traced.Stat(self)
	if err != nil {
		return p, err
	}
	f, err := attach.OpenFile(self, id)
	if err != nil {
		return p, err
	}
	defer f.Close()
	var s attach.Set
	defer s.Detach()
	err = s.Uprobes(&attach.Uprobes{Prog: col.Progs["gostap_price"].FD(), File: f, PID: os.Getpid(), Multi: multi,
		Sites: []attach.Site{{Offset: nop, Name: "nop"}, {Offset: ret, Name: "ret"}}})
	if err != nil {
		return p, err
	}
	p = backend.Prices{Emulated: timed(atNop), Stepped: timed(atRet)}
	if !sound(p) {
		return backend.Prices{}, fmt.Errorf("the prices of %v and %v are not believed", p.Emulated, p.Stepped)
	}
	return p, nil
}

// timed gives the time of a call: the best of some batches, since somebody else may have the CPU for a while.
func timed(call func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const batches, calls = 10, 100
	best := time.Hour
	for range batches {
		start := time.Now()
		for range calls {
			call()
		}
		best = min(best, time.Since(start)/calls)
	}
	return best
}

// places gives the offsets of the two functions' first instructions in this program's file.
func places() (nop, ret uint64, err error) {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return 0, 0, err
	}
	offset := func(addr uint64) (uint64, error) {
		for line := range strings.Lines(string(maps)) {
			var lo, hi, off uint64
			var rights string
			if n, _ := fmt.Sscanf(line, "%x-%x %s %x", &lo, &hi, &rights, &off); n == 4 && addr >= lo && addr < hi {
				return addr - lo + off, nil
			}
		}
		return 0, errors.New("this program's own code is in no mapping")
	}
	if nop, err = offset(addressNop()); err == nil {
		ret, err = offset(addressRet())
	}
	return nop, ret, err
}
