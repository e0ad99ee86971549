// Package session runs gostap over the pods of a namespace, and tells how far it is.
//
// In: the path of gostap, which pods and nodes, arguments of gostap. Out: the end of what it prints, what it says of
// each node, how it ended.
package session

import (
	"cmp"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gostap/gostap/cmd/internal/asked"
	"github.com/gostap/gostap/cmd/internal/fleet/api"
	"github.com/gostap/gostap/cmd/internal/fleet/command"
	"github.com/gostap/gostap/cmd/internal/kept"
	"github.com/gostap/gostap/cmd/internal/kube/event"
	"github.com/gostap/gostap/runtime/export/text"
)

// Where says which pods are traced: those of a namespace with all labels of a selector, on nodes that are named, all if
// none is. Trace is the name of who asks for it.
type Where struct {
	Namespace, Selector string
	Trace               string
	Nodes               []string
}

// Config is what all sessions have in common.
type Config struct {
	Gostap string
	// Agents is their namespace.
	Agents string
	// Kubectl is a directory with a command kubectl.
	Kubectl string
	// Env is what kubectl has to know of the cluster, and what delivers of its destinations.
	Env []string
	// Exports are the destinations that specs can name.
	Exports asked.Exports
}

const (
	mostMessages = 8 << 10 // bytes of a node's
	mostOfAll    = 512 << 10
	mostSkipped  = 100 // pods that are not traced and are named
	mostNodes    = 2000
)

// Session is a running gostap.
type Session struct {
	child kept.Child // whose lock holds what follows

	out     kept.Tail
	own     node // what is about no node
	nodes   map[string]*node
	agents  map[string]string // the nodes that they are on
	skipped map[string]string // pods that are not traced, with the reason
	page    *pager            // nil for none
}

// node is what is known of one.
type node struct {
	said  *kept.Tail
	phase api.Phase
	ran   bool
	lost  int64
	pods  map[string]bool // those that are or were traced
	clock string
}

func newNode() *node { return &node{said: &kept.Tail{Most: mostMessages}, pods: map[string]bool{}} }

// Start runs a spec over pods.
func (c *Config) Start(s *api.Spec, w Where) (*Session, error) {
	args, err := command.Args(s)
	if err != nil {
		return nil, err
	}
	exports, err := c.Exports.Of(command.Runner, s.Export)
	if err != nil {
		return nil, err
	}
	seconds := cmp.Or(s.Limits.Seconds, 60)
	head := []string{"kube", "--namespace=" + w.Namespace, "--selector=" + w.Selector, "--agents=" + c.Agents,
		"--told=json"}
	for _, n := range w.Nodes {
		head = append(head, "--node="+n)
	}
	for _, c := range s.Containers {
		head = append(head, "--container="+c)
	}
	if s.Program != "" {
		head = append(head, "--program="+s.Program)
	}
	if s.Wait {
		head = append(head, "--wait")
	}
	head = append(head, "--", "--color=never", "--timeout="+strconv.Itoa(int(seconds)))
	if s.Limits.HitsPerSecond > 0 {
		head = append(head, "--max-hits="+strconv.Itoa(int(s.Limits.HitsPerSecond)))
	}
	if !s.Separate {
		head = append(head, "--merge")
	}
	if s.Limits.CPUPercent > 0 {
		head = append(head, "--max-cpu="+strconv.Itoa(int(s.Limits.CPUPercent)))
	}
	if s.Limits.Elements > 0 {
		head = append(head, "--elements="+strconv.Itoa(int(s.Limits.Elements)))
	}
	if s.InOrder {
		head = append(head, "--in-order")
	}
	if s.Folded {
		head = append(head, "--folded")
	}
	if s.Page {
		head = append(head, "--http=127.0.0.1:0")
	}
	env := append(command.Env(c.Kubectl), c.Env...)
	if len(exports) > 0 {
		for _, to := range append(exports, text.Kind) {
			head = append(head, "--export="+to)
		}
		env = append(env, "OTEL_RESOURCE_ATTRIBUTES=gostap.trace.name="+w.Trace+",gostap.trace.namespace="+w.Namespace)
	}
	r := &Session{nodes: map[string]*node{}, agents: map[string]string{}, skipped: map[string]string{}, own: *newNode(),
		out: kept.Tail{Most: int(cmp.Or(s.Limits.Bytes, 65536)), First: s.Folded}}
	r.own.said.Most *= 4
	if s.Page {
		r.page = newPager()
	}
	r.child.Errs.Line = r.line
	cmd := exec.Command(c.Gostap, append(head, args...)...)
	cmd.Env = env
	var late *time.Timer
	// A controller that is killed takes it along, and it ends those on the nodes.
	err = r.child.Begin(cmd, &r.out, func() error {
		late = time.AfterFunc(time.Duration(seconds)*time.Second+time.Minute, r.Stop)
		return cmd.Start()
	}, func() {
		late.Stop()
		r.page.end()
	})
	if err != nil {
		late.Stop()
		return nil, fmt.Errorf("gostap could not be started: %w", err)
	}
	return r, nil
}

