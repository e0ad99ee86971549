package host

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/textfmt"
	"github.com/gostap/gostap/runtime/host/symbols"
	"github.com/gostap/gostap/runtime/host/values"
	"github.com/gostap/gostap/runtime/wire"
)

// output turns records and the prints of host handlers into text. The text of one
// handler run stays in one piece.
type output struct {
	prog   *ir.Program
	schema *wire.Schema
	syms   *symbols.Table
	w      *bufio.Writer
	errw   io.Writer
	dec    wire.Decoder
	args   []textfmt.Val
	buf    []byte
	// formats are those of the program without heads; texts are what they are called in events, names those of their
	// arguments.
	formats []*ir.Format
	texts   []string
	names   [][]string
	point   string // that of the last print with a head
	// event takes what there is to say in place of w and errw, if it is given; queue waits for it, loose is text
	// without an event of its own, busy says that a handler is running here. cpu is that of the record at hand, -1
	// for none.
	// pause is called when no more is there to be said for now; may be nil.
	event func(*Event) error
	pause func() error
	queue []*Event
	loose []byte
	text  []byte
	busy  bool
	cpu   int
	// parts are the events of handler runs that have more to say.
	parts map[uint64][]*Event
	// pending holds the text of handler runs that have more to say, by slot and CPU.
	pending map[uint64][]byte
	// failed is the first error of writing; the session ends on it.
	failed error
	// seen counts errors and warnings by their text, so that a flood of one is shown a few times.
	seen map[string]int
	// warned counts the warnings of the script among seen, unwarned those that are not.
	warned, unwarned int
	// hostErrors and kernelErrors count the run-time errors that were not caught, by where the handler ran.
	hostErrors, kernelErrors int
	tracer                   uint32
	// keeper knows the stacks that the kernel keeps, nil if there are none; kept are those seen so far.
	keeper backend.Keeper
	kept   map[int64]keptStack
	// keptPCs are the addresses of stacks by their text.
	keptPCs map[string][]uint64
	// target is the traced process, 0 if there is none.
	target uint32
	// quiet: errors are counted, not written.
	quiet bool
	// whole writes values that are shown with what they lead to; made when there is one.
	whole *values.Writer
}

const outputBuffer = 256 << 10

func newOutput(p *ir.Program, w, errw io.Writer, syms *symbols.Table) *output {
	return &output{prog: p, w: bufio.NewWriterSize(w, outputBuffer), errw: errw, syms: syms,
		tracer: uint32(os.Getpid()), formats: headless(p), cpu: -1, pending: map[uint64][]byte{},
		seen: map[string]int{}}
}

// write passes text on, remembering the first failure.
func (o *output) write(b []byte) {
	if o.event != nil {
		o.loose = append(o.loose, b...)
		return
	}
	if _, err := o.w.Write(b); err != nil && o.failed == nil {
		o.failed = fmt.Errorf("write output: %w", err)
	}
}

// flush makes everything visible.
func (o *output) flush() {
	if o.event != nil {
		o.settle()
		if o.pause != nil && !o.busy && o.failed == nil {
			o.failed = o.pause()
		}
		return
	}
	if err := o.w.Flush(); err != nil && o.failed == nil {
		o.failed = fmt.Errorf("write output: %w", err)
	}
}

// print handles a Print record.
func (o *output) print(h wire.Header, body []byte) error {
	key := uint64(h.CPU)<<16 | uint64(h.Slot)
	if o.event != nil {
		return o.events(h, key, body)
	}
	o.buf = o.buf[:0]
	if len(o.pending) > 0 {
		if p, ok := o.pending[key]; ok {
			o.buf = append(o.buf, p...)
			delete(o.pending, key)
		}
	}
	err := o.dec.Print(body, o.schema, func(site int, args []wire.Value) error {
		o.buf = o.format(o.buf, site, args)
		return nil
	})
	if err != nil {
		return err
	}
	if h.Flags&wire.More != 0 {
		o.pending[key] = append([]byte(nil), o.buf...)
		return nil
	}
	o.write(o.buf)
	return nil
}

// events handles a Print record whose prints are wanted one by one.
func (o *output) events(h wire.Header, key uint64, body []byte) error {
	evs := o.parts[key]
	delete(o.parts, key)
	err := o.dec.Print(body, o.schema, func(site int, args []wire.Value) error {
		evs = append(evs, o.printed(o.schema.Sites[site].Format, o.values(args), args))
		return nil
	})
	if err != nil {
		return err
	}
	if h.Flags&wire.More != 0 {
		if o.parts == nil {
			o.parts = map[uint64][]*Event{}
		}
		o.parts[key] = evs
		return nil
	}
	for _, e := range evs {
		o.tell(e)
	}
	return nil
}

