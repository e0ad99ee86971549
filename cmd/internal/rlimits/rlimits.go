// Package rlimits has the options --rlimit-as, --rlimit-cpu and others, which bound what gostap and the programs that
// it starts may use (getrlimit(2)).
//
// In: a flag set, values. Out: limits of the process.
package rlimits

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"
)

var known = []struct {
	name string
	what int
}{
	{"rlimit-as", unix.RLIMIT_AS}, {"rlimit-cpu", unix.RLIMIT_CPU}, {"rlimit-nproc", unix.RLIMIT_NPROC},
	{"rlimit-stack", unix.RLIMIT_STACK}, {"rlimit-fsize", unix.RLIMIT_FSIZE},
}

// Limits are those that were asked for.
type Limits []limit

// limit is one --rlimit-*=N.
type limit struct {
	name string
	what int
	max  uint64
}

// Add adds the options to fs, which are gathered in l.
func (l *Limits) Add(fs *pflag.FlagSet) {
	for _, k := range known {
		fs.Var(value{l, k.name, k.what}, k.name, "")
	}
}

type value struct {
	to   *Limits
	name string
	what int
}

func (v value) Set(s string) error {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return fmt.Errorf("%q is no number", s)
	}
	*v.to = append(*v.to, limit{v.name, v.what, n})
	return nil
}
func (value) Type() string   { return "int" }
func (value) String() string { return "" }

// ownSpace is the address space in bytes that a session takes beside what the program has when it starts: tables,
// threads, the mapped buffers of the kernel.
const ownSpace = 256 << 20

// Apply sets them.
func (l Limits) Apply() error {
	for _, l := range l {
		if least := addressSpace() + ownSpace; l.what == unix.RLIMIT_AS && l.max < least {
			// The runtime of the language ends the program with a dump when it gets no memory.
			return fmt.Errorf("--%s=%d: gostap itself needs %d bytes of address space", l.name, l.max, least)
		}
		var have unix.Rlimit
		err := unix.Getrlimit(l.what, &have)
		if n := min(l.max, have.Max); err == nil { // who asks for more than he may have is content with that
			err = unix.Setrlimit(l.what, &unix.Rlimit{Cur: n, Max: n})
		}
		if err != nil {
			return fmt.Errorf("--%s=%d: %w", l.name, l.max, err)
		}
	}
	return nil
}

// addressSpace is what the program has mapped, in bytes (/proc/self/statm, first field in pages), 0 where that cannot
// be read.
func addressSpace() uint64 {
	b, _ := os.ReadFile("/proc/self/statm")
	pages, _, _ := strings.Cut(string(b), " ")
	n, _ := strconv.ParseUint(pages, 10, 64)
	return n * uint64(os.Getpagesize())
}
