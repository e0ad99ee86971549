package kube

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gostap/gostap/cmd/internal/kube/ctl"
	"github.com/gostap/gostap/cmd/internal/kube/event"
	"github.com/gostap/gostap/cmd/internal/remote"
)

// Fleet has a session on each node that has one of the pods, while pods come and go.
type Fleet struct {
	r    *request
	errw io.Writer
	// Translate gives the plan for what the programs are now, nil where the sessions translate themselves.
	Translate func() ([]byte, error)
	// Plan is that of the sessions of the beginning, where Translate makes others.
	Plan []byte

	joins       chan remote.Host
	pods        map[string]*member // by UID
	agents      map[string]string  // ready ones, by node
	machines    map[string]string  // why nodes have none
	sessions    []*session
	placed      bool    // some session has had its probes in place
	exited      bool    // a script came to its end
	waiting     []stray // for a translation
	translating bool
	fresh       []byte // the last translation, which began then
	freshAt     time.Time
	gone        []string        // what is missing of pods that have gone
	others      map[string]bool // pods on other nodes than those that were named, by UID

	temp string // for copies of programs that are not kept

	mu     sync.Mutex
	from   source   // of a program
	copies bool     // programs are taken from pods
	todo   []func() // what has happened, in order
	ring   chan struct{}
	ended  context.Context
}

// member is a pod.
type member struct {
	pod
	first bool // it was there at the beginning
	in    *session
	// leaving is the session that is to have no hits in it any more before then is called, nil for none.
	leaving *session
	then    func()
	seen    time.Time // when it was heard of, zero for one of the beginning
	tried   []*session
	opens   int
	out     int       // how often its agent was out of reach, one after another
	from    time.Time // when it was traced, zero if it is not
	gaps    []string  // what is missing of it
	lost    time.Time // since when its session is lost, zero if it is not
	why     string    // of one that is not traced
}

// session is one on a node.
type session struct {
	node   string
	agent  string
	plan   []byte
	sets   chan []remote.Pod
	images map[string]bool // of pods that it traces
	placed bool
	over   bool

	mu  sync.Mutex
	had []string // its pods so far, NAMESPACE/NAME

	clock *remote.Clock // that was told last
}

// names are those of the node and of the pods so far.
func (s *session) names() (node string, pods []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.node, slices.Clone(s.had)
}

// has remembers the name of a pod, before anything of it can come.
func (s *session) has(m *member, namespace string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := cmp.Or(m.Metadata.Namespace, namespace) + "/" + m.Metadata.Name
	if !slices.Contains(s.had, name) {
		s.had = append(s.had, name)
	}
}

func newFleet(r *request, errw io.Writer) *Fleet {
	return &Fleet{r: r, errw: remote.Together{To: errw, Mu: new(sync.Mutex)}, joins: make(chan remote.Host),
		pods: map[string]*member{}, agents: map[string]string{}, others: map[string]bool{},
		machines: map[string]string{},
		ring:     make(chan struct{}, 1)}
}

// Hosts are those of the beginning.
func (f *Fleet) Hosts() (out []remote.Host) {
	byNode := map[string][]*member{}
	var nodes []string
	for _, m := range f.byName() {
		if m.first {
			if byNode[m.Spec.NodeName] == nil {
				nodes = append(nodes, m.Spec.NodeName)
			}
			byNode[m.Spec.NodeName] = append(byNode[m.Spec.NodeName], m)
		}
	}
	for _, n := range nodes {
		out = append(out, f.open(n, byNode[n], nil))
	}
	return out
}

// Joins are the hosts that come later. It is closed when there is nothing more to wait for.
func (f *Fleet) Joins() <-chan remote.Host { return f.joins }

// Run follows the pods until ctx ends.
func (f *Fleet) Run(ctx context.Context) {
	f.ended = ctx
	go watch(ctx, f.r.words(), func(e change) { f.post(func() { f.changed(e.Type, e.Object) }) },
		func(list []pod) { f.post(func() { f.all(list) }) }, f.broken("pods"))
	go watch(ctx, f.r.agentWords(), func(e change) { f.post(func() { f.agent(e.Type, e.Object) }) },
		func(list []pod) {
			f.post(func() {
				clear(f.agents)
				for _, p := range list {
					f.agent("ADDED", p)
				}
			})
		}, f.broken("agents"))
	defer close(f.joins)
	for {
		f.mu.Lock()
		todo := f.todo
		f.todo = nil
		f.mu.Unlock()
		for _, do := range todo {
			do()
		}
		if len(todo) > 0 {
			if f.done() {
				return
			}
			continue
		}
		select {
		case <-f.ring:
		case <-ctx.Done():
			return
		}
	}
}

