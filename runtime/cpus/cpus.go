// Package cpus reads which processors the machine has.
//
// In: the kernel's lists in /sys/devices/system/cpu (Documentation/admin-guide/cputopology.rst). Out: numbers of CPUs.
package cpus

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Online lists the CPUs that are online.
func Online() ([]int, error) { return list("online") }

// Possible is how many copies of something that each CPU has there are: one for each CPU that may ever be there.
func Possible() (int, error) {
	l, err := list("possible")
	if err != nil || len(l) == 0 {
		return 0, fmt.Errorf("count the CPUs: %v", err)
	}
	return l[len(l)-1] + 1, nil
}

func list(name string) ([]int, error) {
	b, err := os.ReadFile("/sys/devices/system/cpu/" + name)
	if err != nil {
		return nil, err
	}
	return parse(strings.TrimSpace(string(b)))
}

// parse reads "0-3,8".
func parse(s string) ([]int, error) {
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
