package load

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// MapError says that the kernel refused a map. Err is its number.
type MapError struct {
	Map string
	Err error
}

func (e *MapError) Error() string { return fmt.Sprintf("make map %s: %v", e.Map, e.Err) }
func (e *MapError) Unwrap() error { return e.Err }

// BTFError says that the kernel refused the type information.
type BTFError struct {
	Err error
	Log string
}

func (e *BTFError) Error() string { return fmt.Sprintf("load type information: %v", e.Err) }
func (e *BTFError) Unwrap() error { return e.Err }

// ProgError says that the kernel refused a program. Err is its number, Log the verifier's words.
type ProgError struct {
	Prog string
	Err  error
	Log  string
	spec *ebpf.ProgramSpec
	at   []int
}

func (e *ProgError) Error() string {
	if r := e.Reason(); r != "" {
		return fmt.Sprintf("load program %s: %v: %s", e.Prog, e.Err, r)
	}
	return fmt.Sprintf("load program %s: %v", e.Prog, e.Err)
}

func (e *ProgError) Unwrap() error { return e.Err }

var (
	insnLine = regexp.MustCompile(`^(\d+): \([0-9a-f]{2}\)`)
	noise    = regexp.MustCompile(
		`^(processed \d+ insns|verification time|stack depth|mark_precise|from \d+ to|R\d+(_\w+)?=|last_idx|regs=|;|\d+: )`)
)

// lines gives the log's lines.
func (e *ProgError) lines() []string { return strings.Split(strings.TrimRight(e.Log, "\n"), "\n") }

// Reason is the verifier's last sentence: why it stopped.
func (e *ProgError) Reason() string {
	ls := e.lines()
	for i := len(ls) - 1; i >= 0; i-- {
		l := strings.TrimSpace(ls[i])
		if l != "" && !noise.MatchString(l) {
			return l
		}
	}
	return ""
}

// Insn is the index in the ProgramSpec of the instruction at which the verifier stopped, -1 if it names none.
func (e *ProgError) Insn() int {
	ls := e.lines()
	for i := len(ls) - 1; i >= 0; i-- {
		m := insnLine.FindStringSubmatch(ls[i])
		if m == nil {
			continue
		}
		n, err := strconv.Atoi(m[1])
		if err != nil || n < 0 || n >= len(e.at) {
			return -1
		}
		return e.at[n]
	}
	return -1
}

// Source is the nearest source note at or before the instruction at which the verifier stopped, nil if there is none.
func (e *ProgError) Source() fmt.Stringer {
	n := e.Insn()
	if n < 0 {
		return nil
	}
	for i := n; i >= 0; i-- {
		if s := e.spec.Instructions[i].Source(); s != nil {
			return s
		}
	}
	return nil
}

// Near prints the instructions around the one at which the verifier stopped.
func (e *ProgError) Near(n int) string {
	at := e.Insn()
	if at < 0 {
		return ""
	}
	from, to := max(at-n, 0), min(at+n+1, len(e.spec.Instructions))
	var b strings.Builder
	for i := from; i < to; i++ {
		mark := "  "
		if i == at {
			mark = "> "
		}
		fmt.Fprintf(&b, "%s%d: %v\n", mark, i, plain(e.spec.Instructions[i]))
	}
	return b.String()
}

func plain(in asm.Instruction) string { return fmt.Sprintf("%v", in) }
