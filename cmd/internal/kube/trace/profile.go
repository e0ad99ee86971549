package trace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gostap/gostap/cmd/internal/profile"
	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/runtime/export/folded"
)

// profileScript samples what runs in the pods: its process, and the functions that it is in.
const profileScript = `global samples[20000]
probe perf.type(1).config(0).hz(%d) { samples[execname(), ustack()]++ }
`

// profiled is what profile is asked for beside what run is.
type profiled struct {
	output string
	hz     int
}

// askProfile reads the arguments of profile.
func askProfile(args []string) (p profiled, a asked, err error) {
	p.hz = 99
	var rest []string
	for len(args) > 0 {
		name, value, has := strings.Cut(args[0], "=")
		args = args[1:]
		switch name {
		case "-o", "--output", "--hz":
			if !has {
				if len(args) == 0 {
					return p, a, slip.New("kube: "+name+" needs a value", "")
				}
				value, args = args[0], args[1:]
			}
		case "-e", "--execute", "-g", "--guru", "--separate", "--in-order", "--export", "--detach",
			"--http", "--page":
			return p, a, slip.New("kube: profile takes no "+name, "gostap kube run has it")
		default:
			if has {
				name += "=" + value
			}
			rest = append(rest, name)
			continue
		}
		if name != "--hz" {
			p.output = value
		} else if p.hz, err = strconv.Atoi(value); err != nil || p.hz < 1 || p.hz > 1000 {
			return p, a, slip.New(fmt.Sprintf("kube: --hz takes samples a second, 1 to 1000, not %q", value), "")
		}
	}
	if err := profile.CheckName(p.output); err != nil {
		return p, a, err
	}
	if a, err = ask(append([]string{"-e", fmt.Sprintf(profileScript, p.hz)}, rest...)); err != nil {
		return p, a, err
	}
	if len(a.spec.Args) > 0 {
		return p, a, slip.New(fmt.Sprintf("kube: profile takes no %q", a.spec.Args[0]),
			"it samples what runs in the pods")
	}
	if a.spec.Limits.Seconds == 0 {
		a.spec.Limits.Seconds = 10
	}
	a.spec.Folded, a.spec.Limits.Bytes = true, mostBytes
	return p, a, nil
}

// mostBytes is how much of an output a Trace can keep.
const mostBytes = 262144

// profileCommand makes one profile of what runs in the pods, on all nodes: a table, or a file.
func profileCommand(ctx context.Context, args []string, s Streams) (int, error) {
	p, a, err := askProfile(args)
	if err != nil {
		return 0, err
	}
	var text bytes.Buffer
	f, err := start(ctx, a, Streams{Out: &text, Err: s.Err})
	if err != nil {
		return 0, err
	}
	status, err := f.follow(ctx, true)
	if err != nil {
		return 0, err
	}
	if text.Len() == 0 {
		if status == 0 {
			fmt.Fprintln(s.Err, "nothing ran in the pods while samples were taken")
		}
		return max(status, 1), nil
	}
	whole := text.Bytes()
	whole = whole[:bytes.LastIndexByte(whole, '\n')+1] // the last line may be cut
	if f.left > 0 {
		fmt.Fprintf(s.Err, "WARNING: the stacks that were met least are missing: %s of them are more than a Trace "+
			"keeps\n", count(f.left, "byte"))
	}
	out, err := folded.Read(bytes.NewReader(whole))
	if err != nil {
		return 0, errors.New("what was printed is no profile: " + err.Error())
	}
	pods := 0
	for _, n := range f.nodes {
		pods += n.Pods
	}
	out.Title = fmt.Sprintf("%s on %s, %d samples a second", count(pods, "pod"), count(len(f.nodes), "node"), p.hz)
	if err := profile.Draw(out, p.output, s.Out); err != nil {
		return 0, slip.Plain(err)
	}
	return status, nil
}

// start makes a Trace, and gives what follows it.
func start(ctx context.Context, a asked, s Streams) (*follower, error) {
	made, err := create(ctx, a, s.Err)
	if err != nil {
		return nil, err
	}
	f := newFollower(made.Metadata.Namespace, made.Metadata.Name, s)
	f.uid = made.Metadata.UID
	fmt.Fprintf(s.Err, "trace %s in %s; Ctrl-C ends it\n", f.name, f.namespace)
	return f, nil
}
