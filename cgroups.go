package gostap

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/runtime/cgroup"
)

// inPods are the folders of the groups of Options.Pods that are here.
func (o *Options) inPods() ([]string, error) {
	if len(o.Pods) == 0 {
		return nil, nil
	}
	p, err := cgroup.FindPods(o.Pods)
	if err != nil {
		return nil, err
	}
	dirs, err := p.Find(o.Pods)
	return slices.Sorted(maps.Values(dirs)), err
}

// scope is the hierarchy that a session is kept to, nil if it is kept to none: that of the groups, else of the pods,
// or if none of these is here that of the kubelet.
func (o *Options) scope() (of *backend.Scope, pods *cgroup.Pods, err error) {
	if _, of, err = groups(o.Cgroups, nil); err != nil || len(o.Pods) == 0 {
		return of, nil, err
	}
	if pods, err = cgroup.FindPods(o.Pods); err != nil {
		return nil, nil, err
	}
	if of == nil {
		of = &backend.Scope{Controller: pods.Controller}
	}
	return of, pods, nil
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
	levels, _, err := s.scoped(s.p.o.Pods)
	if err != nil {
		return err
	}
	return x.SetScope(levels)
}

// scoped are the groups of Options.Cgroups and of pods, as SetScope takes them, and the pods that are here.
func (s *Session) scoped(uids []string) (levels map[uint64]int, here []string, err error) {
	if levels, _, err = groups(s.p.o.Cgroups, s.p.scope); err != nil || s.p.pods == nil {
		return levels, nil, err
	}
	dirs, err := s.p.pods.Find(uids)
	if err != nil {
		return nil, nil, err
	}
	for _, u := range slices.Sorted(maps.Keys(dirs)) {
		of, _, err := groups([]string{dirs[u]}, s.p.scope)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the pod has gone meanwhile
		}
		if err != nil {
			return nil, nil, err
		}
		maps.Copy(levels, of)
		here = append(here, u)
	}
	return levels, here, nil
}

// SetPods keeps a session that was compiled with Options.Pods to other pods, from now on: all of them, by their UIDs.
// Those that are on this machine are given; to have one that comes later SetPods is called again.
func (s *Session) SetPods(uids []string) (here []string, err error) {
	if s.p.pods == nil {
		return nil, errors.New("the program was compiled without Options.Pods")
	}
	ran, failure := s.between(func() {
		var levels map[uint64]int
		if levels, here, err = s.scoped(uids); err != nil {
			return
		}
		if x, ok := s.b.(backend.Scoper); ok {
			err = x.SetScope(levels)
		}
	})
	if failure != nil {
		return nil, failure
	}
	if !ran {
		return nil, errors.New("the session has ended")
	}
	return here, err
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
