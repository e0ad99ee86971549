// Package session runs gostap over agents, and tells how far it is.
//
// In: the path of gostap, agents with the pods that are theirs, arguments of gostap. Out: the end of what it prints,
// what it says of each node, how it ended.
package session

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gostap/gostap/cmd/internal/fleet/api"
	"github.com/gostap/gostap/cmd/internal/fleet/command"
)

// Agent is a pod with gostap on a node, and the UIDs of the pods there that are traced.
type Agent struct {
	Namespace, Pod, Node string
	UIDs                 []string
}

// Config is what all sessions have in common.
type Config struct {
	Gostap string
	// Kubectl is a directory with a command kubectl.
	Kubectl string
	// Env is what kubectl has to know of the cluster.
	Env []string
}

const (
	mostMessages = 512 << 10 // bytes of messages of all nodes together
	grace        = 20 * time.Second
)

// Session is a running gostap.
type Session struct {
	cmd    *exec.Cmd
	agents []Agent

	mu      sync.Mutex
	out     Tail
	own     node            // what is about no node
	nodes   map[string]node // by the names of agents
	rest    []byte          // of standard error, without an end of line
	ended   bool
	err     error // of Wait
	stopped time.Time
}

// node is what was said of one.
type node struct {
	said  *Tail
	phase api.Phase // "" if nothing was wrong
	lost  int64
}

// Start runs a spec over agents.
func (c *Config) Start(s *api.Spec, agents []Agent) (*Session, error) {
	args, err := command.Args(s)
	if err != nil {
		return nil, err
	}
	seconds := cmp.Or(s.Limits.Seconds, 60)
	head := []string{"--color=never", "--remote-prefix", "--timeout=" + strconv.Itoa(int(seconds))}
	if !s.Separate {
		head = append(head, "--merge")
	}
	r := &Session{agents: agents, nodes: map[string]node{}, out: Tail{most: int(cmp.Or(s.Limits.Bytes, 65536))},
		own: node{said: &Tail{most: 32 << 10}}}
	for _, a := range agents {
		head = append(head, "--remote=kube://"+a.Namespace+"/"+a.Pod+"?pods="+strings.Join(a.UIDs, ","))
		r.nodes[a.Pod] = node{said: &Tail{most: min(8<<10, max(128, mostMessages/len(agents)))}}
	}
	r.cmd = exec.Command(c.Gostap, append(head, args...)...)
	r.cmd.Env = append(command.Env(c.Kubectl), c.Env...)
	r.cmd.Dir = "/"
	r.cmd.Stdout, r.cmd.Stderr = (*stdout)(r), (*stderr)(r)
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// What holds the streams open when gostap was killed is not waited for.
	r.cmd.WaitDelay = 5 * time.Second
	if err := r.cmd.Start(); err != nil {
		return nil, fmt.Errorf("gostap could not be started: %w", err)
	}
	late := time.AfterFunc(time.Duration(seconds)*time.Second+time.Minute, r.Stop)
	go func() {
		err := r.cmd.Wait()
		late.Stop()
		r.mu.Lock()
		defer r.mu.Unlock()
		if len(r.rest) > 0 {
			r.line(string(r.rest))
			r.rest = nil
		}
		r.ended, r.err = true, err
	}()
	return r, nil
}

// Stop asks gostap to end, and ends it if it is asked again after a while.
func (r *Session) Stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.ended:
	case r.stopped.IsZero():
		r.stopped = time.Now()
		r.cmd.Process.Signal(os.Interrupt)
		time.AfterFunc(grace, r.Stop)
	case time.Since(r.stopped) >= grace:
		syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL)
	}
}

// stdout and stderr are the session as what gostap writes to.
type (
	stdout Session
	stderr Session
)

func (r *stdout) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out.Write(b)
}

func (r *stderr) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rest = append(r.rest, b...)
	for {
		i := bytes.IndexByte(r.rest, '\n')
		if i < 0 && len(r.rest) < 64<<10 {
			return len(b), nil
		}
		if i < 0 {
			i = len(r.rest) - 1
		}
		(*Session)(r).line(string(r.rest[:i+1]))
		r.rest = r.rest[i+1:]
	}
}

var (
	counted  = regexp.MustCompile(`^WARNING: (\d+) (more warnings)?`)
	refusal  = regexp.MustCompile(`^(error: no session: |error: |\S+:\d+:\d+: error: )`)
	breaking = regexp.MustCompile(`^(error: (the connection was lost|nothing was heard|cut off before)|ERROR: )`)
)

// line takes a line of standard error, with its agent's name in front if it is about one.
func (r *Session) line(text string) {
	if name, rest, ok := strings.Cut(text, ": "); ok {
		if n, ok := r.nodes[name]; ok {
			n.take(rest)
			r.nodes[name] = n
			return
		}
	}
	r.own.take(text)
}

func (n *node) take(text string) {
	n.said.Write([]byte(strings.TrimSuffix(text, "\n") + "\n"))
	if m := counted.FindStringSubmatch(text); m != nil && m[2] == "" {
		if c, err := strconv.ParseInt(m[1], 10, 64); err == nil {
			n.lost += c
		}
	}
	switch {
	case breaking.MatchString(text):
		n.phase = api.Failed
	case n.phase == "" && refusal.MatchString(text):
		n.phase = api.Refused
	}
}

// Tell writes how far the session is into a status, and says whether it has ended.
func (r *Session) Tell(s *api.Status) (ended bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s.Result.Text, s.Result.Bytes, s.Result.Left = r.out.Text()
	faults := 0
	s.Nodes = s.Nodes[:0]
	for _, a := range r.agents {
		n := r.nodes[a.Pod]
		phase := n.phase
		switch {
		case phase != "":
			faults++
		case r.ended:
			phase = api.Done
		default:
			phase = api.Running
		}
		text, _, _ := n.said.Text()
		s.Nodes = append(s.Nodes, api.Node{Name: a.Node, Pods: int32(len(a.UIDs)), Phase: phase, Messages: text,
			Lost: n.lost})
	}
	s.Message, _, _ = r.own.said.Text()
	s.Phase = api.Running
	if !r.ended {
		return false
	}
	all := func(p api.Phase) bool {
		return !slices.ContainsFunc(s.Nodes, func(n api.Node) bool { return n.Phase != p })
	}
	switch {
	case r.err != nil && r.own.phase == api.Refused, all(api.Refused):
		s.Phase = api.Refused
	case r.err != nil || faults > 0:
		s.Phase = api.Failed
	default:
		s.Phase = api.Done
	}
	if faults > 0 {
		s.Message = fmt.Sprintf("%d of %d nodes failed: what there is of them is not complete\n", faults,
			len(s.Nodes)) + s.Message
	} else if s.Message == "" && r.err != nil {
		s.Message = "gostap ended: " + r.err.Error()
	}
	if s.Phase != api.Done && faults == 0 { // it was the whole session, not a node
		for i := range s.Nodes {
			s.Nodes[i].Phase = s.Phase
		}
	}
	return true
}
