// Package trace makes, shows and ends Traces of a Kubernetes cluster as commands: gostap kube run, profile, list, logs,
// page, top and stop.
//
// In: arguments, what kubectl says. Out: Traces (docs/fleet.md), what came of them, an exit status.
package trace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gostap/gostap/cmd/internal/kube/ctl"
	"github.com/gostap/gostap/cmd/internal/slip"
)

// Usage is printed by "gostap kube run --help" and the others.
const Usage = `gostap kube run, profile, list, logs, page, top, stop - Traces, without rights on nodes or agents

usage: gostap kube run [-n NS] -l SELECTOR [options] {TOOL [its options] | -e SCRIPT | FILE} [ARGUMENT...]
       gostap kube profile [-n NS] -l SELECTOR [options] [--hz N] [-o FILE]    where pods' processors are
       gostap kube list [-n NS | -A]          those that are there
       gostap kube logs [-n NS] NAME [-f]     what one has printed, with -f until its end
       gostap kube page [-n NS] NAME [--http [HOST:]PORT]    what one counts, in a browser
       gostap kube top [-n NS | -A] [NAME]    nodes of those that run, with their pods and what was lost
       gostap kube stop [-n NS] NAME...       ends them, and prints what they came to

run makes a Trace, prints what it prints, and ends it on Ctrl-C. As a plugin of kubectl (a link named kubectl-gostap):

  kubectl gostap run -n shop -l app=cart go-errors --for 60s

profile samples what runs in the pods, 99 times a second and processor for ten seconds if not said, and prints a table
or writes FILE: .svg and .html are flame graphs, .folded and .pb.gz for other programs.

  -n, --namespace NS    the namespace, that of kubectl's context if not said
  -l, --selector SEL    pods with these labels: app=cart,tier=web
  -c, --container NAME  only this container of the pods; any number of times
      --for TIME        how long: 60s if not said
      --at TIME         when it begins: 2026-12-01T02:00:00Z, or 02:00 of here within a day
      --nodes SEL       only on nodes with these labels
      --sample N        on so many nodes, taken at random
      --max-hits N      where probes are hit more often in a second, it ends on that node
      --max-cpu N       where hits take more than N percent of a CPU, it ends on that node
      --elements N      of an array of numbers each node tells the N greatest, and how much may be missing
      --wait            begin also where there is no such pod yet
      --http [HOST:]PORT    what it counts in a browser, too; the address, with the token that it takes, is printed
      --page            the same is there for gostap kube page
      --separate        no sums: each node prints for itself
      --in-order        lines of all nodes in the order of time, as far as their clocks are known
      --program NAME    which of several programs in the pods a process without a path means
      --export NAME     deliver it there, too: a destination that gostap-fleet has; any number of times
  -g, --guru            the script may change what it traces
      --name NAME       of the Trace; made up if not said
      --detach          print its name, and leave it to itself

There has to be gostap-fleet in the cluster, which decides who may run what: docs/fleet.md.
`

// Streams are where it prints.
type Streams struct{ Out, Err io.Writer }

var commands = map[string]func(context.Context, []string, Streams) (int, error){
	"run": run, "profile": profileCommand, "list": list, "logs": logs, "page": pageCommand, "top": top, "stop": stop,
}

// Is reports whether the arguments of gostap kube are about Traces.
func Is(args []string) bool { return len(args) > 0 && commands[args[0]] != nil }

// Run runs one of the commands and gives its exit status. The end of ctx is what Ctrl-C does.
func Run(ctx context.Context, args []string, s Streams) int {
	if slices.ContainsFunc(args[1:], func(a string) bool { return a == "--help" || a == "-h" }) {
		fmt.Fprint(s.Out, Usage)
		return 0
	}
	status, err := commands[args[0]](ctx, args[1:], s)
	if err != nil {
		return slip.Failed(s.Err, err)
	}
	return status
}

// resource is a Trace, as far as it is of interest here (package api of cmd/internal/fleet).
type resource struct {
	Metadata struct {
		Name, Namespace   string
		UID               string
		CreationTimestamp time.Time
	}
	Spec   spec
	Status status
}

type spec struct {
	Tool        string                 `json:"tool,omitempty"`
	Script      string                 `json:"script,omitempty"`
	Options     map[string]string      `json:"options,omitempty"`
	Args        []string               `json:"args,omitempty"`
	Pods        labels                 `json:"pods"`
	Containers  []string               `json:"containers,omitempty"`
	Nodes       *nodes                 `json:"nodes,omitempty"`
	Program     string                 `json:"program,omitempty"`
	Wait        bool                   `json:"wait,omitempty"`
	Separate    bool                   `json:"separate,omitempty"`
	InOrder     bool                   `json:"inOrder,omitempty"`
	Page        bool                   `json:"page,omitempty"`
	Folded      bool                   `json:"folded,omitempty"`
	Limits      limits                 `json:"limits,omitzero"`
	Begin       *time.Time             `json:"begin,omitempty"`
	Export      []string               `json:"export,omitempty"`
	Guru        bool                   `json:"guru,omitempty"`
	RequestedBy *struct{ Name string } `json:"requestedBy,omitempty"`
}

type labels struct {
	MatchLabels map[string]string `json:"matchLabels,omitempty"`
}

type nodes struct {
	labels
	Sample int `json:"sample,omitempty"`
}

