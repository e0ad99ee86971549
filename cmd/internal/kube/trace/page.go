package trace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/gostap/gostap/cmd/internal/kube/ctl"
	"github.com/gostap/gostap/cmd/internal/page"
	"github.com/gostap/gostap/cmd/internal/page/state"
	"github.com/gostap/gostap/cmd/internal/slip"
)

// shown says whether a Trace is to have a page, and notes it. http is where one is asked for.
func (s *spec) shown(http string) bool {
	s.Page = s.Page || http != ""
	return s.Page
}

// view is the page of a Trace here. Its methods can be called of nil.
type view struct {
	far  *page.Far
	was  string // the last state, packed
	bad  string // what is wrong with it
	note string // as of the last change
	is   string
}

func newView(name string, stops bool) *view {
	return &view{far: page.NewFar(name, stops), is: state.Starting}
}

// take shows what is new in a Trace.
func (v *view) take(r *resource) {
	if v == nil {
		return
	}
	st := &r.Status
	if now := st.Page; now != v.was {
		v.was, v.bad = now, ""
		if s, err := state.Unpack(now); err == nil {
			v.far.Take(s)
		} else {
			v.bad = fmt.Sprintf("what the Trace has for this page cannot be read: %.200v", err) // it has parts of that
		}
	}
	note, why := v.bad, ""
	switch message := strings.TrimSpace(st.Message); {
	case st.Phase == "Refused":
		v.is, why = state.Refused, message
	case st.Phase == "Failed":
		v.is, why = state.Ended, "the trace is failed: "+message
	case st.Phase == "Done":
		v.is = state.Ended
	case st.Phase == "Running" && !r.Spec.Page:
		v.is, note = state.Starting, "gostap-fleet of this cluster is an older one, which makes no pages"
	case st.Phase == "Running" && st.Page == "":
		v.is, note = state.Starting, "it runs, and nothing has come of it yet"
	case st.Phase == "Running":
		v.is = state.Running
	case message != "":
		v.is, note = state.Pending, "it "+message
	default:
		v.is, note = state.Pending, "gostap-fleet has not begun it yet"
	}
	if st.finished() && st.Page == "" && st.Phase != "Refused" {
		note = "nothing has come of it for this page"
	}
	if st.finished() && st.Totals.Lost > 0 {
		note = strings.TrimSpace(fmt.Sprintf("%s\n%d are missing in the result", note, st.Totals.Lost))
	}
	v.note = note
	v.far.Tell(v.is, why, note, false)
}

// away says that the Trace cannot be asked for since a time.
func (v *view) away(since time.Time, err error) {
	if v == nil {
		return
	}
	note := fmt.Sprintf("what is shown is of %s: since then the cluster does not answer (%v)",
		since.Format(time.TimeOnly), ctl.Last(err.Error()))
	v.far.Tell("", "", strings.TrimSpace(note+"\n"+v.note), true)
}

// gone says why nothing more will be known of the Trace.
func (v *view) gone(why string) {
	if v.is != state.Ended && v.is != state.Refused {
		v.far.Tell(state.Gone, why, v.note, false)
	}
}

// listen takes the address of a page.
func listen(address string) (*page.Page, error) {
	p, err := page.Listen(address)
	if err != nil {
		return nil, slip.New("kube: "+err.Error(), "--http 0 takes a free port of this machine's own address")
	}
	return p, nil
}

// runShown makes a Trace, follows it, and shows it in a browser meanwhile.
func runShown(ctx context.Context, a asked, s Streams) (status int, err error) {
	p, err := listen(a.http)
	if err != nil {
		return 0, err
	}
	defer p.Close()
	f, err := start(ctx, a, s)
	if err != nil {
		return 0, err
	}
	f.view = newView(f.name, true)
	fmt.Fprintf(s.Err, "the trace is at %s\n", p.URL())
	p.Show(ctx, f.view.far, func(ctx context.Context) {
		if status, err = f.follow(ctx, true); err != nil {
			f.view.gone(err.Error())
		}
	})
	return status, err
}

// pageCommand shows a Trace in a browser until ctx ends, also one that has finished.
func pageCommand(ctx context.Context, args []string, s Streams) (int, error) {
	args, address, err := atPort(args)
	if err != nil {
		return 0, err
	}
	q, err := parse(args, false, false)
	if err != nil {
		return 0, err
	}
	if len(q.names) != 1 {
		return 0, slip.New("kube: page takes the name of a Trace", "gostap kube list shows them")
	}
	p, err := listen(address)
	if err != nil {
		return 0, err
	}
	defer p.Close()
	found, err := get(ctx, q, q.names[0])
	if err != nil {
		return 0, err
	}
	r := &found[0]
	if !r.Spec.Page {
		return 0, slip.New(fmt.Sprintf("kube: the Trace %s has no page: its spec.page is not true", r.Metadata.Name),
			"gostap kube run --page makes one that has; gostap kube logs -f "+r.Metadata.Name+" shows what it prints")
	}
	f := newFollower(r.Metadata.Namespace, r.Metadata.Name, Streams{Out: io.Discard, Err: io.Discard})
	f.quiet, f.view, f.uid = true, newView(f.name, false), r.Metadata.UID
	f.view.take(r)
	fmt.Fprintf(s.Err, "the trace is at %s; Ctrl-C ends looking at it\n", p.URL())
	p.Show(ctx, f.view.far, func(ctx context.Context) {
		f.look(ctx, r.Status.finished())
		<-ctx.Done()
	})
	return 0, nil
}

// atPort takes the address of --http out of the arguments of page: a free port if there is none.
func atPort(args []string) (rest []string, address string, err error) {
	address = "0"
	for i := 0; i < len(args); i++ {
		name, value, has := strings.Cut(args[i], "=")
		if name != "--http" {
			rest = append(rest, args[i])
			continue
		}
		if !has {
			if i++; i < len(args) {
				value = args[i]
			}
		}
		if value == "" {
			return nil, "", slip.New("kube: --http needs a value", "")
		}
		address = value
	}
	return rest, address, nil
}

// look shows a Trace until it has finished or is gone, or ctx ends, however long the cluster is away.
func (f *follower) look(ctx context.Context, finished bool) {
	last := &status{}
	var since time.Time
	for !finished && ctx.Err() == nil {
		began := time.Now()
		err := f.watch(ctx, last)
		switch {
		case last.finished():
			return
		case errors.Is(err, errGone):
			f.view.gone("the trace was deleted")
			return
		case errors.Is(err, errEvents):
			since = time.Time{}
		case err != nil && ctx.Err() == nil:
			if since.IsZero() {
				since = began
			}
			f.view.away(since, err)
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
}