// Stop asks gostap to end, and ends it if it does not in a while.
func (r *Session) Stop() {
	if r.child.Stop() {
		time.AfterFunc(kept.Grace, r.Stop)
	}
}

// line takes a line of standard error: an event, or what was said before there was a session.
func (r *Session) line(text string) {
	e, ok := event.Parse([]byte(text))
	switch {
	case !ok:
		r.own.take(text)
	case e.Said == "":
		r.event(&e)
	case r.nodes[r.agents[e.Agent]] != nil:
		r.nodes[r.agents[e.Agent]].take(e.Said)
	case e.Agent != "":
		r.own.take(e.Agent + ": " + e.Said)
	default:
		r.own.take(e.Said)
	}
}

func (n *node) take(text string) {
	n.said.Write([]byte(strings.TrimSuffix(text, "\n") + "\n"))
	n.lost += kept.Lost(text)
	switch {
	case kept.Breaks(text):
		n.phase = api.Failed
	case n.phase == "" && kept.Refuses(text):
		n.phase = api.Refused
	}
}

// event takes what has happened to a session or a pod.
func (r *Session) event(e *event.Event) {
	if e.Page != "" {
		r.page.begin(e.Page)
		return
	}
	if e.Text != "" {
		r.own.said.Write([]byte(e.Text + "\n"))
	}
	if e.Pod != "" {
		switch e.State {
		case event.Traced:
			if n := r.nodes[e.Node]; n != nil {
				n.pods[e.Pod] = true
			}
			delete(r.skipped, e.Pod)
		case event.Untraced:
			r.skipped[e.Pod] = e.Why
		}
		return
	}
	if e.Agent == "" {
		return
	}
	if r.nodes[e.Node] == nil {
		r.nodes[e.Node] = newNode()
	}
	r.agents[e.Agent] = e.Node
	n := r.nodes[e.Node]
	switch e.State {
	case event.Clock:
		n.clock = e.Clock
	case event.Begins:
		if n.phase == "" || n.phase == api.Done || n.phase == api.Refused && !n.ran {
			n.phase = api.Pending
		}
	case event.Runs:
		if n.ran = true; n.phase == api.Pending {
			n.phase = api.Running
		}
	case event.Ended:
		switch {
		case n.phase == api.Running && e.Why != "": // an error ended it, such as too many hits
			n.phase = api.Failed
		case n.phase == api.Running:
			n.phase = api.Done
		}
	case event.Lost:
		n.phase = api.Failed
	case event.Refused:
		// A session beside one that runs is begun for other builds; what its pods miss is told of them.
		if n.phase == api.Pending && !n.ran {
			n.phase = api.Refused
		}
	}
}