type limits struct {
	Seconds       int `json:"seconds,omitempty"`
	HitsPerSecond int `json:"hitsPerSecond,omitempty"`
	CPUPercent    int `json:"cpuPercent,omitempty"`
	Elements      int `json:"elements,omitempty"`
	Bytes         int `json:"bytes,omitempty"`
}

type status struct {
	Phase, Message string
	Totals         struct{ Nodes, Pods, Lost int }
	Nodes          []node
	Skipped        []struct{ Pod, Reason string }
	Result         struct {
		Text        string
		Bytes, Left int
	}
	Page string
}

type node struct {
	Name, Phase, Messages string
	Pods, Lost            int
}

func (s *status) finished() bool {
	return s.Phase == "Done" || s.Phase == "Failed" || s.Phase == "Refused"
}

// kubectl runs it and gives what it prints. What it says of a failure is the error.
func kubectl(ctx context.Context, in []byte, args ...string) ([]byte, error) {
	out, _, err := said(ctx, in, args...)
	return out, err
}

// said is kubectl with the warnings of webhooks.
func said(ctx context.Context, in []byte, args ...string) (printed []byte, warnings []string, err error) {
	printed, errs, err := ctl.Run(ctx, in, args...)
	if _, ok := errors.AsType[*slip.Error](err); ok {
		return nil, nil, err
	}
	if err != nil {
		return nil, nil, failure(err, errs)
	}
	for line := range strings.Lines(errs) {
		if text, ok := strings.CutPrefix(line, "Warning: "); ok {
			warnings = append(warnings, strings.TrimSpace(text))
		}
	}
	return printed, warnings, nil
}

// failure is what kubectl says in place of an exit status, without what it puts in front of what a webhook says.
func failure(err error, said string) error {
	text := strings.TrimSpace(said)
	if text == "" {
		return fmt.Errorf("kubectl: %w", err)
	}
	if _, reason, ok := strings.Cut(text, "denied the request: "); ok {
		return errors.New(strings.TrimPrefix(strings.TrimSpace(reason), "error: "))
	}
	if strings.Contains(text, "the server doesn't have a resource type") ||
		strings.Contains(text, "no matches for kind") {
		return slip.New("kube: the cluster knows no Traces",
			"gostap fleet install --image IMAGE makes them known: docs/fleet.md")
	}
	if strings.Contains(text, "failed calling webhook") {
		return slip.New("kubectl: "+text, "gostap-fleet does not answer, so that no Trace can be made: "+
			"kubectl get pods -A -l app.kubernetes.io/name=gostap-fleet")
	}
	return errors.New("kubectl: " + strings.TrimPrefix(text, "error: "))
}

// within are the arguments that say in which namespace; all is for all of them.
func within(namespace string, all bool) []string {
	switch {
	case all:
		return []string{"--all-namespaces"}
	case namespace != "":
		return []string{"--namespace", namespace}
	}
	return nil
}

// parsed are the options of the commands but run, and their other arguments.
type parsed struct {
	namespace   string
	all, follow bool
	names       []string
}

func parse(args []string, all, follow bool) (p parsed, err error) {
	for len(args) > 0 {
		word, value, has := strings.Cut(args[0], "=")
		args = args[1:]
		switch {
		case word == "-n" || word == "--namespace":
			if !has {
				if len(args) == 0 {
					return p, slip.New("kube: "+word+" needs a value", "")
				}
				value, args = args[0], args[1:]
			}
			p.namespace = value
		case all && (word == "-A" || word == "--all-namespaces"):
			p.all = true
		case follow && (word == "-f" || word == "--follow"):
			p.follow = true
		case strings.HasPrefix(word, "-"):
			return p, slip.New("kube: there is no option "+word+" here", "gostap kube run --help")
		default:
			p.names = append(p.names, word)
		}
	}
	return p, nil
}

// get asks for Traces: of a name, or all.
func get(ctx context.Context, p parsed, name string) ([]resource, error) {
	args := append([]string{"get", "traces.gostap.dev", "--output", "json"}, within(p.namespace, p.all)...)
	if name != "" {
		args = append(args, "--", name)
	}
	out, err := kubectl(ctx, nil, args...)
	if err != nil {
		return nil, err
	}
	var l struct {
		Kind  string
		Items []resource
		resource
	}
	if err := json.Unmarshal(out, &l); err != nil {
		return nil, fmt.Errorf("kube: kubectl did not answer with JSON: %w", err)
	}
	if l.Kind == "Trace" {
		return []resource{l.resource}, nil
	}
	return l.Items, nil
}

// words are a selector of labels, which have to have values.
func words(selector string) (map[string]string, error) {
	out := map[string]string{}
	for _, pair := range strings.Split(selector, ",") {
		k, v, ok := strings.Cut(pair, "=")
		v = strings.TrimPrefix(v, "=")
		if !ok || k == "" || strings.HasSuffix(k, "!") || strings.ContainsAny(pair, "() ") {
			return nil, slip.New(fmt.Sprintf("kube: a Trace takes labels with their values, not %q", pair),
				"-l app=cart,tier=web")
		}
		if was, ok := out[k]; ok && was != v {
			return nil, slip.New(fmt.Sprintf("kube: nothing has %s=%s and %s=%s", k, was, k, v), "")
		}
		out[k] = v
	}
	return out, nil
}

// selector is the opposite of words.
func (l labels) selector() string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(l.MatchLabels)) {
		out = append(out, k+"="+l.MatchLabels[k])
	}
	return strings.Join(out, ",")
}
