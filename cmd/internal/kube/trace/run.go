package trace

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/tapsets/tools"
)

// asked is what run is asked for.
type asked struct {
	namespace, name string
	detach          bool
	http            string // where a page is to be, "" for none
	spec            spec
}

// run makes a Trace and follows it.
func run(ctx context.Context, args []string, s Streams) (int, error) {
	a, err := ask(args)
	if err != nil {
		return 0, err
	}
	if a.http != "" {
		return runShown(ctx, a, s)
	}
	if !a.detach {
		f, err := start(ctx, a, s)
		if err != nil {
			return 0, err
		}
		return f.follow(ctx, true)
	}
	made, err := create(ctx, a, s.Err)
	if err != nil {
		return 0, err
	}
	fmt.Fprintln(s.Out, made.Metadata.Name)
	return 0, nil
}

// create makes a Trace. What webhooks warn of is told on errw.
func create(ctx context.Context, a asked, errw io.Writer) (*resource, error) {
	meta := map[string]string{"generateName": "run-"}
	if a.name != "" {
		meta = map[string]string{"name": a.name}
	}
	text, err := json.Marshal(map[string]any{"apiVersion": "gostap.dev/v1alpha1", "kind": "Trace", "metadata": meta,
		"spec": a.spec})
	if err != nil {
		return nil, err
	}
	create := append([]string{"create", "--filename", "-", "--output", "json"}, within(a.namespace, false)...)
	out, warnings, err := said(context.WithoutCancel(ctx), text, create...)
	if err != nil {
		return nil, err
	}
	for _, w := range warnings {
		fmt.Fprintf(errw, "WARNING: %s\n", diag.Visible(w))
	}
	made := new(resource)
	if err := json.Unmarshal(out, made); err != nil {
		return nil, fmt.Errorf("kube: kubectl did not answer with JSON: %w", err)
	}
	return made, nil
}

// ask reads the arguments of run. Behind the name of a tool its options come first, then those of run.
func ask(args []string) (a asked, err error) {
	var tool *tools.Tool
	var file, selector, where, lasts, sample, hits, share, elements, at string
	chosen, rest := false, false
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		name, value, has := strings.Cut(word, "=")
		var container, export string
		take := func(to *string) error {
			if !has {
				if len(args) == 0 {
					return slip.New("kube: "+name+" needs a value", "")
				}
				value, args = args[0], args[1:]
			}
			if *to = value; value == "" {
				return slip.New("kube: "+name+" needs a value", "")
			}
			return nil
		}
		strs := map[string]*string{"-n": &a.namespace, "--namespace": &a.namespace, "-l": &selector,
			"--selector": &selector, "--for": &lasts, "--at": &at, "--nodes": &where, "--sample": &sample,
			"--max-hits": &hits, "--max-cpu": &share, "--elements": &elements,
			"-c": &container, "--container": &container, "--export": &export,
			"--http": &a.http, "--program": &a.spec.Program, "--name": &a.name,
			"-e": &a.spec.Script, "--execute": &a.spec.Script}
		flags := map[string]*bool{"--wait": &a.spec.Wait, "--separate": &a.spec.Separate,
			"--in-order": &a.spec.InOrder, "--page": &a.spec.Page, "-g": &a.spec.Guru,
			"--guru": &a.spec.Guru, "--detach": &a.detach}
		o := option(tool, name)
		switch {
		case rest || !strings.HasPrefix(word, "-"):
			if chosen = chosen || a.spec.Script != ""; chosen {
				a.spec.Args = append(a.spec.Args, word)
				continue
			}
			if chosen, tool = true, tools.Find(word); tool == nil && isFile(word) {
				file = word
			} else {
				a.spec.Tool = word
			}
		case word == "--":
			rest = true
		case o != nil:
			if a.spec.Options == nil {
				a.spec.Options = map[string]string{}
			}
			if o.Kind == tools.Flag && !has {
				a.spec.Options[o.Name] = ""
			} else if err := take(&value); err != nil {
				return a, err
			} else {
				a.spec.Options[o.Name] = value
			}
		case strs[name] != nil:
			if err := take(strs[name]); err != nil {
				return a, err
			}
			if container != "" {
				a.spec.Containers = append(a.spec.Containers, container)
			}
			if export != "" {
				a.spec.Export = append(a.spec.Export, export)
			}
		case flags[name] != nil && has:
			return a, slip.New(fmt.Sprintf("kube: %s takes no value", name), "")
		case flags[name] != nil:
			*flags[name] = true
		case tool != nil:
			return a, slip.New(fmt.Sprintf("kube: neither %s nor kube run has an option %s", tool.Name, name),
				"gostap "+tool.Name+" --help")
		default:
			return a, slip.New("kube: run has no option "+name, "gostap kube run --help")
		}
	}
	if at != "" {
		if a.spec.Begin, err = moment(at, time.Now()); err != nil {
			return a, err
		}
	}
	for _, n := range []struct {
		name, value, what string
		most              int
		to                *int
	}{{"--max-hits", hits, "hits a second", math.MaxInt32, &a.spec.Limits.HitsPerSecond},
		{"--max-cpu", share, "percent", 100, &a.spec.Limits.CPUPercent},
		{"--elements", elements, "elements", 1 << 20, &a.spec.Limits.Elements}} {
		if n.value == "" {
			continue
		}
		if *n.to, err = strconv.Atoi(n.value); err != nil || *n.to < 1 || *n.to > n.most {
			return a, slip.New(fmt.Sprintf("kube: %s takes a number of %s, 1 to %d, not %q", n.name, n.what, n.most,
				n.value), "")
		}
	}
	return a, a.complete(file, selector, where, lasts, sample)
}