// Tell writes how far the session is into a status, and says whether it has ended.
func (r *Session) Tell(s *api.Status) (ended bool) {
	r.child.Lock()
	defer r.child.Unlock()
	s.Result.Text, s.Result.Bytes, s.Result.Left = r.out.Text()
	s.Message, _, _ = r.own.said.Text()
	r.tellSkipped(s)
	s.Page = r.page.packed(s.Page)
	if s.Phase = api.Running; !r.child.Ended {
		r.tellNodes(s, "")
		return false
	}
	faults := 0
	for _, n := range r.nodes {
		if n.phase == api.Failed || n.phase == api.Refused {
			faults++
		}
	}
	switch {
	case r.child.Err != nil && r.own.phase == api.Refused && !r.anyRan(), len(r.nodes) > 0 && r.all(api.Refused):
		s.Phase = api.Refused
	case r.child.Err != nil || faults > 0:
		s.Phase = api.Failed
	default:
		s.Phase = api.Done
	}
	if faults > 0 {
		s.Message = fmt.Sprintf("%d of %d nodes failed: what there is of them is not complete\n", faults,
			len(r.nodes)) + s.Message
	} else if s.Message == "" && r.child.Err != nil {
		s.Message = "gostap ended: " + r.child.Err.Error()
	}
	rest := api.Done
	if faults == 0 { // it was the whole session, not a node
		rest = s.Phase
	}
	r.tellNodes(s, rest)
	return true
}

// tellNodes writes the nodes into a status. rest is what those have come to that neither failed nor refused, "" while
// that is what they say themselves.
func (r *Session) tellNodes(s *api.Status, rest api.Phase) {
	s.Nodes, s.Totals = s.Nodes[:0], api.Totals{}
	for _, name := range slices.Sorted(maps.Keys(r.nodes)) {
		n := r.nodes[name]
		phase := n.phase
		if phase != api.Failed && phase != api.Refused {
			phase = cmp.Or(rest, phase)
		}
		text, _, _ := n.said.Text()
		x := api.Node{Name: name, Pods: int32(len(n.pods)), Phase: phase, Messages: text, Lost: n.lost,
			Clock: n.clock}
		s.Totals.Add(&x)
		s.Nodes = append(s.Nodes, x)
	}
	if len(s.Nodes) > mostNodes {
		slices.SortStableFunc(s.Nodes, func(a, b api.Node) int { return cmp.Compare(worth(&b), worth(&a)) })
		s.Totals.Left = int32(len(s.Nodes) - mostNodes)
		s.Nodes = s.Nodes[:mostNodes]
	}
	left := mostOfAll
	for i := range s.Nodes {
		if left -= len(s.Nodes[i].Messages); left < 0 {
			s.Nodes[i].Messages = "(messages of so many nodes are not kept)\n"
		}
	}
}

// worth says how much is to be said of a node.
func worth(n *api.Node) int {
	switch {
	case n.Phase == api.Failed || n.Phase == api.Refused:
		return 3
	case n.Lost > 0:
		return 2
	case n.Messages != "":
		return 1
	}
	return 0
}

func (r *Session) all(p api.Phase) bool {
	for _, n := range r.nodes {
		if n.phase != p {
			return false
		}
	}
	return true
}

func (r *Session) anyRan() bool {
	for _, n := range r.nodes {
		if n.ran {
			return true
		}
	}
	return false
}

func (r *Session) tellSkipped(s *api.Status) {
	s.Skipped = s.Skipped[:0]
	for _, pod := range slices.Sorted(maps.Keys(r.skipped)) {
		if len(s.Skipped) == mostSkipped {
			s.Skipped = append(s.Skipped, api.Skipped{Pod: "...",
				Reason: fmt.Sprintf("and %d more", len(r.skipped)-mostSkipped)})
			return
		}
		s.Skipped = append(s.Skipped, api.Skipped{Pod: pod, Reason: r.skipped[pod]})
	}
}
