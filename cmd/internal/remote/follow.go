package remote

import (
	"encoding/json"
	"time"
)

// Pod is one that a session is to be kept to.
type Pod struct {
	UID string `json:"uid"`
	// Of is what is traced of it: the UID for all, or UID/ID for each of its containers, by the runtime's IDs.
	Of []string `json:"of"`
	// Runs says that its containers have been started, so that what the script names is to be found in it.
	Runs bool `json:"runs"`
}

// State is what a session knows of a pod.
type State string

// The states of a pod: its control group is traced; a program that the script names runs there; such a program does,
// from a file of its own that the session has no probes in; none does; the session has no hits in it any more.
const (
	Entered State = "entered"
	Traced  State = "traced"
	Other   State = "other"
	Absent  State = "absent"
	Left    State = "left"
)

// Told is what a session tells of a pod.
type Told struct {
	UID   string `json:"uid"`
	State State  `json:"state"`
	// Since is how long its control group has been traced, Late how much of the life of its program was over by then,
	// 0 if none.
	Since time.Duration `json:"since"`
	Late  time.Duration `json:"late"`
	// Why is the reason of Other and Absent.
	Why string `json:"why,omitempty"`
}

// Follow is how a host learns of pods while its session runs.
type Follow struct {
	// Plan is what runs there in place of the plan of the request, nil if it is that.
	Plan []byte
	// Sets are the pods of the session, all of them anew.
	Sets <-chan []Pod
	// Told is called with what the session tells, Ended when it has ended; in order says that it did so by itself, why
	// is what it printed last as an error. Neither may wait.
	Told func(Told)
	// Clock, if not nil, is called when more is known of the host's clock. It does not wait either.
	Clock func(Clock)
	// Names are the host's node, and NAMESPACE/NAME of each pod that its session has had so far, also of those that
	// have gone. It may be called from any goroutine.
	Names func() (node string, pods []string)
	Ended func(inOrder bool, why string)
}

// sets gives a channel that says nothing where there is no f.
func (f *Follow) sets() <-chan []Pod {
	if f == nil {
		return nil
	}
	return f.Sets
}

// heard takes a Told.
func (f *Follow) heard(body []byte) error {
	var t Told
	if f == nil || json.Unmarshal(body, &t) != nil {
		return errGarbage
	}
	f.Told(t)
	return nil
}
