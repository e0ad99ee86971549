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
