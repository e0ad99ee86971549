package gostap

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/runtime/cgroup"
)

// scoped are the folders of Options.Cgroups, and of the groups of Options.Pods that are here.
func (o *Options) scoped() (dirs []string, err error) {
	if len(o.Pods) == 0 {
		return o.Cgroups, nil
	}
	dirs, err = cgroup.Pods(o.Pods)
	return slices.Concat(o.Cgroups, dirs), err
}

// scope is the hierarchy that a session is kept to, nil if it is kept to none: that of the groups, of pods of which
// none is here the unified one.
func (o *Options) scope() (*backend.Scope, error) {
	dirs, err := o.scoped()
	if err != nil {
		return nil, err
	}
	_, of, err := groups(dirs, nil)
	if of == nil && len(o.Pods) > 0 {
		of = &backend.Scope{}
	}
	return of, err
}

// groups looks at the folders of control groups: their levels as a session wants them, and the hierarchy that all of
// them are of. That is of, or where this is nil the first one's, nil if there is none.
func groups(dirs []string, of *backend.Scope) (levels map[uint64]int, _ *backend.Scope, err error) {
	levels = map[uint64]int{}
	for _, dir := range dirs {
		g, err := cgroup.Open(dir)
		if err != nil {
			return nil, nil, err
		}
		if of == nil {
			of = &backend.Scope{Controller: g.Controller}
		}
		if g.Controller != of.Controller {
			return nil, nil, fmt.Errorf("the control groups of a session are of one hierarchy: %s is of %s, the first "+
				"one of %s", dir, hierarchy(g.Controller), hierarchy(of.Controller))
		}
		levels[g.ID] = g.Level
	}
	return levels, of, nil
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
	dirs, err := s.p.o.scoped()
	if err != nil {
		return err
	}
	levels, _, err := groups(dirs, s.p.scope)
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
	levels, _, err := groups(dirs, s.p.scope)
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
