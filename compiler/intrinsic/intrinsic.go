// Package intrinsic is the table of functions that the script language has built in:
// what cannot be written in the language itself. Library files declare them with a
// body of %{ intrinsic %}; executors keep their implementations by the name of the row,
// and each has a test that walks the rows: there is an implementation, or the row says
// that this executor refuses the function.
//
// A row says all that others may know about a function. What a row does not say is what
// is safe: then the call is refused without -g, stays where it is, may fail, and is not
// for users of the group stapusr.
package intrinsic

import (
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/caps"
	"github.com/gostap/gostap/compiler/types"
	"github.com/gostap/gostap/runtime/wire"
)

// Where says which executors can run an intrinsic.
type Where uint8

// The places.
const (
	Anywhere Where = iota // in handlers in the kernel and on the host
	HostOnly              // only in handlers that run on the host; from others it is sent there (system)
	// PrintOnly: in the kernel it can only be an argument of the print family, where the raw
	// value travels and the host makes the text (symbol names, backtraces).
	PrintOnly
	// Lowered: the compiler makes other instructions of it (from what is known about the probed site);
	// executors never see it.
	Lowered
)

// Does says what a call does beside giving its result, from what hinders most to what hinders least.
type Does uint8

// What calls do.
const (
	Unsaid  Does = iota // all that Changes, Ends and Acts say
	Changes             // it changes the traced program, the kernel or the machine: it needs -g, and happens at the hit
	Ends                // it ends the session
	Acts                // it does something else: prints, warns, holds output back
	Asks                // it only finds something out: a call whose result nobody uses can go
	Steady              // as Asks, and all calls during one hit give the same
	Pure                // as Steady for equal arguments, on which alone the result depends
)

// Fails says which run-time errors a call can raise.
type Fails uint8

// How calls fail.
const (
	MayFail Fails = iota // the error belongs to what it does: the call stays, whether its result is used or not
	BadName              // where an argument names nothing; a call whose result nobody uses can go
	Faults               // where an address cannot be read; the same
	Never                // it raises none
)

// Executor is one of those that run handlers.
type Executor uint8

// The executors; a row may name several.
const (
	EBPF   Executor = 1 << iota // programs of the eBPF back end
	Module                      // modules of the other one
	Tracer                      // the interpreter in the tracer itself, where nothing was stopped for a handler
)

// Func is one intrinsic.
type Func struct {
	Name   string
	Params []types.Type
	// Rest, where it is not Unknown, is the type of any number of further arguments.
	Rest   types.Type
	Result types.Type // Unknown: none
	// Cap is the most bytes a String result can have; 0: as much as MAXSTRINGLEN allows;
	// -n: no more than argument n (from 1) has.
	Cap int
	// Len, where it is not 0, is the argument (from 1) with a number of bytes that the result does not exceed, before
	// Quotes, which puts them in double quotes and escapes some. Else is the argument that stands in for what
	// cannot be read.
	Len    int
	Quotes bool
	Else   int
	// Const is the argument (from 1) that has to be a constant in the kernel, 0 for none. Table: it is a table, no
	// value of the script, so MAXSTRINGLEN does not cut it.
	Const int
	Table bool

	Does  Does
	Fails Fails
	// Later: called on the host after the hit it gives what it gives at the hit. Others are asked there.
	Later bool
	// Unprivileged: scripts for users of the group stapusr may use it (--privilege=stapusr). It tells nothing
	// about the kernel or about processes of others.
	Unprivileged bool

	Where Where
	// Refused are the executors that have no implementation.
	Refused Executor
	// Idle: where nothing was stopped, as in the tracer's own probes, it gives 0 or "".
	Idle bool
	// Reads is whose memory it reads: caps.ReadUser, caps.ReadKernel.
	Reads caps.Cap
	// Peeks says in words how it looks into the kernel without reading its memory.
	Peeks string
	// Matched: it tells what a regular expression has found, which is known where that was matched.
	Matched bool
	// Away: although it is not Pure, it means the same on a machine that is not the traced one: the clock, the session
	// and what that prints.
	Away bool
	// Keeps: the result is the number of a stack that the executor keeps; to the script it is a types.Stack.
	Keeps bool
	// OfFloat: to the script the first parameter is a types.Float, of which this gets the bits.
	OfFloat bool
	// OfStack: to the script the first parameter is a types.Stack, of which this gets the number.
	OfStack bool
	// Thread: at one time no two threads get the same, so elements of arrays by it are not shared.
	Thread bool

	// Text is what the host makes the text of, as a record carries it: of a PrintOnly function, and of the form of
	// one that the host calls. Which names there are for a wire.Decoded stands in the call.
	Text wire.Arg
	// Of names the form of a PrintOnly function that the host calls, with the process as a second argument;
	// OfProcess: this is such a form.
	Of        string
	OfProcess bool
}

// Guru reports whether scripts need -g for f.
func (f *Func) Guru() bool { return f.Does <= Changes }

// MayEnd reports whether f can end the session.
func (f *Func) MayEnd() bool { return f.Does == Unsaid || f.Does == Ends }

// Silent reports whether a call does nothing that anybody could notice, but for an error.
func (f *Func) Silent() bool { return f.Does >= Asks }

// OfMachine reports whether a call only means something on the traced machine.
func (f *Func) OfMachine() bool { return !f.Away && (f.Does != Pure || f.Reads != "") }

// Removable reports whether a call can go when nobody uses its result.
func (f *Func) Removable() bool { return f.Silent() && f.Fails != MayFail }

// Repeats reports whether all calls during one hit give the same, whatever the arguments: there are none.
func (f *Func) Repeats() bool { return f.Does >= Steady && len(f.Params) == 0 }

// Sent reports whether the kernel sends what f's text is made of, and the host makes it.
func (f *Func) Sent() bool { return f != nil && f.Where == PrintOnly }

// Lookup finds an intrinsic by name, nil if there is none.
func Lookup(name string) *Func { return byName[name] }

// All lists them by name.
func All() []*Func {
	out := make([]*Func, len(rows))
	for i := range rows {
		out[i] = &rows[i]
	}
	slices.SortFunc(out, func(a, b *Func) int { return strings.Compare(a.Name, b.Name) })
	return out
}

var byName = index()

func index() map[string]*Func {
	m := make(map[string]*Func, len(rows))
	for i := range rows {
		m[rows[i].Name] = &rows[i]
	}
	return m
}
