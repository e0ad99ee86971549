package trace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gostap/gostap/cmd/internal/kube/ctl"
	"github.com/gostap/gostap/compiler/diag"
)

// follower prints what comes of a Trace.
type follower struct {
	namespace, name string
	uid             string // "" before it was seen
	s               Streams
	// quiet: no progress.
	quiet   bool
	printed int               // bytes of the result
	left    int               // bytes that are missing in it
	said    map[string]string // messages by node, "" for those of none
	nodes   map[string]node
	skipped map[string]bool
	seen    func()
	first   <-chan struct{} // ends when it was seen first
	view    *view           // its page, nil for none
}

func newFollower(namespace, name string, s Streams) *follower {
	first := make(chan struct{})
	return &follower{namespace: namespace, name: name, s: s, said: map[string]string{}, nodes: map[string]node{},
		skipped: map[string]bool{}, seen: sync.OnceFunc(func() { close(first) }), first: first}
}

// take prints what is new in a status.
func (f *follower) take(st *status) {
	for _, n := range st.Nodes {
		if was := f.nodes[n.Name]; !f.quiet && (was.Phase != n.Phase || was.Pods != n.Pods) {
			fmt.Fprintf(f.s.Err, "%s: %s, %s\n", n.Name, strings.ToLower(n.Phase), count(n.Pods, "pod"))
		}
		f.nodes[n.Name] = n
		f.say(n.Name, n.Messages)
	}
	for _, p := range st.Skipped {
		if !f.skipped[p.Pod] {
			f.skipped[p.Pod] = true
			fmt.Fprintf(f.s.Err, "WARNING: pod %s is not traced: %s\n", p.Pod, diag.Visible(p.Reason))
		}
	}
	f.say("", st.Message)
	text := st.Result.Text
	f.left = st.Result.Left
	from := st.Result.Bytes - len(text) // where it begins
	if from > f.printed {
		fmt.Fprintf(f.s.Err, "WARNING: %s of the output are not kept\n", count(from-f.printed, "byte"))
		f.printed = from
	}
	if f.printed < st.Result.Bytes {
		fmt.Fprint(f.s.Out, text[f.printed-from:])
		f.printed = st.Result.Bytes
	}
}

// say prints lines of messages that were not there before; of many the last ones are kept.
func (f *follower) say(node, now string) {
	was := f.said[node]
	f.said[node] = now
	rest, ok := strings.CutPrefix(now, was)
	if !ok {
		last := strings.TrimSuffix(was, "\n")
		last = last[strings.LastIndexByte(last, '\n')+1:]
		if i := strings.LastIndex(now, last); i >= 0 && last != "" {
			rest = strings.TrimPrefix(now[i+len(last):], "\n")
		}
	}
	for line := range strings.Lines(rest) {
		if line = strings.TrimSuffix(line, "\n"); node != "" {
			line = node + ": " + line
		}
		fmt.Fprintln(f.s.Err, diag.Visible(line)) // an agent may not be ours
	}
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// patience is how long the API server may be away.
const patience = 2 * time.Minute

// follow prints until the Trace has finished; owned: the end of ctx ends it, and is waited for. Without owned that ends
// the looking alone.
func (f *follower) follow(ctx context.Context, owned bool) (int, error) {
	look := ctx
	if owned {
		var cancel context.CancelFunc
		look, cancel = context.WithCancel(context.WithoutCancel(ctx))
		defer cancel()
		over := context.AfterFunc(ctx, func() {
			select {
			case <-f.first: // else it may be gone before anybody has seen what it came to
			case <-look.Done():
				return
			}
			signal.Reset(syscall.SIGINT, syscall.SIGTERM) // once more leaves it as it is
			if !f.quiet {
				fmt.Fprintln(f.s.Err, "the trace is being ended; Ctrl-C once more leaves that to the cluster")
			}
			if err := f.delete(look); err != nil {
				fmt.Fprintf(f.s.Err, "error: it could not be ended: %v\n", err)
				cancel()
			}
		})
		defer over()
	}
	last := &status{}
	var broken time.Time
	for {
		err := f.watch(look, last)
		switch {
		case last.finished():
			return f.end(last), nil
		case look.Err() != nil:
			return 1, nil
		case errors.Is(err, errGone):
			return 0, fmt.Errorf("the trace %s was deleted before it had finished", f.name)
		case errors.Is(err, errEvents):
			broken = time.Time{}
		case broken.IsZero():
			broken = time.Now()
			f.view.away(broken, err)
			fmt.Fprintf(f.s.Err, "WARNING: the trace cannot be followed: %v; it is asked for again\n", err)
		case time.Since(broken) > patience:
			return 0, fmt.Errorf("the trace %s cannot be followed: %w", f.name, err)
		}
		time.Sleep(time.Second)
	}
}

func (f *follower) end(st *status) int {
	if st.Totals.Lost > 0 && !f.quiet {
		fmt.Fprintf(f.s.Err, "WARNING: %d are missing in the result\n", st.Totals.Lost)
	}
	if st.Phase == "Done" {
		return 0
	}
	fmt.Fprintf(f.s.Err, "error: the trace is %s\n", strings.ToLower(st.Phase))
	return 1
}

// delete asks for the end.
func (f *follower) delete(ctx context.Context) error {
	_, err := kubectl(ctx, nil, append([]string{"delete", "traces.gostap.dev", "--wait=false", f.name},
		within(f.namespace, false)...)...)
	return err
}

// Ways in which a watch ends: the Trace is gone; or it was one, and has to be begun anew.
var (
	errGone   = errors.New("it is gone")
	errEvents = errors.New("the watch has ended")
)

// watch takes what the API server tells until the Trace has finished, which is in last then.
func (f *follower) watch(ctx context.Context, last *status) error {
	some, gone := false, false
	said, err := ctl.Watch(ctx, append([]string{"traces.gostap.dev", f.name}, within(f.namespace, false)...),
		func(kind string, r resource) bool {
			if r.Metadata.Name != f.name {
				return true
			}
			if f.uid = cmp.Or(f.uid, r.Metadata.UID); f.uid != r.Metadata.UID {
				gone = true // another one has its name
				return false
			}
			some = true
			*last = r.Status
			f.take(last)
			f.view.take(&r)
			f.seen()
			gone = kind == "DELETED"
			return !gone && !last.finished()
		})
	switch {
	case err == nil && !gone:
		return nil
	case gone, strings.Contains(said, "not found"):
		return errGone
	case some:
		return errEvents
	}
	return failure(err, said)
}
