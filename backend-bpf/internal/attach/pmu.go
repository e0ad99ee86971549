package attach

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
)

// pmu is the kernel's perf unit for uprobes or for kprobes.
type pmu struct {
	typ    uint32
	retBit uint // bit of config that asks for a return probe
}

// ErrNoUprobes says that the kernel has no uprobes to attach to.
var ErrNoUprobes = errors.New("this kernel has no uprobes (CONFIG_UPROBE_EVENTS), or sysfs is not mounted")

var uprobePMU = sync.OnceValues(func() (*pmu, error) {
	p, err := readPMU("uprobe")
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrNoUprobes, err)
	}
	return p, nil
})

func readPMU(name string) (*pmu, error) {
	dir := "/sys/bus/event_source/devices/" + name + "/"
	t, err := os.ReadFile(dir + "type")
	if err != nil {
		return nil, err
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(t)), 10, 32)
	if err != nil {
		return nil, err
	}
	p := &pmu{typ: uint32(n)}
	if f, err := os.ReadFile(dir + "format/retprobe"); err == nil {
		if bit, ok := strings.CutPrefix(strings.TrimSpace(string(f)), "config:"); ok {
			if b, err := strconv.ParseUint(bit, 10, 6); err == nil {
				p.retBit = uint(b)
			}
		}
	}
	return p, nil
}

// OnlineCPUs lists the CPUs that are online.
func OnlineCPUs() ([]int, error) { return cpuList("/sys/devices/system/cpu/online") }

func cpuList(path string) ([]int, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseCPUs(strings.TrimSpace(string(b)))
}

// parseCPUs reads "0-3,8".
func parseCPUs(s string) ([]int, error) {
	var out []int
	for _, part := range strings.Split(s, ",") {
		lo, hi, ok := strings.Cut(part, "-")
		if !ok {
			hi = lo
		}
		a, err1 := strconv.Atoi(lo)
		b, err2 := strconv.Atoi(hi)
		if err1 != nil || err2 != nil || a < 0 || b < a || b > 1<<16 {
			return nil, fmt.Errorf("CPU list %q: not of the form 0-3,8", s)
		}
		for c := a; c <= b; c++ {
			out = append(out, c)
		}
	}
	return out, nil
}

// PossibleCPUs is how many copies per-CPU maps have: one for each CPU that may ever be there.
func PossibleCPUs() (int, error) {
	l, err := cpuList("/sys/devices/system/cpu/possible")
	if err != nil || len(l) == 0 {
		return 0, fmt.Errorf("count the CPUs: %v", err)
	}
	return l[len(l)-1] + 1, nil
}
