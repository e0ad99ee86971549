package profile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/open"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/machine"
	"github.com/gostap/gostap/compiler/types"
	"github.com/gostap/gostap/runtime/export"
	procstate "github.com/gostap/gostap/runtime/host/goroutines"
)

// setsLabels is the function by which goroutines get labels of pprof (pprof.Do, pprof.SetGoroutineLabels).
const setsLabels = "runtime/pprof.runtime_setProfLabel"

// labelling is how goroutines of a program have labels of pprof.
type labelling struct {
	path             string // of the program
	list, key, value string // members of runtime/pprof.labelMap; "" where that is a map
	// tls is where the thread has its g, from its thread pointer on, if that is known.
	tls     int64
	running bool // it is
}

// labelled looks how goroutines of the program have labels, nil if it never gives them any.
func labelled(ctx context.Context, opt gostap.Options) (*labelling, error) {
	if !has(ctx, opt, setsLabels) {
		return nil, nil
	}
	img, path, err := image(ctx, opt, setsLabels)
	if err != nil {
		return nil, err
	}
	defer img.Close()
	l, err := labellingOf(img)
	if err == nil {
		l.path = path
	}
	return l, err
}

// inProgram is a probe point as it is listed.
var inProgram = regexp.MustCompile(`^process\(("(?:[^"\\]|\\.)*")\)`)

// image opens the program that has a function.
func image(ctx context.Context, opt gostap.Options, fn string) (img debuginfo.Image, path string, err error) {
	path = "/proc/" + strconv.Itoa(opt.PID) + "/exe"
	if opt.PID == 0 {
		lines, _, err := gostap.List(ctx, fmt.Sprintf("process.function(%q)", fn), opt, gostap.ListOptions{})
		if err != nil {
			return nil, "", err
		}
		m := inProgram.FindStringSubmatch(strings.Join(lines, " "))
		if m == nil {
			return nil, "", fmt.Errorf("%s is in no program", fn)
		}
		if path, err = strconv.Unquote(m[1]); err != nil {
			return nil, "", err
		}
	}
	img, err = open.Open(path)
	return img, path, err
}

func labellingOf(img debuginfo.Image) (*labelling, error) {
	l := &labelling{}
	if c, ok := img.(interface{ InC() *debuginfo.Goroutine }); ok {
		if g := c.InC(); g != nil && len(g.G.Steps) == 4 && g.G.Steps[0].Op == loc.TLS && g.G.Steps[1].Op == loc.Const {
			l.tls, l.running = g.G.Steps[1].N, true
		}
	}
	t, err := img.Type("runtime/pprof.labelMap")
	if err != nil {
		return nil, err
	}
	if t.Kind == types.GoMap {
		return l, nil
	}
	for _, f := range t.Fields() {
		for _, list := range f.Type.Fields() {
			if list.Type.Kind == types.GoSlice && list.Type.Elem() != nil && len(list.Type.Elem().Fields()) == 2 {
				pair := list.Type.Elem().Fields()
				l.list, l.key, l.value = f.Name+"->"+list.Name, pair[0].Name, pair[1].Name
				return l, nil
			}
		}
	}
	return nil, errors.New("runtime/pprof.labelMap is of a form that is not known")
}

// mostLabels is how many labels of a goroutine are told, mostSets how many different sets of them.
const mostLabels, mostSets = 8, 4000

// racing is how many processors may enter a set at the same time, so that there is one too many: the limit is looked at
// first, and no lock is held.
const racing = 1024

// Numbers of sets of labels that are none.
const (
	setNone = iota
	setUnread
	setNoRoom
	setFirst
)

// The bytes in a text of labels: behind the number of labels and behind each value, and between key and value.
const between, behind = "\x01", "\x02"

// reads is the function label_text, which gives what is at an address of labels.
func (l *labelling) reads() string {
	if l.list == "" { // runtime.hmap: count, B and buckets of 8 bytes of hash, 8 keys, 8 elements; one up to 8 elements
		return `function label_string:string(p:long) {
  n = user_uint64(p + 8)
  if (n) return user_string_n(user_uint64(p), n)
  return ""
}
function label_text:string(p:long) {
  m = user_uint64(p)
  if (!m) return "0\x02"
  n = user_uint64(m)
  t = sprintf("%d\x02", n)
  if (user_uint8(m + 9)) return t
  b = user_uint64(m + 16)
  for (i = 0; i < 8; i++)
    if (user_uint8(b + i) >= 5)
      t = t . label_string(b + 8 + 16 * i) . "\x01" . label_string(b + 136 + 16 * i) . "\x02"
  return t
}
`
	}
	return fmt.Sprintf(`function label_text:string(p:long) {
  n = %[1]s->len
  t = sprintf("%%d\x02", n)
  for (i = 0; i < n && i < %[4]d; i++) t = t . %[1]s[i]->%[2]s . "\x01" . %[1]s[i]->%[3]s . "\x02"
  return t
}
`, l.cast("p", "runtime/pprof.labelMap")+l.list, l.key, l.value, mostLabels)
}

