package host

import (
	"errors"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/interp"
	"github.com/gostap/gostap/compiler/ir/textfmt"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/runtime/host/symbols"
	"github.com/gostap/gostap/runtime/wire"
)

// EventKind says what an Event is about.
type EventKind uint8

// The kinds of events.
const (
	EventText    EventKind = iota // text that no format made: a histogram, log(), a print without a head
	EventPrint                    // a statement of the print family
	EventWarning                  // of the script, or of the session
	EventError                    // a run-time error of the script that nobody caught
	EventLost                     // at the end: hits or events that are missing, with their number
)

// Event is something that a session has to say. It belongs to whoever gets it.
type Event struct {
	Kind EventKind
	// Text is what is printed, or a message without its severity.
	Text string
	// Format and Args are those of the statement, of a print.
	Format string
	Args   []Arg
	// Names are those of Args, as ir.Format.ArgNames gives them. All events of a statement share them.
	Names []string
	// Pid, Tid, Time (nanoseconds since 1970) and Point are of the hit, of a print with a head.
	Pid, Tid, Time int64
	Point          string
	// CPU is where it happened, -1 if it is not known, and in handlers that run in the tracer.
	CPU int
	// Code and Pos are of an error.
	Code ir.Code
	Pos  source.Pos
	// Cause and Count are of what was lost.
	Cause ir.Cause
	Count uint64
	// Hist is a histogram whose text Text is, of an EventText; nil for other text.
	Hist *Hist
}

// Hist is a histogram that was printed: of an element of a global, by its number in the program, or without Keys of
// several together. Number is that among the global's histograms.
type Hist struct {
	Global int
	Keys   []interp.Val
	Agg    *interp.Agg
	Number int
}

// Arg is an argument of a print. What it is goes by the conversion: s is Text, m and M are Text (bytes), the others
// are Int.
type Arg struct {
	Conv  byte
	Int   int64
	Text  string
	Stack []uint64 // of a stack: addresses, innermost first; Text has it as text
}

// tell queues an event. Handlers may hold locks when they print, so that it is given away when they are done, by
// settle.
func (o *output) tell(e *Event) {
	o.loosen()
	o.queue = append(o.queue, e)
}

// errGone stands for an event that never came back: whoever took it panicked.
var errGone = errors.New("the session was left")

// loosen makes an event of the text that came without one.
func (o *output) loosen() {
	if len(o.loose) > 0 {
		o.queue = append(o.queue, &Event{Kind: EventText, Text: string(o.loose), CPU: o.cpu})
		o.loose = o.loose[:0]
	}
}

// settle gives the events away that are waiting, unless a handler is at work.
func (o *output) settle() {
	if o.event == nil || o.busy {
		return
	}
	o.loosen()
	q := o.queue
	o.queue = nil // the other side may look at the session meanwhile
	for _, e := range q {
		if o.failed != nil {
			return
		}
		o.failed = errGone // unless it comes back
		o.failed = o.event(e)
	}
	if o.queue == nil {
		clear(q)
		o.queue = q[:0]
	}
}

// headless gives the formats of p without their heads.
func headless(p *ir.Program) []*ir.Format {
	if p == nil {
		return nil
	}
	if !slices.ContainsFunc(p.Formats, (*ir.Format).IsHeaded) {
		return p.Formats
	}
	out := make([]*ir.Format, len(p.Formats))
	for i, f := range p.Formats {
		out[i] = f.Headless()
	}
	return out
}

// body gives the format of a print and its arguments, without the head.
func (o *output) body(format int, args []textfmt.Val) (*ir.Format, []textfmt.Val) {
	f := o.formats[format]
	if f != o.prog.Formats[format] {
		args = args[ir.HeadArgs:]
	}
	return f, args
}

// printed makes an event of a print. raw are the arguments as they came in a record, nil for handlers that ran here.
func (o *output) printed(format int, args []textfmt.Val, raw []wire.Value) *Event {
	e := &Event{Kind: EventPrint, CPU: o.cpu}
	f, rest := o.body(format, args)
	if head := args[:len(args)-len(rest)]; len(head) == ir.HeadArgs {
		if o.point != head[3].Str { // most come from where the last one did
			o.point = strings.Clone(head[3].Str)
		}
		e.Pid, e.Tid, e.Time, e.Point = head[0].Int, head[1].Int, head[2].Int, o.point
		if raw != nil {
			raw = raw[ir.HeadArgs:]
		}
	}
	o.text = textfmt.Append(o.text[:0], f, rest)
	e.Text, e.Format = string(o.text), o.formatText(format)
	e.Names = o.names[format]
	if n := f.Args(); n > 0 && n == len(rest) {
		e.Args = make([]Arg, 0, n)
	}
	n := 0
	add := func(conv byte) {
		if n >= len(rest) {
			return
		}
		a := Arg{Conv: conv, Int: rest[n].Int}
		if conv == 's' || conv == 'm' || conv == 'M' {
			a.Int, a.Text = 0, strings.Clone(rest[n].Str)
			a.Stack = o.keptPCs[a.Text] // the text of a stack begins its lines with the addresses
		}
		if n < len(raw) {
			if list := o.stackOf(&raw[n]); list != nil {
				a.Stack = list
			}
		}
		e.Args = append(e.Args, a)
		n++
	}
	for _, p := range f.Pieces {
		if p.Conv == 0 {
			continue
		}
		if p.WidthArg {
			add('d')
		}
		if p.PrecArg {
			add('d')
		}
		add(p.Conv)
	}
	return e
}

// formatText is the text of a format, which is made once.
func (o *output) formatText(format int) string {
	if o.texts == nil {
		o.texts, o.names = make([]string, len(o.formats)), make([][]string, len(o.formats))
	}
	if o.texts[format] == "" {
		o.texts[format], o.names[format] = o.formats[format].String(), o.prog.Formats[format].ArgNames()
	}
	return o.texts[format]
}

// stackOf gives the addresses of a stack, nil for other values.
func (o *output) stackOf(v *wire.Value) []uint64 {
	switch {
	case v.Kind != wire.Stack && v.Kind != wire.RawStack:
		return nil
	case v.Lazy == wire.KStackHex || v.Lazy == wire.KStackNames:
		return slices.Clone(v.Stack)
	}
	return slices.Clone(o.trace(v).PCs)
}

// trace finds the frames of a stack of a program.
func (o *output) trace(v *wire.Value) (t symbols.Trace) {
	if v.Kind == wire.Stack {
		return o.syms.Walked(v.Tgid, v.Stack)
	}
	if raw, ok := symbols.NewRaw(v.Stack, v.Regs, v.Bytes); ok {
		return o.syms.Unwind(v.Tgid, &raw, o.prog.Limits.MaxBacktrace)
	}
	return t
}
