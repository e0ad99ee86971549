// Package api is the resource Trace of Kubernetes, gostap.dev/v1alpha1: what is to be traced, and what came of it.
//
// In: nothing; the types are those of the definition in package manifests, which a test there holds against them. Out:
// types for clients of Kubernetes, and their registration (AddTo).
package api

import (
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Group, Version and Resource are how the API server calls traces.
const (
	Group    = "gostap.dev"
	Version  = "v1alpha1"
	Resource = "traces"
)

// Finalizer keeps a Trace that is deleted until its session has ended.
const Finalizer = Group + "/session"

// Verbs of our own, which roles give on traces.
const (
	VerbScript = "script" // scripts, not tools alone
	VerbGuru   = "guru"   // scripts that change what they trace
)

// Trace is one session over pods of its namespace.
type Trace struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   Spec   `json:"spec"`
	Status Status `json:"status,omitempty"`
}

// Spec is what is asked for. It never changes.
type Spec struct {
	// Tool is one of "gostap tools", Script the text of a script: one of the two.
	Tool   string `json:"tool,omitempty"`
	Script string `json:"script,omitempty"`
	// Options are those of the tool, without their dashes. An option without a value has "".
	Options map[string]string `json:"options,omitempty"`
	// Args are the arguments of the tool or the script.
	Args []string `json:"args,omitempty"`
	// Pods selects pods of the namespace.
	Pods Pods `json:"pods"`
	// Containers are those of the pods that are traced, by name; all if there are none.
	Containers []string `json:"containers,omitempty"`
	// Nodes says on which nodes; all if it is left out.
	Nodes Nodes `json:"nodes,omitzero"`
	// Program is which of several programs in the pods a process without a path means.
	Program string `json:"program,omitempty"`
	// Wait says that it begins also where there are no such pods yet.
	Wait bool `json:"wait,omitempty"`
	// Separate says that each node prints for itself, in place of one answer of all.
	Separate bool `json:"separate,omitempty"`
	// InOrder has lines of all nodes come in the order of time, as far as their clocks are known.
	InOrder bool `json:"inOrder,omitempty"`
	// Page has the status have what a page shows of the session while it runs.
	Page bool `json:"page,omitempty"`
	// Folded has arrays with stacks as keys printed as lines for flame graphs, the greatest first, of which the
	// beginning is kept.
	Folded bool   `json:"folded,omitempty"`
	Limits Limits `json:"limits,omitzero"`
	// Begin is when the session begins, at once if it is left out or has been.
	Begin *metav1.Time `json:"begin,omitempty"`
	// Export are destinations by the names that they have in the controller; what is printed is in the status beside.
	Export []string `json:"export,omitempty"`
	Guru   bool     `json:"guru,omitempty"`
	// ExpireSeconds is how long the Trace stays after it has finished.
	ExpireSeconds int32 `json:"expireSeconds,omitempty"`
	// RequestedBy is who asked. Admission sets it.
	RequestedBy User `json:"requestedBy,omitzero"`
}

// Pods are those with all of the labels.
type Pods struct {
	MatchLabels map[string]string `json:"matchLabels"`
}

// Nodes are those with all of the labels, and of these so many that are taken at random, 0 for all.
type Nodes struct {
	MatchLabels map[string]string `json:"matchLabels,omitempty"`
	Sample      int32             `json:"sample,omitempty"`
}

// Limits end a session, and bound what is kept of it.
type Limits struct {
	// Seconds is how long the session lasts at most.
	Seconds int32 `json:"seconds,omitempty"`
	// HitsPerSecond is how often probes may be hit on a node; more end the session there.
	HitsPerSecond int32 `json:"hitsPerSecond,omitempty"`
	// CPUPercent is how much of a CPU's time hits may take on a node; more end the session there.
	CPUPercent int32 `json:"cpuPercent,omitempty"`
	// Elements is how many of an array of numbers each node tells, the greatest; what is left out is bounded in the
	// message.
	Elements int32 `json:"elements,omitempty"`
	// Bytes is how much of the end of the output is kept.
	Bytes int32 `json:"bytes,omitempty"`
}

// User is who asked, as the API server knows them.
type User struct {
	Name   string   `json:"name,omitempty"`
	UID    string   `json:"uid,omitempty"`
	Groups []string `json:"groups,omitempty"`
}

// Phase is how far a Trace is.
type Phase string

// The phases. Done, Refused and Failed are last ones.
const (
	Pending Phase = "Pending"
	Running Phase = "Running"
	Done    Phase = "Done"
	Refused Phase = "Refused" // no session could begin
	Failed  Phase = "Failed"  // a session began, and did not end well
)