// numbers is the function label_id, which gives a number for what is at an address of labels, and sends the text when
// it is new.
func (l *labelling) numbers() string {
	return l.reads() + fmt.Sprintf(`global label_ids[%d], label_count
function label_id:long(p:long) {
  if (!p) return %d
  try { t = label_text(p) } catch { return %d }
  n = label_ids[t]
  if (n) return n
  if (label_count >= %d) return %d
  n = label_count++ + %d
  label_ids[t] = n
  printf("%%d %%d %%s\n", %d, n, t)
  return n
}
`, mostSets+racing, setNone, setUnread, mostSets, setNoRoom, setFirst, codeLabels)
}

// of is the expression for the labels of a goroutine.
func (l *labelling) of(g string) string { return l.cast(g, "runtime.g") + "labels" }

// cast is the expression that a member of what is at an address follows.
func (l *labelling) cast(p, typ string) string {
	return fmt.Sprintf("@cast(%s, %q, %q)->", p, typ, l.path)
}

// running is a statement that sets t to the text of the labels of the goroutine that the thread runs, or lets run.
func (l *labelling) runningText() string {
	return fmt.Sprintf(`    t = ""
    if (pid() == target()) try {
      g = user_uint64(@cast(task_current(), "task_struct", "kernel")->%s + %d)
      if (g) g = %sm->curg
      if (g && %[4]s) t = label_text(%[4]s)
    } catch { t = "?" }
`, strings.ReplaceAll(machine.Host.Thread, ".", "->"), l.tls, l.cast("g", "runtime.g"), l.of("g"))
}

// sets are sets of labels by their numbers.
type sets map[int64][]export.Label

// add takes the text of a set.
func (s sets) add(n int64, text string) { s[n] = labelsOf(text) }

// get is the set with a number.
func (s sets) get(n int64) []export.Label {
	switch n {
	case setNone:
		return nil
	case setNoRoom:
		return []export.Label{{Key: "labels", Text: fmt.Sprintf("no room for more than %d different ones", mostSets)}}
	}
	if l, ok := s[n]; ok {
		return l
	}
	return unread
}

// unread stands for labels that could not be read.
var unread = []export.Label{{Key: "labels", Text: "could not be read"}}

// labelsOf reads a text of labels: their number, and then keys and values.
func labelsOf(text string) (out []export.Label) {
	count, rest, ok := strings.Cut(text, behind)
	n, err := strconv.Atoi(count)
	if !ok || err != nil {
		return unread
	}
	for rest != "" {
		one, more, whole := strings.Cut(rest, behind)
		key, value, ok := strings.Cut(one, between)
		if !ok && whole || strings.Contains(value, between) { // a label has such a byte in it
			return unread
		}
		if rest = more; !whole {
			value, n = value+"...", -n // the text is cut
		}
		out = append(out, export.Label{Key: key, Text: value})
	}
	switch {
	case n < 0, n > mostLabels && (len(out) == mostLabels || len(out) == 0):
		out = append(out, export.Label{Key: "labels", Text: "there are more"})
	case n != len(out):
		return unread
	}
	return own(out)
}

// own has labels of a program stand beside ours.
func own(labels []export.Label) []export.Label {
	for i, l := range labels {
		switch l.Key {
		case "state", "thread", "goroutine", "type", "process", "cgroup":
			labels[i].Key = "pprof." + l.Key
		}
	}
	sortLabels(labels)
	return labels
}

// readLabels are those that were read from memory.
func readLabels(g *procstate.Goroutine) (out []export.Label) {
	if g.Unread {
		return unread
	}
	for _, l := range g.Labels {
		out = append(out, export.Label{Key: l[0], Text: l[1]})
	}
	return own(out)
}

func sortLabels(l []export.Label) {
	slices.SortFunc(l, func(a, b export.Label) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Text, b.Text))
	})
}

// with gives labels with ours among them.
func with(labels []export.Label, ours ...export.Label) []export.Label {
	out := append(slices.Clone(ours), labels...)
	sortLabels(out)
	return out
}

// textOf is the same for sets that are equal.
func textOf(labels []export.Label) string {
	var b strings.Builder
	for _, l := range labels {
		b.WriteString(l.Key + between + l.Text + behind)
	}
	return b.String()
}
