package merge

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/interp"
	"github.com/gostap/gostap/compiler/stackflow"
)

// A stack of a machine is a number there, and addresses mean something in one process only. Machines tell the functions
// of each stack once, outermost first with semicolons between; stacks with the same functions are one stack here.

// Stack is a stack of a machine.
type Stack struct {
	Number int64
	Folded string
}

// What bounds the stacks of a machine that is not ours: the functions of one, in bytes, and those of all.
const (
	mostFolded = 64 << 10
	mostTold   = 64 << 20  // of what a machine tells before it is looked at
	mostNames  = 256 << 20 // of all machines
)

// Columns are the columns of keys that have stacks, by global; p is the part of each machine.
func Columns(p *ir.Program) map[int]map[int]bool { return stackflow.Of(p).Keys }

// Stacks are the numbers of stacks in the keys of s that known does not have, sorted. They are added to it.
func (s Snapshot) Stacks(columns map[int]map[int]bool, known map[int64]bool) (out []int64) {
	for g, of := range columns {
		for _, e := range s[g] {
			for c := range of {
				if n := e.Key[c].Int; n != 0 && !known[n] {
					known[n] = true
					out = append(out, n)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// tag is what the kernel puts into the name of an eBPF program, which is another one on each kernel.
var tag = regexp.MustCompile(`\bbpf_prog_[0-9a-f]{16}_`)

// Shortened is what is told of the functions of a stack: the same for the same stack elsewhere, without the outermost
// ones where these are too many.
func Shortened(folded string) string {
	const more = "...;"
	folded = tag.ReplaceAllString(folded, "bpf_prog_")
	if len(folded) <= mostFolded {
		return folded
	}
	rest := folded[len(folded)-mostFolded+len(more):]
	if _, inner, ok := strings.Cut(rest, ";"); ok {
		rest = inner
	}
	return more + rest
}

// errStacks says what no session does.
var (
	errManyStacks = fmt.Errorf("it has more than %d stacks, or longer ones", backend.MaxStacks)
	errNoStack    = errors.New("it counts for a stack of which it has told nothing")
)

// tooMany reports whether stacks are more than a machine has.
func tooMany(stacks []Stack) bool {
	bytes := 0
	for _, s := range stacks {
		bytes += len(s.Folded)
	}
	return len(stacks) > backend.MaxStacks || bytes > mostTold
}

// names are the stacks of all machines: the number of each here by its functions, and these by number - 1.
type names struct {
	numbers map[string]int64
	folded  []string
	bytes   int
	// of are the numbers here by those of each machine, noRoom for one whose functions there was no room for.
	of []map[int64]int64
}

const noRoom = -1

// learn takes the stacks that a machine tells of.
func (n *names) learn(machine int, stacks []Stack) error {
	if n.of[machine] == nil && len(stacks) > 0 {
		n.of[machine] = map[int64]int64{}
	}
	of := n.of[machine]
	for _, s := range stacks {
		// An agent that is not ours has no lines of its own in what is printed, and moves no cursor.
		s.Folded = strings.Map(printable, s.Folded)
		here, ok := n.numbers[s.Folded]
		switch {
		case len(of) >= backend.MaxStacks:
			return errManyStacks
		case !ok && n.bytes+len(s.Folded) > mostNames:
			here = noRoom
		case !ok:
			n.folded = append(n.folded, s.Folded)
			n.bytes += len(s.Folded)
			here = int64(len(n.folded))
			n.numbers[s.Folded] = here
		}
		of[s.Number] = here
	}
	return nil
}

func printable(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return '?'
}

// translate gives a key of a machine with the numbers that its stacks have here.
func (n *names) translate(machine int, key interp.Key, columns map[int]bool) (interp.Key, error) {
	if len(columns) == 0 {
		return key, nil
	}
	key = slices.Clone(key)
	for c := range columns {
		if key[c].Int == 0 {
			continue // no stack
		}
		switch here := n.of[machine][key[c].Int]; here {
		case 0:
			return nil, errNoStack
		case noRoom:
			return nil, interp.ErrFull
		default:
			key[c].Int = here
		}
	}
	return key, nil
}

// Keeps implements backend.Keeper: no handler does here.
func (s *Session) Keeps() bool { return false }

// Stack implements backend.Keeper.
func (s *Session) Stack(number int64) (out backend.KeptStack, ok bool, err error) {
	if number <= 0 || number > int64(len(s.sums.names.folded)) {
		return out, false, nil
	}
	return backend.KeptStack{Folded: s.sums.names.folded[number-1]}, true, nil
}

var _ backend.Keeper = (*Session)(nil)