// Finished says that nothing more will come.
func (p Phase) Finished() bool { return p == Done || p == Refused || p == Failed }

// Status is what came of a Trace.
type Status struct {
	Phase    Phase        `json:"phase,omitempty"`
	Message  string       `json:"message,omitempty"`
	Started  *metav1.Time `json:"started,omitempty"`
	Finished *metav1.Time `json:"finished,omitempty"`
	// Totals are those of all nodes. Nodes lists them; of very many those first of which there is something to say.
	Totals Totals `json:"totals,omitzero"`
	Nodes  []Node `json:"nodes,omitempty"`
	// Skipped are pods that are not traced, with the reason.
	Skipped []Skipped `json:"skipped,omitempty"`
	Result  Result    `json:"result,omitzero"`
	// Page is the last state of the session's page: of package state, packed.
	Page string `json:"page,omitempty"`
}

// Totals count nodes by what they have come to, their pods, and what is missing.
type Totals struct {
	Nodes   int32 `json:"nodes,omitempty"`
	Running int32 `json:"running,omitempty"`
	Done    int32 `json:"done,omitempty"`
	Refused int32 `json:"refused,omitempty"`
	Failed  int32 `json:"failed,omitempty"`
	Pods    int32 `json:"pods,omitempty"`
	Lost    int64 `json:"lost,omitempty"`
	// Left is how many nodes are not listed.
	Left int32 `json:"left,omitempty"`
}

// Add counts a node.
func (t *Totals) Add(n *Node) {
	t.Nodes++
	t.Pods += n.Pods
	t.Lost += n.Lost
	t.phase(n.Phase, 1)
}

// End counts the nodes that have not finished as what they have come to.
func (t *Totals) End(p Phase) {
	rest := t.Nodes - t.Done - t.Refused - t.Failed
	t.Running = 0
	t.phase(p, rest)
}

func (t *Totals) phase(p Phase, n int32) {
	switch p {
	case Running:
		t.Running += n
	case Done:
		t.Done += n
	case Refused:
		t.Refused += n
	case Failed:
		t.Failed += n
	}
}

// Node is what a node has to do with a Trace.
type Node struct {
	Name string `json:"name"`
	// Pods is how many of its pods are traced, or were.
	Pods  int32 `json:"pods"`
	Phase Phase `json:"phase"`
	// Messages are what gostap said of this node: warnings, losses, errors with their carets; the last ones.
	Messages string `json:"messages,omitempty"`
	// Lost is the sum of the counts in what it said of losses.
	Lost int64 `json:"lost,omitempty"`
	// Clock is how far the node's clock is ahead of the controller's, or behind, and by how much that may be wrong.
	Clock string `json:"clock,omitempty"`
}

// Skipped is a pod that is not traced.
type Skipped struct {
	Pod    string `json:"pod"`
	Reason string `json:"reason"`
}

// Result is what was printed.
type Result struct {
	// Text is the end of it.
	Text string `json:"text,omitempty"`
	// Bytes is how many there were, Left how many of them, from the beginning, are not in Text.
	Bytes int64 `json:"bytes,omitempty"`
	Left  int64 `json:"left,omitempty"`
}

// TraceList is a list of traces.
type TraceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Trace `json:"items"`
}

// gv is the group with its version.
var gv = schema.GroupVersion{Group: Group, Version: Version}

// AddTo makes the types known.
func AddTo(s *runtime.Scheme) {
	s.AddKnownTypes(gv, &Trace{}, &TraceList{})
	metav1.AddToGroupVersion(s, gv)
}

// DeepCopy gives a Trace that shares nothing with t.
func (t *Trace) DeepCopy() *Trace {
	out := new(Trace)
	*out = *t
	t.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec, out.Status = Spec{}, Status{}
	same(&t.Spec, &out.Spec)
	same(&t.Status, &out.Status)
	return out
}

// same copies a value that consists of what JSON has.
func same(from, to any) {
	b, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(b, to)
	}
	if err != nil {
		panic(err) // our own types are no channels
	}
}

// DeepCopyObject is for runtime.Object.
func (t *Trace) DeepCopyObject() runtime.Object { return t.DeepCopy() }

// DeepCopyObject is for runtime.Object.
func (l *TraceList) DeepCopyObject() runtime.Object {
	out := &TraceList{TypeMeta: l.TypeMeta, Items: slices.Clone(l.Items)}
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	for i := range out.Items {
		out.Items[i] = *l.Items[i].DeepCopy()
	}
	return out
}
