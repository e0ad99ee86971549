package gostap

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/interp"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/stackflow"
	"github.com/gostap/gostap/compiler/types"
	"github.com/gostap/gostap/runtime/merge"
)

// ProbeState is a probe of a session that runs: what its handler took so far, and whether it is switched on.
type ProbeState struct {
	HandlerTime
	On bool
	// Fixed probes cannot be switched: begin, end and error probes, and what notes values at entries for others.
	Fixed bool
}

var (
	errNotWatched = errors.New("the program was compiled without ToolOptions.Watched")
	errEnded      = errors.New("the session has ended")
)

// inLoop has f called by the goroutine that drives the session, and gives its error, or why it was not called.
func (s *Session) inLoop(f func() error) error {
	if !s.p.o.Tool.Watched {
		return errNotWatched
	}
	var failure error
	ran, err := s.between(func() { failure = f() })
	switch {
	case err != nil:
		return err
	case !ran:
		return errEnded
	}
	return failure
}

// Probes are those of a session that runs, in the order of the script. Its program was compiled with
// ToolOptions.Watched, and Options.Timing says whether hits and times are counted.
func (s *Session) Probes() (out []ProbeState, err error) {
	err = s.inLoop(func() error {
		for i, t := range s.handlerTimes(s.live()) {
			st := ProbeState{HandlerTime: t, On: true, Fixed: s.p.ir.Probes[i].Cond < 0}
			if !st.Fixed {
				v, _, err := s.b.Store().Get(s.p.ir.Probes[i].Cond, nil)
				if err != nil {
					return err
				}
				st.On = v.Int != 0
			}
			out = append(out, st)
		}
		return nil
	})
	return out, err
}

// StackKeys are, for each array that has any, the columns of its keys that are stacks: numbers for Folded.
func (s *Session) StackKeys() map[string][]int {
	out, keys := map[string][]int{}, s.columns // of machines, for a session over such
	if keys == nil {
		keys = stackflow.Of(s.p.ir).Keys
	}
	for g, columns := range keys {
		out[s.p.ir.Globals[g].Name] = slices.Sorted(maps.Keys(columns))
	}
	return out
}

// Folded gives the functions of stacks, by the numbers that keys of Globals have, as flamegraph.pl reads them: the
// outermost first, with semicolons between. The program was compiled with ToolOptions.Watched.
func (s *Session) Folded(stacks []int64) (out []string, err error) {
	err = s.inLoop(func() error {
		for _, n := range stacks {
			out = append(out, s.folded(n))
		}
		return nil
	})
	return out, err
}

// Switch switches probes of Probes on or off, by their indexes there. What is off stays in place and does nothing.
func (s *Session) Switch(on bool, probes ...int) error {
	n := int64(0)
	if on {
		n = 1
	}
	return s.inLoop(func() error {
		for _, i := range probes {
			if i < 0 || i >= len(s.p.ir.Probes) {
				return fmt.Errorf("there is no probe %d", i)
			}
			c := s.p.ir.Probes[i].Cond
			if c < 0 {
				return fmt.Errorf("%s cannot be switched", s.p.ir.Probes[i].Name)
			}
			if err := s.b.Store().Set(c, nil, interp.Val{Int: n}); err != nil {
				return err
			}
		}
		return nil
	})
}

// Reset gives the globals of the script the values that they began with. Those of one lock change at one moment. Of
// what machines count that is refused for aggregates and for arrays that they tell a part of.
func (s *Session) Reset() error {
	return s.inLoop(func() error {
		if x, ok := s.b.(*merge.Session); ok {
			if err := x.MayReset(); err != nil {
				return err
			}
		}
		byClass := map[int][]int{}
		for i, g := range s.p.ir.Globals {
			if g.Shown {
				byClass[g.Class] = append(byClass[g.Class], i)
			}
		}
		for class, globals := range byClass {
			if err := s.reset(class, globals); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Session) reset(class int, globals []int) error {
	store := s.b.Store()
	if class >= 0 {
		if err := store.Lock(class); err != nil {
			return err
		}
		defer store.Unlock(class)
	}
	for _, i := range globals {
		g := s.p.ir.Globals[i]
		var err error
		switch {
		case g.IsArray() || g.Type == types.Stats:
			err = store.Clear(i)
		case g.Type == types.String:
			err = store.Set(i, nil, interp.Val{Str: g.InitStr})
		default:
			err = store.Set(i, nil, interp.Val{Int: g.InitInt})
		}
		if err != nil {
			return fmt.Errorf("reset %s: %w", g.Name, err)
		}
	}
	return nil
}

// switches gives each probe of p that fires while the session runs a global of its own, on which it depends.
func switches(p *ir.Program) {
	for i, pr := range p.Probes {
		serial := slices.ContainsFunc(pr.Sites, func(s *probe.Site) bool { return s.Kind.Serial() })
		if pr.Cond >= 0 || serial || strings.HasSuffix(pr.Name, " (entry)") {
			continue
		}
		pr.Cond = len(p.Globals)
		p.Globals = append(p.Globals, &ir.Global{Name: fmt.Sprintf("__switch_%d", i), Pos: pr.Pos, Type: types.Long,
			InitInt: 1, Sharing: ir.Shared, Class: -1})
	}
}
