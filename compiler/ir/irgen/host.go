package irgen

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/interp"
	"github.com/gostap/gostap/compiler/ir/textfmt"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/types"
)

// Transcript is an Output that writes down what handlers say.
type Transcript struct {
	strings.Builder
	// Program gives names to errors; may be nil.
	Program *ir.Program
}

// Print implements interp.Output, as do the next ones.
func (t *Transcript) Print(text []byte)      { t.Write(text) }
func (t *Transcript) Warn(text string)       { fmt.Fprintf(t, "WARNING: %s\n", text) }
func (t *Transcript) Log(text string)        { fmt.Fprintf(t, "%s\n", text) }
func (t *Transcript) Error(f *textfmt.Fault) { fmt.Fprintf(t, "ERROR: %s\n", f.Message(t.Program)) }
func (t *Transcript) Exit()                  { t.WriteString("EXIT\n") }

// Context is a probed place where everything is made up and always the same: register n holds
// 100+n, memory holds its own address in words up to 4096 and nothing above.
type Context struct {
	At *probe.Site
	// All says that memory goes on above.
	All bool
}

// Site implements interp.Context, as do the next ones.
func (c *Context) Site() *probe.Site    { return c.At }
func (c *Context) Reg(n int) int64      { return 100 + int64(n) }
func (c *Context) ThreadPointer() int64 { return 7000 }
func (c *Context) Bias() int64          { return 0x5000 }

// TraceArg implements interp.Eventful: words are made up, but for the number of a system call.
func (c *Context) TraceArg(n int) int64 {
	if n == ir.SyscallNr && c.At != nil && c.At.Kind.Class() == probe.Syscall {
		return int64(c.At.Syscall.Nr)
	}
	return 200 + int64(n)
}

func (c *Context) Read(buf []byte, addr uint64, kernel bool) error {
	if !c.All && (addr >= 4096 || addr+uint64(len(buf)) > 4096) {
		return errors.New("no memory there")
	}
	for i := range buf {
		var word [8]byte
		at := addr + uint64(i)
		binary.LittleEndian.PutUint64(word[:], at/8)
		buf[i] = word[at%8] | 0x20
	}
	return nil
}

func (c *Context) Intrinsic(name string, args []interp.Val) (interp.Val, error) {
	switch name {
	case "execname":
		return interp.Val{Str: "program"}, nil
	case "pid", "tid":
		return interp.Val{Int: 42}, nil
	}
	return interp.Val{Int: 1000, Str: name}, nil
}

// Said is what a run of a program shows.
type Said struct {
	// Text is what the handlers said and how they ended.
	Text string
	// Globals is what each global holds at the end, by name.
	Globals map[string]string
}

// Run lets the events of p happen, rounds times: each site of any probe in turn, and at each the probes that have
// it in the order of the program. The globals are in a store of its own.
func Run(p *ir.Program, rounds int, ctx Context) (*Said, error) {
	out := &Transcript{Program: p}
	store := interp.NewMemStore(p)
	m, err := interp.New(p, store, out)
	if err != nil {
		return nil, err
	}
	type event struct {
		kind   probe.Kind
		offset uint64
		call   int
	}
	var events []event
	probes := map[event][]func() error{}
	for i, pr := range p.Probes {
		for _, s := range pr.Sites {
			e := event{s.Kind, s.Offset(), s.Syscall.Nr}
			if probes[e] == nil {
				events = append(events, e)
			}
			probes[e] = append(probes[e], func() error {
				at := ctx
				at.At = s
				res, err := m.Run(i, &at)
				if res.Skipped {
					fmt.Fprintf(out, "SKIPPED %s\n", res.Cause)
				}
				return err
			})
		}
	}
	slices.SortStableFunc(events, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.offset, b.offset), cmp.Compare(a.call, b.call))
	})
	for range rounds {
		for _, e := range events {
			fmt.Fprintf(out, "--- %s %d\n", e.kind, e.offset+uint64(e.call))
			for _, run := range probes[e] {
				if err := run(); err != nil {
					return nil, err
				}
			}
		}
	}
	return &Said{out.String(), Globals(p, store)}, nil
}

// Globals writes down what each global of p holds.
func Globals(p *ir.Program, store interp.Store) map[string]string {
	all := map[string]string{}
	for i, g := range p.Globals {
		var w strings.Builder
		elems := []interp.Elem{{}}
		if g.IsArray() {
			elems, _ = store.Elems(i)
		}
		for _, e := range elems {
			if !g.IsArray() {
				e.Val, _, _ = store.Get(i, nil)
				if g.Type == types.Stats {
					a, _, _ := store.Stat(i, nil)
					e.Agg = &a
				}
			}
			if g.IsArray() {
				fmt.Fprintf(&w, "%+v", e.Key)
			}
			if e.Agg != nil {
				fmt.Fprintf(&w, " = %d %d %d %d %d %d\n", e.Agg.Count, e.Agg.Sum, e.Agg.Min, e.Agg.Max, e.Agg.SqLo,
					e.Agg.Hists)
			} else {
				fmt.Fprintf(&w, " = %d %q\n", e.Val.Int, e.Val.Str)
			}
		}
		all[g.Name] = w.String()
	}
	return all
}
