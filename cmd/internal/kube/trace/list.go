package trace

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/compiler/diag"
)

// list prints a table of Traces.
func list(ctx context.Context, args []string, s Streams) (int, error) {
	p, err := parse(args, true, false)
	if err != nil {
		return 0, err
	}
	if len(p.names) > 0 {
		return 0, slip.New(fmt.Sprintf("kube: list takes no %q", p.names[0]), "gostap kube logs NAME shows one")
	}
	all, err := get(ctx, p, "")
	if err != nil {
		return 0, err
	}
	w := tabwriter.NewWriter(s.Out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "NAMESPACE\tNAME\tRUNS\tON\tBY\tPHASE\tNODES\tPODS\tLOST\tAGE")
	for _, r := range all {
		by := ""
		if r.Spec.RequestedBy != nil {
			by = r.Spec.RequestedBy.Name
		}
		t := r.Status.Totals
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%d\t%d\t%d\t%s\n", r.Metadata.Namespace, r.Metadata.Name, r.Spec.what(),
			r.Spec.Pods.selector(), diag.Visible(by), r.Status.Phase, t.Nodes, t.Pods, t.Lost,
			time.Since(r.Metadata.CreationTimestamp).Round(time.Second))
	}
	return 0, w.Flush()
}

// what is the tool, or the beginning of the script.
func (s *spec) what() string {
	if s.Tool != "" {
		return s.Tool
	}
	text := strings.Join(strings.Fields(s.Script), " ")
	if r := []rune(text); len(r) > 40 {
		text = string(r[:37]) + "..."
	}
	return diag.Visible(text)
}

// top prints the nodes of Traces that run.
func top(ctx context.Context, args []string, s Streams) (int, error) {
	p, err := parse(args, true, false)
	if err != nil {
		return 0, err
	}
	if len(p.names) > 1 {
		return 0, slip.New("kube: top takes one name at most", "")
	}
	name := strings.Join(p.names, "")
	all, err := get(ctx, p, name)
	if err != nil {
		return 0, err
	}
	w := tabwriter.NewWriter(s.Out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "NAMESPACE\tNAME\tNODE\tPHASE\tPODS\tLOST")
	for _, r := range all {
		if name == "" && r.Status.finished() {
			continue
		}
		for _, n := range r.Status.Nodes {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%d\n", r.Metadata.Namespace, r.Metadata.Name, n.Name, n.Phase, n.Pods,
				n.Lost)
		}
	}
	return 0, w.Flush()
}

// logs prints what a Trace has printed.
func logs(ctx context.Context, args []string, s Streams) (int, error) {
	p, err := parse(args, false, true)
	if err != nil {
		return 0, err
	}
	if len(p.names) != 1 {
		return 0, slip.New("kube: logs takes the name of a Trace", "gostap kube list shows them")
	}
	found, err := get(ctx, p, p.names[0])
	if err != nil {
		return 0, err
	}
	f := newFollower(found[0].Metadata.Namespace, p.names[0], s)
	f.uid = found[0].Metadata.UID
	f.quiet = true
	f.take(&found[0].Status)
	switch {
	case found[0].Status.finished():
		return f.end(&found[0].Status), nil
	case p.follow:
		return f.follow(ctx, false)
	}
	return 0, nil
}

// stop ends Traces one after the other and prints what each came to.
func stop(ctx context.Context, args []string, s Streams) (worst int, err error) {
	p, err := parse(args, false, false)
	if err != nil {
		return 0, err
	}
	if len(p.names) == 0 {
		return 0, slip.New("kube: stop takes names of Traces", "gostap kube list shows them")
	}
	for _, name := range p.names {
		found, err := get(ctx, p, name)
		if err != nil {
			return 0, err
		}
		f := newFollower(found[0].Metadata.Namespace, name, s)
		f.uid = found[0].Metadata.UID
		f.quiet = true
		if found[0].Status.finished() {
			// It stays until its time is over, or somebody deletes it.
			fmt.Fprintf(s.Err, "trace %s has finished\n", name)
			continue
		}
		over, end := context.WithCancel(ctx)
		end()
		status, err := f.follow(over, true)
		if err != nil {
			return 0, err
		}
		worst = max(worst, status)
	}
	return worst, nil
}
