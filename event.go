package gostap

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/runtime/host"
)

// Kind says what an Event is about.
type Kind uint8

// The kinds of events.
const (
	Print Kind = iota // a statement of the print family was run
	// text that no such statement made: log(), and all output of programs compiled with Options.Text
	Text
	Warning // of the script, of the compiler or of the session
	Fault   // a run-time error of the script that nobody caught
	Lost    // at the end: hits or events that are missing
)

func (k Kind) String() string {
	return [...]string{"print", "text", "warning", "fault", "lost"}[min(k, Lost)]
}

// Event is something that a session has to say.
type Event struct {
	Kind Kind
	// Text is what is printed, or the message.
	Text string
	// Args are the values that a print was given, in order, with widths and precisions among them; Format is its
	// format.
	Args   []Value
	Format string
	// Names are those of Args: of what has a name in the script that name ("pid" of pid(), "n", "$o->ID", "calls" of
	// calls[c], "@count" of @count(x)), of other expressions their position, from "1"; "" for literals, widths and
	// precisions. What Options.PrintGlobals prints of a global whose Global has it too has only "=" here.
	// All events of a statement share them.
	Names []string
	// PID, TID, Time and Point are of the hit that printed. CPU is the processor, -1 where that is not known and in
	// handlers that run in this process.
	PID, TID int
	Time     time.Time
	Point    string
	CPU      int
	// Code says which Fault it is, File, Line and Column where in the script.
	Code         string
	File         string
	Line, Column int
	// Cause and Count say what was Lost, and how often.
	Cause string
	Count uint64
	// Printed is the histogram whose text Text is, of a Text; nil for other text.
	Printed *PrintedHistogram
}

// PrintedHistogram is one that the script printed: the only one of the Stats, of a global or of an element of it.
// Several elements together (lat[*, 1]) have no Key.
type PrintedHistogram struct {
	Global string
	Key    []Value
	Stats  *Stats
}

// Value is a value of the script language: a whole number, a number with a fraction, or a string.
type Value struct {
	Int  int64
	Text string
	// Float is the number if IsFloat says that it is one with a fraction; Int is 0 then.
	Float   float64
	IsFloat bool
	// IsText: it is a string, or the bytes of memory that were printed.
	IsText bool
	// Unsigned: Int was printed as a number without a sign, uint64(Int).
	Unsigned bool
	// Stack are the addresses of a stack, innermost first, where one was printed; Text has it as text.
	Stack []uint64
}

// String is the number, or the string itself.
func (v Value) String() string {
	switch {
	case v.IsText:
		return v.Text
	case v.IsFloat:
		return strconv.FormatFloat(v.Float, 'g', -1, 64)
	}
	return strconv.FormatInt(v.Int, 10)
}

// kinds are those of the host's events.
var kinds = [...]Kind{host.EventText: Text, host.EventPrint: Print, host.EventWarning: Warning, host.EventError: Fault,
	host.EventLost: Lost}

// event makes an Event of the host's.
func (p *Program) event(h *host.Event) Event {
	e := Event{Kind: kinds[h.Kind], Text: h.Text, Format: h.Format, Names: h.Names, CPU: h.CPU, Point: h.Point,
		PID: int(h.Pid), TID: int(h.Tid), Count: h.Count}
	if h.Time != 0 {
		e.Time = time.Unix(0, h.Time)
	}
	if len(h.Args) > 0 {
		e.Args = make([]Value, len(h.Args))
		for i, a := range h.Args {
			e.Args[i] = number(a.Int, a.Conv)
			e.Args[i].Text, e.Args[i].IsText, e.Args[i].Stack = a.Text, isText(a.Conv), a.Stack
		}
	}
	switch e.Kind {
	case Fault:
		e.Code = h.Code.String()
		if p.ir.Files != nil && h.Pos.IsValid() {
			if at := p.ir.Files.Position(diag.Own(p.ir.Files, source.At(h.Pos)).From); at.File != nil {
				e.File, e.Line, e.Column = at.File.Name, at.Line, at.Col
			}
		}
	case Lost:
		e.Cause = h.Cause.String()
	case Text:
		if h.Hist != nil {
			e.Printed = p.printed(h.Hist)
		}
	}
	return e
}

// printed makes a histogram of the host's.
func (p *Program) printed(h *host.Hist) *PrintedHistogram {
	g := p.ir.Globals[h.Global]
	out := &PrintedHistogram{Global: g.Name, Stats: stats(g, h.Agg)}
	for i, k := range h.Keys {
		out.Key = append(out.Key, value(g.Keys[i].Type, k))
	}
	out.Stats.Histograms = out.Stats.Histograms[h.Number : h.Number+1]
	return out
}

// number is the value of bits that a conversion of printf prints.
func number(bits int64, conv byte) Value {
	switch p := (ir.Piece{Conv: conv}); {
	case conv == 'h':
		return Value{Float: float64(math.Float32frombits(uint32(bits))), IsFloat: true}
	case p.IsFraction():
		return Value{Float: math.Float64frombits(uint64(bits)), IsFloat: true}
	}
	return Value{Int: bits, Unsigned: strings.IndexByte("uoxXp", conv) >= 0}
}

// isText reports whether a conversion of printf prints a string or bytes.
func isText(conv byte) bool { return conv == 's' || conv == 'm' || conv == 'M' }

// remark is a warning of this package itself.
func remark(format string, args ...any) Diagnostic {
	d := (&diag.List{}).Warnf(diag.Usage, "", source.Span{}, format, args...)
	return Diagnostic{Warning: true, Message: d.Message, d: d}
}