// values gives the arguments of a print, valid until the next call.
func (o *output) values(args []wire.Value) []textfmt.Val {
	o.args = o.args[:0]
	for i := range args {
		o.args = append(o.args, o.value(&args[i]))
	}
	return o.args
}

func (o *output) format(dst []byte, site int, args []wire.Value) []byte {
	f, vals := o.body(o.schema.Sites[site].Format, o.values(args))
	return textfmt.Append(dst, f, vals)
}

// value makes the text of a lazy argument. The strings of plain ones lie in the record.
func (o *output) value(v *wire.Value) textfmt.Val {
	switch v.Kind {
	case wire.Int:
		if v.Lazy == wire.CTime {
			return textfmt.Val{Str: textfmt.CTime(v.Int)}
		}
		if v.Lazy.Kept() {
			return textfmt.Val{Str: o.keptText(v.Int, v.Lazy)}
		}
		if v.Lazy == wire.Decoded {
			return textfmt.Val{Str: textfmt.Decode(unsafe.String(unsafe.SliceData(v.Bytes), len(v.Bytes)), v.Int)}
		}
		return textfmt.Val{Int: v.Int}
	case wire.Text, wire.Mem:
		if len(v.Bytes) == 0 {
			return textfmt.Val{}
		}
		return textfmt.Val{Str: unsafe.String(&v.Bytes[0], len(v.Bytes))}
	case wire.Quoted:
		if v.Unread {
			return textfmt.Val{Str: textfmt.NoText(uint64(v.Int), v.CString)}
		}
		return textfmt.Val{Str: textfmt.Quote(unsafe.String(unsafe.SliceData(v.Bytes), len(v.Bytes)), v.Max, true)}
	case wire.Sym:
		return textfmt.Val{Str: named(o.syms, v.Lazy, o.whose(v), uint64(v.Int))}
	case wire.Stack, wire.RawStack:
		return textfmt.Val{Str: o.stack(v)}
	case wire.Snapshot:
		if o.whole == nil {
			o.whole = &values.Writer{Open: o.syms.ImageOf}
		}
		return textfmt.Val{Str: o.whole.Text(v.Plan, v.Bytes)}
	}
	return textfmt.Val{}
}

// whose is the process that an address belongs to: what handlers at the end of a module's session, which run in the
// tracer, know of addresses comes from other processes.
func (o *output) whose(v *wire.Value) uint32 {
	if v.Tgid == o.tracer {
		return o.syms.Whose(uint64(v.Int), o.target)
	}
	return v.Tgid
}

// stack is the text of a stack.
func (o *output) stack(v *wire.Value) string {
	switch v.Lazy {
	case wire.KStackHex:
		return symbols.Hex(v.Stack)
	case wire.KStackNames:
		return o.syms.KernelBacktrace(v.Stack)
	}
	t := o.trace(v)
	if v.Lazy == wire.StackHex {
		o.syms.Saw(v.Tgid, t)
		return t.Hex()
	}
	return o.syms.Backtrace(v.Tgid, t)
}

// short makes the text of a stack that is longer than strings are end with a whole address or line, and the sign
// for what is missing.
func (o *output) short(val textfmt.Val, v *wire.Value) textfmt.Val {
	if v.Kind != wire.Stack && v.Kind != wire.RawStack || len(val.Str) < o.prog.Limits.MaxString {
		return val
	}
	sep, sign := "\n", "\n ...\n"
	if v.Lazy == wire.StackHex || v.Lazy == wire.KStackHex {
		sep, sign = " ", " ..."
	}
	val.Str = o.cut(val.Str, sep, sign)
	return val
}

// cut ends a text that is longer than strings are behind one of its parts, with a sign.
func (o *output) cut(text, sep, sign string) string {
	if len(text) < o.prog.Limits.MaxString {
		return text
	}
	room := max(o.prog.Limits.MaxString-1-len(sign), 0)
	return text[:max(strings.LastIndex(text[:room+1], sep), 0)] + sign
}

