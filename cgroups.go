package gostap

import (
	"errors"
	"fmt"

	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/runtime/cgroup"
)

// scope says of which hierarchy the groups of Options.Cgroups are, nil where there are none.
func (o *Options) scope() (*backend.Scope, error) {
	if len(o.Cgroups) == 0 {
		return nil, nil
	}
	g, err := cgroup.Open(o.Cgroups[0])
	if err != nil {
		return nil, err
	}
	scope := &backend.Scope{Controller: g.Controller}
	_, err = o.levels(o.Cgroups, scope)
	return scope, err
}

// levels are the groups as a session wants them. All have to be of the hierarchy that the program was built for.
func (o *Options) levels(dirs []string, of *backend.Scope) (map[uint64]int, error) {
	out := map[uint64]int{}
	for _, dir := range dirs {
		g, err := cgroup.Open(dir)
		if err != nil {
			return nil, err
		}
		if g.Controller != of.Controller {
			return nil, fmt.Errorf("the control groups of a session are of one hierarchy: %s is of %s, the first one "+
				"of %s", dir, hierarchy(g.Controller), hierarchy(of.Controller))
		}
		out[g.ID] = g.Level
	}
	return out, nil
}

func hierarchy(controller string) string {
	if controller == "" {
		return "the unified one"
	}
	return controller + "'s"
}

// enter keeps a session that is not attached yet to the groups of Options.Cgroups.
func (s *Session) enter() error {
	x, ok := s.b.(backend.Scoper)
	if s.p.scope == nil || !ok {
		return nil
	}
	levels, err := s.p.o.levels(s.p.o.Cgroups, s.p.scope)
	if err != nil {
		return err
	}
	return x.SetScope(levels)
}

// SetCgroups keeps a session that was compiled with Options.Cgroups to other control groups, from now on: the folders
// of all of them, of the same hierarchy. With none no probe has hits.
func (s *Session) SetCgroups(dirs []string) (err error) {
	if s.p.scope == nil {
		return errors.New("the program was compiled without Options.Cgroups")
	}
	levels, err := s.p.o.levels(dirs, s.p.scope)
	if err != nil {
		return err
	}
	ran, failure := s.between(func() {
		if x, ok := s.b.(backend.Scoper); ok {
			err = x.SetScope(levels)
		}
	})
	if failure != nil {
		return failure
	}
	if !ran {
		return errors.New("the session has ended")
	}
	return err
}