// moment reads a time, or one of the clock that is within a day from now.
func moment(text string, now time.Time) (*time.Time, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return &at, nil
	}
	at, err := time.ParseInLocation("15:04", text, now.Location())
	if err != nil {
		return nil, slip.New(fmt.Sprintf("kube: --at takes a time such as 2026-12-01T02:00:00Z or 02:00, not %q", text),
			"")
	}
	at = time.Date(now.Year(), now.Month(), now.Day(), at.Hour(), at.Minute(), 0, 0, now.Location())
	if at.Before(now) {
		at = at.AddDate(0, 0, 1)
	}
	at = at.UTC()
	return &at, nil
}

func option(t *tools.Tool, word string) *tools.Option {
	if t == nil || !strings.HasPrefix(word, "--") {
		return nil
	}
	for i := range t.Options {
		if o := &t.Options[i]; o.Name != "" && o.Name == word[2:] {
			return o
		}
	}
	return nil
}

func isFile(word string) bool {
	st, err := os.Stat(word)
	return err == nil && st.Mode().IsRegular()
}

// complete takes what is said of file, pods, nodes and time.
func (a *asked) complete(file, selector, where, lasts, sample string) (err error) {
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return slip.Plain(err)
		}
		a.spec.Script = string(text)
	}
	switch {
	case a.spec.Tool == "" && a.spec.Script == "":
		return slip.New("kube: nothing is to be run", "gostap kube run -l app=cart TOOL, or -e SCRIPT, or a file")
	case a.spec.Tool != "" && a.spec.Script != "":
		return slip.New(fmt.Sprintf("kube: there are a script and the tool %s", a.spec.Tool), "")
	case a.http != "" && a.detach:
		return slip.New("kube: --http shows a Trace that is followed, and --detach leaves it to itself",
			"with --page gostap kube page shows it")
	case a.spec.Limits.Elements > 0 && a.spec.Separate:
		return slip.New("kube: --elements is about one answer of all nodes, and with --separate there is none", "")
	case a.spec.Program != "" && a.spec.Separate:
		return slip.New("kube: --program is about a script that is translated once, and with --separate each node "+
			"translates it", "")
	case a.spec.shown(a.http) && a.spec.Separate:
		return slip.New("kube: a page shows one session of all nodes, and with --separate there is none", "")
	case a.spec.shown(a.http) && a.spec.InOrder:
		return slip.New("kube: a page does not go with --in-order, whose lines wait for one another", "")
	case a.spec.shown(a.http) && len(a.spec.Export) > 0:
		return slip.New("kube: a page does not go with --export, which has what is said as records", "")
	case selector == "":
		return slip.New("kube: no pods are named", "-l app=NAME names those with a label")
	}
	if a.spec.Pods.MatchLabels, err = words(selector); err != nil {
		return err
	}
	if where != "" || sample != "" {
		a.spec.Nodes = &nodes{}
	}
	if where != "" {
		if a.spec.Nodes.MatchLabels, err = words(where); err != nil {
			return err
		}
	}
	if sample != "" {
		if a.spec.Nodes.Sample, err = strconv.Atoi(sample); err != nil || a.spec.Nodes.Sample < 1 ||
			a.spec.Nodes.Sample > math.MaxInt32 {
			return slip.New(fmt.Sprintf("kube: --sample takes a number of nodes, not %q", sample), "")
		}
	}
	if lasts == "" {
		return nil
	}
	d, err := time.ParseDuration(lasts)
	if n, nerr := strconv.Atoi(lasts); nerr == nil { // of one that is too large the product might not be
		d, err = time.Duration(min(n, math.MaxInt32))*time.Second, nil
	}
	if err != nil || d <= 0 || d > 24*time.Hour {
		return slip.New(fmt.Sprintf("kube: --for takes a time of at most a day, such as 60s or 5m, not %q", lasts), "")
	}
	a.spec.Limits.Seconds = int(math.Ceil(d.Seconds()))
	return nil
}