// named is what a function of usymname's or symname's family gives for an address, of a process or of the kernel.
func named(syms *symbols.Table, lazy wire.Lazy, pid uint32, addr uint64) string {
	switch {
	case lazy == wire.KSymName, lazy == wire.FuncName && symbols.InKernel(addr):
		return syms.KernelName(addr, false).Text(false)
	case lazy == wire.KSymData:
		return syms.KernelName(addr, false).Text(true)
	case lazy == wire.KSymModule:
		return kernelModule(syms, addr)
	case lazy == wire.KSymCaller:
		return syms.KernelName(addr, true).Text(true)
	case lazy == wire.KSymCallerName:
		return syms.KernelName(addr, true).Text(false)
	case lazy == wire.SymFrame:
		return syms.Name(pid, addr, false).Lines()
	case lazy == wire.SymCaller:
		return syms.Caller(pid, addr).Lines()
	case lazy == wire.SymBrief:
		return syms.Name(pid, addr, false).Brief()
	case lazy == wire.SymCallerBrief:
		return syms.Caller(pid, addr).Brief()
	case lazy == wire.SymCallerName:
		return syms.Caller(pid, addr).Text(false)
	}
	f := syms.At(pid, addr)
	switch lazy {
	case wire.SymData:
		return f.Text(true)
	case wire.SymLine:
		return f.Line()
	case wire.SymFile, wire.SymLineNo:
		file, line, ok := f.Source()
		switch {
		case !ok:
			return fmt.Sprintf("0x%x", addr)
		case lazy == wire.SymFile:
			return file
		}
		return fmt.Sprint(line)
	case wire.SymModule:
		if f.Module == "" {
			return fmt.Sprintf("0x%x", addr)
		}
		return filepath.Base(f.Module)
	}
	return f.Text(false)
}

// kernelModule is what modname gives: the address itself where nothing is known.
func kernelModule(syms *symbols.Table, addr uint64) string {
	if m := syms.KernelName(addr, false).Module; m != "" {
		return m
	}
	return fmt.Sprintf("0x%x", addr)
}

// message handles Warn and Log records.
func (o *output) message(kind wire.Kind, body []byte) error {
	var text []byte
	err := o.dec.Print(body, o.schema, func(site int, args []wire.Value) error {
		text = o.format(text, site, args)
		return nil
	})
	if err != nil {
		return err
	}
	if kind == wire.Log {
		o.write(append(text, '\n'))
		return nil
	}
	o.warn(string(text))
	return nil
}

// mostTexts is how many texts of warnings are written; of each the first three times.
const mostTexts = 1000

// warn writes a warning of the script. What is left out is counted.
func (o *output) warn(text string) {
	if o.event != nil {
		o.tell(&Event{Kind: EventWarning, Text: text, CPU: o.cpu})
		return
	}
	text = "WARNING: " + text
	n, ok := o.seen[text]
	if !ok {
		if o.warned == mostTexts {
			o.unwarned++
			return
		}
		o.warned++
	}
	if o.seen[text] = n + 1; n >= 3 {
		return
	}
	o.flush()
	fmt.Fprintln(o.errw, diag.Visible(text))
}

// fault reports a run-time error that was not caught.
func (o *output) fault(f *textfmt.Fault) {
	if o.quiet {
		return
	}
	if o.event != nil {
		o.tell(&Event{Kind: EventError, Text: f.Message(o.prog), Code: f.Code, Pos: f.Pos, CPU: o.cpu})
		return
	}
	o.flush()
	text := f.Text(o.prog)
	if o.seen[text]++; o.seen[text] <= 3 {
		fmt.Fprintln(o.errw, diag.Visible(text))
	}
}

// repeated tells how often messages were left out.
func (o *output) repeated() {
	for _, text := range slices.Sorted(maps.Keys(o.seen)) {
		if n := o.seen[text]; n > 3 {
			fmt.Fprintf(o.errw, "%s (%d more times)\n", diag.Visible(text), n-3)
		}
	}
	if o.unwarned > 0 {
		fmt.Fprintf(o.errw, "WARNING: %d more warnings, with other texts than the first %d\n", o.unwarned, mostTexts)
	}
}

// remark writes a warning of the session itself, which comes once.
func (o *output) remark(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if o.event != nil {
		o.tell(&Event{Kind: EventWarning, Text: text, CPU: -1})
		return
	}
	fmt.Fprintf(o.errw, "WARNING: %s\n", text)
}

// abandon writes what handler runs left unfinished.
func (o *output) abandon() {
	for _, evs := range o.parts {
		o.queue = append(o.queue, evs...)
	}
	o.parts = nil
	for key, p := range o.pending {
		o.write(p)
		delete(o.pending, key)
	}
}