// post has the goroutine of Run do something.
func (f *Fleet) post(do func()) {
	f.mu.Lock()
	f.todo = append(f.todo, do)
	f.mu.Unlock()
	select {
	case f.ring <- struct{}{}:
	default:
	}
}

// later posts something after a while.
func (f *Fleet) later(do func()) { time.AfterFunc(againAfter, func() { f.post(do) }) }

// done: all sessions have ended, and none is going to come: the script came to its end everywhere, or nothing could be
// traced from the beginning.
func (f *Fleet) done() bool {
	for _, s := range f.sessions {
		if !s.over {
			return false
		}
	}
	if f.exited && len(f.sessions) > 0 {
		return true
	}
	for _, m := range f.pods {
		if m.in != nil || m.why == "" && !f.r.wait {
			return false
		}
	}
	return len(f.sessions) > 0 && !f.placed && !f.r.wait
}

func (f *Fleet) broken(what string) func(error) {
	return func(err error) {
		f.post(func() {
			f.tell(event.Event{}, "WARNING: %s that come from %s on are seen late, since kubectl's watch ended: %v",
				what, clock(time.Now()), err)
		})
	}
}

func clock(t time.Time) string { return t.Format("15:04:05.000") }

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", max(d.Seconds(), 0.01)) }

func (m *member) String() string {
	name := m.Metadata.Name
	if m.Metadata.Namespace != "" {
		name = m.Metadata.Namespace + "/" + name
	}
	return fmt.Sprintf("pod %s on node %s", name, m.Spec.NodeName)
}

func (f *Fleet) byName() []*member {
	return slices.SortedFunc(maps.Values(f.pods), func(a, b *member) int {
		return strings.Compare(a.Metadata.Name+a.Metadata.UID, b.Metadata.Name+b.Metadata.UID)
	})
}

// all has the pods that are there; others have gone.
func (f *Fleet) all(list []pod) {
	here := map[string]bool{}
	for _, p := range list {
		here[p.Metadata.UID] = true
		f.changed("ADDED", p)
	}
	for uid, m := range f.pods {
		if !here[uid] {
			f.changed("DELETED", m.pod)
		}
	}
}

// changed takes what is known of a pod now.
func (f *Fleet) changed(kind string, p pod) {
	uid := p.Metadata.UID
	if len(f.r.pods) > 0 && !slices.Contains(f.r.pods, p.Metadata.Name) || uid == "" || kind == "BOOKMARK" {
		return
	}
	if f.elsewhere(&p) {
		return
	}
	m := f.pods[uid]
	if kind == "DELETED" || p.Status.Phase == "Succeeded" || p.Status.Phase == "Failed" {
		if m != nil {
			f.leave(m)
		}
		return
	}
	if m == nil {
		m = &member{seen: time.Now()}
		f.pods[uid] = m
		defer f.foresee(m)
	}
	ran, of := f.r.runs(&m.pod), f.r.of(&m.pod)
	if m.pod = p; m.in == nil {
		f.assign(m)
	} else if f.r.runs(&p) != ran || !slices.Equal(f.r.of(&p), of) {
		f.send(m.in)
	}
}

// leave takes a pod that has gone out of its session.
func (f *Fleet) leave(m *member) {
	delete(f.pods, m.Metadata.UID)
	if m.in == nil {
		return
	}
	idle := ""
	if f.send(m.in); len(f.of(m.in)) == 0 {
		idle = "; the session there waits for others"
	}
	f.tell(m.event(event.Gone, ""), "%v: gone at %s%s", m, clock(time.Now()), idle)
	f.keep(m)
}

// keep remembers what is missing of a pod that has gone.
func (f *Fleet) keep(m *member) {
	f.gone = append(f.gone, m.missing()...)
}

// of gives the pods of a session.
func (f *Fleet) of(s *session) (out []*member) {
	for _, m := range f.byName() {
		if m.in == s {
			out = append(out, m)
		}
	}
	return out
}

// send tells a session which pods it has; the last word counts.
func (f *Fleet) send(s *session) {
	set := []remote.Pod{}
	for _, m := range f.of(s) {
		s.has(m, f.r.namespace)
		set = append(set, remote.Pod{UID: m.Metadata.UID, Of: f.r.of(&m.pod), Runs: f.r.runs(&m.pod)})
	}
	select {
	case <-s.sets:
	default:
	}
	s.sets <- set
}

