// Package body is what all that writes a handler's code shares: the builder with the registers and strings of the
// function being translated, its errors and counters, the traced program's memory, and the unit that all handlers
// of a program belong to.
//
// In: ir.Vals and ir.Codes. Out: registers, Strs, and code that raises, counts and reads.
package body

import (
	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/ir"
)

// Body is a handler that is being written: its code and memory, the function of it that is being translated, and what
// its parts tell each other.
type Body struct {
	emit.Builder
	Func
	U     *Unit
	H     *Handler
	Funcs []*mach.Func // of the program: the handler's own first, then callbacks

	Prescan Prescan
	Ctx     mach.Reg // the program's context
	Faults  Faults
	// Uncaught ends the current block with an error that nobody in the current function catches.
	Uncaught func(c ir.Code)
	Steps    bool // the body is made of steps (step.go of package sel)
	Record   bool // the context is an event's record (perfevent.go of package hook)
	Sleeps   bool // the program may wait for pages of the traced program
	Err      error
	// Snaps are the places of the handler's snapshots in the scratch slot.
	Snaps map[int64]int
}

// Prescan is what is known of the whole handler before it is translated.
type Prescan struct {
	// Prints is the most print statements on one run: 0, 1, or 2 for more.
	Prints int
	// EntryMax is the most bytes of one print statement's entry.
	EntryMax int
	// Budget: statements have to be counted.
	Budget bool
	Loops  bool
}

// Bounded marks a block as the head of a loop that the verifier can walk to its end by itself, turn by turn.
func (g *Body) Bounded(head *mach.Block) { head.Bounded = true }

// Short is bounded for loops of a few dozen turns, where the kernel has nothing better: as a step of its own each turn
// would cost too much.
func (g *Body) Short(head *mach.Block) { head.Bounded = g.Steps || !g.U.Feat.MayGoto }
