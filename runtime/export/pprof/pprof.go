// Package pprof writes and reads profiles in the form of github.com/google/pprof: gzip around a protocol buffer. What
// it writes is read by go tool pprof, with functions, files, lines, inlined calls and labels.
package pprof

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/google/pprof/profile"

	"github.com/gostap/gostap/runtime/export"
)

// key is what a location of the file is made for: one address, or where that is unknown one frame by itself.
type key struct {
	addr  uint64
	first export.Frame
	n     int // of frames at the address
}

// Write writes p, compressed. Notes are the file's comments.
func Write(w io.Writer, p *export.Profile) error {
	out := &profile.Profile{DurationNanos: int64(p.Duration), Period: p.Period, Comments: p.Notes}
	if !p.Start.IsZero() {
		out.TimeNanos = p.Start.UnixNano()
	}
	for _, t := range p.Types {
		out.SampleType = append(out.SampleType, &profile.ValueType{Type: t.Name, Unit: t.Unit})
	}
	if len(p.Types) > 0 {
		out.PeriodType, out.DefaultSampleType = out.SampleType[0], p.Types[0].Name
	}
	mappings := map[string]*profile.Mapping{}
	funcs := map[export.Frame]*profile.Function{}
	locs := map[key]*profile.Location{}
	function := func(f export.Frame) *profile.Function {
		k := export.Frame{Func: f.Name(), File: f.File}
		if funcs[k] == nil {
			funcs[k] = &profile.Function{ID: uint64(len(funcs) + 1), Name: k.Func, SystemName: k.Func,
				Filename: k.File}
			out.Function = append(out.Function, funcs[k])
		}
		return funcs[k]
	}
	for _, s := range p.Samples {
		sample := &profile.Sample{Value: s.Values}
		for i := 0; i < len(s.Stack); {
			j := i
			for j < len(s.Stack)-1 && s.Stack[j].Inlined {
				j++
			}
			j++
			at := s.Stack[j-1]
			k := key{at.Addr, s.Stack[i], j - i}
			l := locs[k]
			if l == nil {
				l = &profile.Location{ID: uint64(len(locs) + 1), Address: at.Addr}
				if at.Module != "" {
					m := mappings[at.Module]
					if m == nil {
						m = &profile.Mapping{ID: uint64(len(mappings) + 1), File: at.Module, HasFunctions: true,
							HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true}
						mappings[at.Module] = m
						out.Mapping = append(out.Mapping, m)
					}
					l.Mapping = m
				}
				for _, f := range s.Stack[i:j] {
					l.Line = append(l.Line, profile.Line{Function: function(f), Line: int64(f.Line)})
				}
				locs[k] = l
				out.Location = append(out.Location, l)
			}
			sample.Location = append(sample.Location, l)
			i = j
		}
		for _, l := range s.Labels {
			if sample.Label == nil {
				sample.Label = map[string][]string{}
			}
			sample.Label[l.Key] = append(sample.Label[l.Key], l.Text)
		}
		out.Sample = append(out.Sample, sample)
	}
	return out.Write(w)
}

// Read reads what Write wrote, or another program.
func Read(r io.Reader) (*export.Profile, error) {
	in, err := profile.Parse(r)
	if err != nil {
		return nil, fmt.Errorf("not a profile in pprof's form: %w", err)
	}
	p := &export.Profile{Duration: time.Duration(in.DurationNanos), Period: in.Period, Notes: in.Comments}
	if in.TimeNanos != 0 {
		p.Start = time.Unix(0, in.TimeNanos)
	}
	for _, t := range in.SampleType {
		p.Types = append(p.Types, export.Type{Name: t.Type, Unit: t.Unit})
	}
	for _, s := range in.Sample {
		o := export.Sample{Values: s.Value}
		for _, l := range s.Location {
			module := ""
			if l.Mapping != nil {
				module = l.Mapping.File
			}
			for i, ln := range l.Line {
				f := export.Frame{Line: int(ln.Line), Module: module, Addr: l.Address, Inlined: i < len(l.Line)-1}
				if ln.Function != nil {
					f.Func, f.File = ln.Function.Name, ln.Function.Filename
				}
				o.Stack = append(o.Stack, f)
			}
			if len(l.Line) == 0 {
				o.Stack = append(o.Stack, export.Frame{Module: module, Addr: l.Address})
			}
		}
		for _, k := range slices.Sorted(maps.Keys(s.Label)) {
			for _, t := range s.Label[k] {
				o.Labels = append(o.Labels, export.Label{Key: k, Text: t})
			}
		}
		p.Samples = append(p.Samples, o)
	}
	return p, nil
}