// assign finds a session for a pod: one that its node has, else a new one as soon as programs run in it.
func (f *Fleet) assign(m *member) {
	node := m.Spec.NodeName
	if node == "" || m.in != nil || m.leaving != nil || f.exited || m.why != "" && !strings.HasPrefix(m.why, noAgent) {
		return
	}
	if s := f.untried(m); s != nil {
		f.put(m, s)
		return
	}
	if f.agents[node] == "" {
		f.refuse(m, f.unserved(node))
		return
	}
	if f.r.runs(&m.pod) {
		f.join(m, nil)
	}
}

// untried is a session on the node of a pod that may trace it: one that traces the same image, else the first.
func (f *Fleet) untried(m *member) (first *session) {
	for _, s := range f.sessions {
		if s.node != m.Spec.NodeName || s.over || slices.Contains(m.tried, s) || s == m.in {
			continue
		}
		if s.traces(m) {
			return s
		}
		if first == nil {
			first = s
		}
	}
	return first
}

// traces says whether a session traces pods of the same image.
func (s *session) traces(m *member) bool {
	return slices.ContainsFunc(m.Spec.Containers, func(c container) bool { return s.images[c.Image] })
}

const noAgent = "no agent of gostap is ready there"

// unserved is why a node has no agent, as far as that is known: who asks may not be allowed to look at nodes.
func (f *Fleet) unserved(node string) string {
	if f.machines[node] == "" {
		f.machines[node] = noAgent
		var n struct {
			Status struct {
				NodeInfo struct{ Architecture, OperatingSystem string }
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		out, _, err := ctl.Run(ctx, nil, "get", "node", node, "--output", "json")
		if err == nil && json.Unmarshal(out, &n) == nil {
			i := n.Status.NodeInfo
			if i.OperatingSystem != "linux" || i.Architecture != runtime.GOARCH {
				f.machines[node] += fmt.Sprintf(": the node is %s on %s, and this gostap is for linux on %s",
					i.OperatingSystem, i.Architecture, runtime.GOARCH)
			}
		}
	}
	return f.machines[node]
}

// refuse tells why a pod is not traced, once.
func (f *Fleet) refuse(m *member, why string) {
	if m.why != why {
		m.why = why
		f.tell(m.event(event.Untraced, why), "WARNING: %v: not traced: %s", m, why)
	}
}

// join opens a session for a pod, of the plan or of the one of the request.
func (f *Fleet) join(m *member, plan []byte) {
	m.opens++
	h := f.open(m.Spec.NodeName, []*member{m}, plan)
	select {
	case f.joins <- h:
	case <-f.ended.Done():
	}
}

// open makes a session on a node.
func (f *Fleet) open(node string, pods []*member, plan []byte) remote.Host {
	s := &session{node: node, plan: plan, sets: make(chan []remote.Pod, 1), images: map[string]bool{}}
	f.sessions = append(f.sessions, s)
	var of []string
	for _, m := range pods {
		m.in = s
		s.has(m, f.r.namespace)
		of = append(of, f.r.of(&m.pod)...)
	}
	list := strings.Join(of, ",")
	name := f.agents[node]
	s.agent = name
	f.tell(s.event(event.Begins, ""), "")
	return remote.Host{Name: name, URI: "kube://" + f.r.agents + "/" + name + "?pods=" + list, Namespace: f.r.agents,
		Pod: name, Pods: list, Follow: &remote.Follow{Plan: plan, Sets: s.sets, Names: s.names,
			Clock: func(c remote.Clock) { f.post(func() { f.clocked(s, c) }) },
			Told:  func(t remote.Told) { f.post(func() { f.told(s, t, time.Now()) }) },
			Ended: func(inOrder bool, why string) { f.post(func() { f.end(s, inOrder, why) }) }}}
}

// agent takes what is known of an agent.
func (f *Fleet) agent(kind string, p pod) {
	node := p.Spec.NodeName
	if kind == "DELETED" || !p.ready() {
		if f.agents[node] == p.Metadata.Name {
			delete(f.agents, node)
		}
		return
	}
	f.agents[node] = p.Metadata.Name
	for _, m := range f.byName() {
		if m.Spec.NodeName == node {
			f.assign(m)
		}
	}
}
