package target

import (
	"errors"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/types"
)

// Events have arguments and no program: tracepoints, system calls (probe.Names).

// event finds a variable of an event. In the return of a system call, one that has its value at the entry only is read
// there.
func (b *build) event(s *probe.Site, t *ast.Target) (o object, entry bool, path []ast.TargetStep, err error) {
	name := t.Name[1:]
	v, err := s.Names.Var(name)
	if err == nil {
		err = v.Err
	}
	var dead *debuginfo.NotLiveError
	if errors.As(err, &dead) && s.IsReturn() && !b.inEntry {
		if es, eerr := b.entrySite(); eerr == nil {
			if ev, verr := es.Names.Var(name); verr == nil && ev.Err == nil {
				return object{Place: ev.Place}, true, t.Path, nil
			}
		}
	}
	if err != nil {
		return o, false, nil, err
	}
	return object{Place: v.Place}, false, t.Path, nil
}

// eventName makes $$name.
func (b *build) eventName(t *ast.Target, addr bool) (*elab.Target, error) {
	s := b.at()
	switch {
	case s == nil || s.Names == nil:
		return nil, fail("$$name is for marks and tracepoints")
	case addr || len(t.Path) > 0:
		return nil, fail("%s is text; it has no members and no address", t.Name)
	}
	name := s.Func
	if s.Kind.InUser() {
		name = s.Event // a mark's: Func is the function that it is in
	}
	return &elab.Target{Type: types.String, Pretty: []elab.PrettyPart{{Lit: name}}}, nil
}

// eventVars makes $$vars, $$parms, $$locals and $$return.
func (b *build) eventVars(s *probe.Site, t *ast.Target) (*elab.Target, error) {
	w := writer{plain: t.Pretty == 0, nested: t.Pretty > 1}
	vs := s.Names.Vars()
	if t.Name == "$$return" {
		for _, v := range vs {
			if v.Kind == debuginfo.Result && v.Name == "return" {
				w.variable(v.Name, v)
				return &elab.Target{Type: types.String, Pretty: w.parts}, nil
			}
		}
		return nil, &errResult{said("available in .return probes only", "append .return to the probe point")}
	}
	if t.Name != "$$locals" {
		var atEntry []*debuginfo.Var
		if s.IsReturn() && !b.inEntry {
			if es, err := b.entrySite(); err == nil {
				atEntry = es.Names.Vars()
			}
		}
		for _, v := range vs {
			if v.Kind != debuginfo.Param {
				continue
			}
			n := len(w.parts)
			for _, e := range atEntry {
				if v.Err != nil && e.Name == v.Name {
					v = e
				}
			}
			w.variable(v.Name, v)
			if v.Err == nil && len(atEntry) > 0 && contains(atEntry, v) {
				for i := n; i < len(w.parts); i++ {
					w.parts[i].AtEntry = w.parts[i].Conv != 0
				}
			}
		}
	}
	return &elab.Target{Type: types.String, Pretty: w.parts}, nil
}

func contains(vs []*debuginfo.Var, v *debuginfo.Var) bool {
	for _, o := range vs {
		if o == v {
			return true
		}
	}
	return false
}

// enter makes the site of the entry of the system call that s returns from.
func (e *Env) enter(s *probe.Site) (*probe.Site, error) {
	if es := e.enters[s]; es != nil {
		return es, nil
	}
	if s.Syscall.Enter == nil {
		return nil, fail("the entry of this system call is not known")
	}
	es := *s
	es.Kind, es.Names = s.Kind.Entry(), s.Syscall.Enter
	es.Point += " (entry)"
	if e.enters == nil {
		e.enters = map[*probe.Site]*probe.Site{}
	}
	e.enters[s] = &es
	return &es, nil
}
