package traces

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gostap/gostap/cmd/internal/asked"
	"github.com/gostap/gostap/cmd/internal/slip"
)

// Trace is what a file asks for.
type Trace struct {
	asked.Spec
	// Seconds is how long it lasts at most.
	Seconds int
	// HitsPerSecond is how often probes may be hit, 0 for any number.
	HitsPerSecond int
	// CPUPercent is how much of a CPU hits may take, 0 for as much as the limits of the script allow.
	CPUPercent int
	// Bytes is how much of the end of the output is kept, with Folded of its beginning.
	Bytes  int
	Folded bool
	// Program is the path of the one that a process without a path means.
	Program string
	// Begin is when it begins, zero for at once.
	Begin  time.Time
	Export []string
}

// What a Trace takes if it says nothing, and at most. Those in a cluster have the same, but for bytes, which are kept
// in a file here.
const (
	seconds     = 60
	mostSeconds = 24 * 60 * 60
	size        = 1 << 20
	mostSize    = 16 << 20
	mostScript  = 64 << 10
	mostWords   = 32
	mostWord    = 1024
)

// endings are those of files that are taken.
var endings = []string{".yaml", ".yml", ".json", ".stp"}

var named = regexp.MustCompile(`^[A-Za-z0-9]([-._A-Za-z0-9]{0,61}[A-Za-z0-9])?$`)

// nameOf is the name of the Trace in a file, "" if it is none that is taken.
func nameOf(file string) string {
	name := strings.TrimSuffix(file, filepath.Ext(file))
	if !slices.Contains(endings, filepath.Ext(file)) || !named.MatchString(name) {
		return ""
	}
	return name
}

// Parse reads a file of a name. The error is an *asked.Refusal with the place.
func Parse(file string, b []byte) (*Trace, error) {
	t, err := parse(file, b)
	var at *fault
	if !errors.As(err, &at) {
		return t, err
	}
	place := file + ": "
	if at.line > 0 {
		place = fmt.Sprintf("%s:%d:%d: ", file, at.line, at.col)
	}
	return nil, asked.Refuse(place+"error: "+at.text, at.hint)
}

func parse(file string, b []byte) (*Trace, error) {
	t := &Trace{}
	ext := filepath.Ext(file)
	if ext == ".stp" {
		t.Script = string(b)
		if strings.TrimSpace(t.Script) == "" {
			return nil, &fault{text: "there is no script in it"}
		}
		if len(b) > mostScript {
			return nil, &fault{text: fmt.Sprintf("a script has at most %d bytes", mostScript)}
		}
		if strings.ContainsRune(t.Script, 0) {
			return nil, &fault{text: "there is a byte 0 in it"}
		}
	} else {
		n, err := tree(b, ext == ".json")
		if err != nil {
			return nil, err
		}
		if err := t.read(n, strings.TrimSuffix(file, ext)); err != nil {
			return nil, err
		}
	}
	t.Seconds, t.Bytes = cmp.Or(t.Seconds, seconds), cmp.Or(t.Bytes, size)
	return t, nil
}

// fields reads the fields of an object, each by its function. cluster are those that a Trace of Kubernetes has, too,
// and one here has not.
func (n *node) fields(what string, known map[string]func(*node) error, cluster ...string) error {
	if n.kind != object {
		return n.fault("", "%s is an object, and not %v", what, n.kind)
	}
	var names []string
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, f := range n.in {
		full := f.key
		if what != "a Trace" {
			full = what + "." + f.key
		}
		read := known[f.key]
		switch {
		case slices.Contains(cluster, f.key):
			return f.fault("take it out", "%s is about a cluster, and this is a Trace of a host", full)
		case read == nil:
			return f.fault(cmp.Or(slip.Meant(f.key, names), "there are "+strings.Join(names, ", ")),
				"there is no field %s", full)
		case f.kind == null:
			continue
		}
		if err := read(f); err != nil {
			return err
		}
	}
	return nil
}

// one takes a text that can only be one.
func one(want, what string) func(*node) error {
	return func(n *node) error {
		if n.kind != text || n.text != want {
			return n.fault("", "%s is %s, and not %s", what, want, cmp.Or(n.text, n.kind.String()))
		}
		return nil
	}
}

// word takes a text of bounded length.
func word(to *string, most int, what string) func(*node) error {
	return func(n *node) error {
		if n.kind != text {
			hint := ""
			if n.text != "" {
				hint = fmt.Sprintf("with quotes it is one: %q", n.text)
			}
			return n.fault(hint, "%s is a text, and not %v", what, n.kind)
		}
		if len(n.text) > most {
			return n.fault("", "%s has at most %d bytes, and not %d", what, most, len(n.text))
		}
		if strings.ContainsRune(n.text, 0) {
			return n.fault("", "%s has a byte 0", what)
		}
		*to = n.text
		return nil
	}
}

// number takes one from 1 on.
func number(to *int, most int64, what string) func(*node) error {
	return func(n *node) error {
		if n.kind != whole || n.number < 1 || n.number > most {
			return n.fault("", "%s is a whole number from 1 to %d, and not %s", what, most,
				cmp.Or(n.text, n.kind.String()))
		}
		*to = int(n.number)
		return nil
	}
}

