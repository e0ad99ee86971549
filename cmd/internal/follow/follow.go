// Package follow keeps a session on one machine to the pods that another machine names while it runs.
//
// In: a session, the pods it begins with, sets of pods that come later. Out: what became of each pod: its control group
// is traced, its program has the probes, or another session is needed for it.
package follow

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/cmd/internal/remote"
	"github.com/gostap/gostap/compiler/foreign"
)

const (
	// missingEvery is how often a pod is looked for whose control group is not there yet.
	missingEvery = 20 * time.Millisecond
	// reachEvery is how often a pod is looked into until its program is found.
	reachEvery = 100 * time.Millisecond
	// absentAfter is how long a pod may run before it is told that no program runs there which the script names.
	absentAfter = 150 * time.Millisecond
)

// Follower keeps a session to pods.
type Follower struct {
	s          *gostap.Session
	from       remote.Session
	pods       map[string]*pod
	left       []string // those that it was kept to before
	stop, gone chan struct{}
}

// pod is what is known of one.
type pod struct {
	remote.Pod
	entered time.Time // when its control group was, zero if it is not
	ran     time.Time // since when it is known to run
	told    remote.State
	partly  bool // not all of it is there that is to be traced
}

// Begin follows the pods that come by frames, beginning with those named; it is called when the probes are in place. A
// session that nobody sends pods to has none to follow, and gives nil.
func Begin(s *gostap.Session, from remote.Session, pods []string) *Follower {
	if !from.Follow {
		return nil
	}
	f := &Follower{s: s, from: from, pods: map[string]*pod{}, stop: make(chan struct{}), gone: make(chan struct{})}
	for _, word := range pods {
		uid, _, _ := strings.Cut(word, "/")
		if f.pods[uid] == nil {
			f.pods[uid] = &pod{Pod: remote.Pod{UID: uid, Runs: true}, ran: time.Now()}
		}
		f.pods[uid].Of = append(f.pods[uid].Of, word)
	}
	go f.run()
	return f
}

// End stops that; nil does nothing.
func (f *Follower) End() {
	if f != nil {
		close(f.stop)
		<-f.gone
	}
}

func (f *Follower) run() {
	defer close(f.gone)
	defer foreign.Goroutine()()
	ticks := time.NewTicker(missingEvery)
	defer ticks.Stop()
	changed, looked := true, time.Time{}
	for {
		missing, unknown := false, false
		for _, p := range f.pods {
			missing = missing || p.entered.IsZero() || p.partly
			unknown = unknown || p.told == "" || p.told == remote.Entered || p.told == remote.Absent
		}
		if changed || missing {
			if f.enter() != nil {
				return // the session has ended
			}
		}
		if unknown && time.Since(looked) > reachEvery || changed {
			if looked = time.Now(); f.look() != nil {
				return
			}
		}
		changed = false
		select {
		case <-f.stop:
			return
		case set := <-f.from.Sets:
			f.take(set)
			changed = true
		case <-ticks.C:
		}
	}
}

// take has other pods than before.
func (f *Follower) take(set []remote.Pod) {
	was := f.pods
	f.pods = map[string]*pod{}
	defer func() {
		for uid := range was {
			if f.pods[uid] == nil {
				f.left = append(f.left, uid)
			}
		}
	}()
	for _, n := range set {
		p := was[n.UID]
		if p == nil {
			p = &pod{}
		}
		if p.Pod = n; n.Runs && p.ran.IsZero() {
			p.ran = time.Now()
		}
		f.pods[n.UID] = p
	}
}

// enter has the control groups that are there traced.
func (f *Follower) enter() error {
	var words []string
	for _, p := range f.pods {
		words = append(words, p.Of...)
	}
	here, err := f.s.SetPods(words)
	if err != nil {
		fmt.Fprintf(f.from.Err, "WARNING: pods are not followed any more: %v\n", err)
		return err
	}
	for _, uid := range f.left {
		f.from.Told(remote.Told{UID: uid, State: remote.Left})
	}
	f.left = nil
	now := time.Now()
	for _, p := range f.pods {
		there := 0
		for _, word := range p.Of {
			if slices.Contains(here, word) {
				there++
			}
		}
		p.partly = there < len(p.Of)
		if there > 0 && p.entered.IsZero() {
			p.entered = now
			f.tell(p, remote.Told{State: remote.Entered})
		}
	}
	return nil
}

// reach is what the probes have to do with a pod, or with its containers that are traced.
func (f *Follower) reach(p *pod) (all gostap.Reach, err error) {
	for _, word := range p.Of {
		r, err := f.s.Reach(word)
		if err != nil {
			return all, err
		}
		all.Runs, all.Traced, all.Denied = all.Runs || r.Runs, all.Traced || r.Traced, all.Denied || r.Denied
		all.Age, all.Other = max(all.Age, r.Age), cmp.Or(all.Other, r.Other)
		all.Deleted = cmp.Or(all.Deleted, r.Deleted)
	}
	return all, nil
}

// look finds out what runs in pods.
func (f *Follower) look() error {
	for _, p := range f.pods {
		if p.entered.IsZero() || p.told != remote.Entered && p.told != remote.Absent {
			continue
		}
		r, err := f.reach(p)
		switch {
		case err != nil:
			return err
		case r.Other != "":
			f.tell(p, remote.Told{State: remote.Other, Why: r.Other + " is a file of its own in another image"})
		case r.Traced:
			f.tell(p, remote.Told{State: remote.Traced, Late: max(r.Age-time.Since(p.entered), 0)})
		case r.Runs && p.ran.IsZero():
			p.ran = time.Now()
		case p.told == remote.Entered && !p.ran.IsZero() && time.Since(p.ran) > absentAfter:
			why := "no program runs in it that the script names, or another build of it"
			switch {
			case r.Deleted != "":
				why = "its program " + r.Deleted + " was deleted or replaced while it ran, and has no file any more " +
					"in which there could be probes; it has when the pod begins again"
			case r.Denied:
				why = "no permission to look at the programs of its processes: the agent needs CAP_SYS_PTRACE"
			}
			f.tell(p, remote.Told{State: remote.Absent, Why: why})
		}
	}
	return nil
}

// tell tells of a pod; a link that is broken ends the session anyway.
func (f *Follower) tell(p *pod, t remote.Told) {
	p.told, t.UID, t.Since = t.State, p.UID, time.Since(p.entered)
	f.from.Told(t)
}