func flag(to *bool, what string) func(*node) error {
	return func(n *node) error {
		if n.kind != truth {
			return n.fault("", "%s is true or false, and not %s", what, cmp.Or(n.text, n.kind.String()))
		}
		*to = n.truth
		return nil
	}
}

// words takes a list of texts.
func words(to *[]string, most int, what string) func(*node) error {
	return func(n *node) error {
		if n.kind != list {
			return n.fault("", "%s is a list, and not %v", what, n.kind)
		}
		if len(n.in) > most {
			return n.fault("", "%s has at most %d items, and not %d", what, most, len(n.in))
		}
		for i, item := range n.in {
			var w string
			if err := word(&w, mostWord, fmt.Sprintf("%s[%d]", what, i))(item); err != nil {
				return err
			}
			*to = append(*to, w)
		}
		return nil
	}
}

// read takes the Trace of a name.
func (t *Trace) read(n *node, name string) error {
	ignored := func(*node) error { return nil }
	var version, kind, spec bool
	must := func(seen *bool, read func(*node) error) func(*node) error {
		return func(n *node) error { *seen = true; return read(n) }
	}
	err := n.fields("a Trace", map[string]func(*node) error{
		"apiVersion": must(&version, one("gostap.dev/v1alpha1", "apiVersion")),
		"kind":       must(&kind, one("Trace", "kind")),
		"metadata": func(n *node) error {
			return n.fields("metadata", map[string]func(*node) error{
				"name": func(n *node) error {
					if n.kind != text || n.text != name {
						return n.fault("take it out, or call the file "+n.text+".yaml",
							"the file says that the Trace is %s, and metadata.name that it is %s", name,
							cmp.Or(n.text, n.kind.String()))
					}
					return nil
				},
				"labels": ignored, "annotations": ignored,
			}, "namespace", "generateName", "finalizers", "ownerReferences", "uid", "resourceVersion",
				"creationTimestamp", "generation", "managedFields")
		},
		"spec": must(&spec, t.readSpec),
	}, "status")
	if err != nil {
		return err
	}
	for _, m := range []struct {
		there bool
		text  string
	}{{version, "apiVersion: gostap.dev/v1alpha1"}, {kind, "kind: Trace"}, {spec, "spec: {tool: syscount}"}} {
		if !m.there {
			return n.fault(m.text, "there is no %s", m.text[:strings.IndexByte(m.text, ':')])
		}
	}
	return nil
}

func (t *Trace) readSpec(n *node) error {
	err := n.fields("spec", map[string]func(*node) error{
		"tool":   word(&t.Tool, 64, "spec.tool"),
		"script": word(&t.Script, mostScript, "spec.script"),
		"args":   words(&t.Args, mostWords, "spec.args"),
		"export": words(&t.Export, 8, "spec.export"),
		"folded": flag(&t.Folded, "spec.folded"),
		"guru":   flag(&t.Guru, "spec.guru"),
		"options": func(n *node) error {
			if n.kind != object || len(n.in) > mostWords {
				return n.fault("", "spec.options is an object with at most %d fields", mostWords)
			}
			t.Options = map[string]string{}
			for _, f := range n.in {
				var v string
				if err := word(&v, mostWord, "spec.options."+f.key)(f); err != nil {
					return err
				}
				t.Options[f.key] = v
			}
			return nil
		},
		"begin": func(n *node) (err error) {
			if n.kind == text {
				t.Begin, err = time.Parse(time.RFC3339, n.text)
			}
			if n.kind != text || err != nil {
				return n.fault("2026-12-01T02:00:00Z", "spec.begin is a time with its zone, and not %s",
					cmp.Or(n.text, n.kind.String()))
			}
			return nil
		},
		"limits": func(n *node) error {
			return n.fields("spec.limits", map[string]func(*node) error{
				"seconds":       number(&t.Seconds, mostSeconds, "spec.limits.seconds"),
				"hitsPerSecond": number(&t.HitsPerSecond, 1<<31-1, "spec.limits.hitsPerSecond"),
				"cpuPercent":    number(&t.CPUPercent, 100, "spec.limits.cpuPercent"),
				"bytes":         number(&t.Bytes, mostSize, "spec.limits.bytes"),
			}, "elements")
		},
		"program": func(n *node) error {
			if n.kind != text || !filepath.IsAbs(n.text) {
				return n.fault("/usr/bin/shop", "spec.program is the path of a program of this host, and not %s",
					cmp.Or(n.text, n.kind.String()))
			}
			t.Program = n.text
			return nil
		},
		"expireSeconds": func(n *node) error {
			return n.fault("take it out", "spec.expireSeconds is when a Trace is deleted, and a file stays until it "+
				"is removed")
		},
	}, "pods", "containers", "nodes", "wait", "separate", "inOrder", "page", "requestedBy")
	if err != nil {
		return err
	}
	if _, err := t.Words(); err != nil {
		var r *asked.Refusal
		if errors.As(err, &r) {
			text, hint, _ := strings.Cut(r.Text, "\n  hint: ")
			return n.fault(hint, "%s", text)
		}
		return err
	}
	return nil
}
