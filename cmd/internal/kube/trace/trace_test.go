package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gostap/gostap/cmd/internal/slip"
)

// TestAsk: what run is asked for becomes a spec, or is refused with a hint.
func TestAsk(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.stp")
	if err := os.WriteFile(file, []byte("probe end {}"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want string }{
		{"-n shop -l app=cart,tier==web errsnoop --for 90s", `{"tool":"errsnoop",` +
			`"pods":{"matchLabels":{"app":"cart","tier":"web"}},"limits":{"seconds":90}}`},
		{"-l a=b --for=2 --max-hits 5 syscount --top 3 --call=read",
			`{"tool":"syscount","options":{"call":"read","top":"3"},` +
				`"pods":{"matchLabels":{"a":"b"}},"limits":{"seconds":2,"hitsPerSecond":5}}`},
		{"-l a=b --elements 100 syscount", `{"tool":"syscount","pods":{"matchLabels":{"a":"b"}},` +
			`"limits":{"elements":100}}`},
		{"-l a=b stackcount POINT --user --wait", `{"tool":"stackcount","options":{"user":""},"args":["POINT"],` +
			`"pods":{"matchLabels":{"a":"b"}},"wait":true}`},
		{"-l a=b -c x --container=y -g --program ./x --nodes zone=a --sample 4 --export a --export b " +
			"-e SCRIPT 1 -- --top",
			`{"script":"SCRIPT","args":["1","--top"],"pods":{"matchLabels":{"a":"b"}},"containers":["x","y"],` +
				`"nodes":{"matchLabels":{"zone":"a"},"sample":4},` +
				`"program":"./x","export":["a","b"],"guru":true}`},
		{"-l a=b " + file + " x", `{"script":"probe end {}","args":["x"],"pods":{"matchLabels":{"a":"b"}}}`},
		{"-l a=b --at 2026-12-01T02:00:00+01:00 errsnoop", `{"tool":"errsnoop","pods":{"matchLabels":{"a":"b"}},` +
			`"begin":"2026-12-01T02:00:00+01:00"}`},
		{"-l a=b --http 8080 errsnoop", `{"tool":"errsnoop","pods":{"matchLabels":{"a":"b"}},"page":true}`},
		{"-l a=b --page errsnoop", `{"tool":"errsnoop","pods":{"matchLabels":{"a":"b"}},"page":true}`},
		{"-l a=b --at tonight errsnoop", `not "tonight"`},
		{"-l a=b", "nothing is to be run"},
		{"errsnoop", "no pods are named"},
		{"-l a errsnoop", `takes labels with their values, not "a"`},
		{"-l a!=b errsnoop", `takes labels with their values, not "a!=b"`},
		{"-l a=b --for soon errsnoop", `not "soon"`},
		{"-l a=b --for 25h errsnoop", `not "25h"`},
		{"-l a=b --max-hits x errsnoop", `not "x"`},
		{"-l a=b --elements 0 errsnoop", `--elements takes a number of elements, 1 to 1048576, not "0"`},
		{"-l a=b --sample 0 errsnoop", `not "0"`},
		{"-l a=b errsnoop -e x", "a script and the tool errsnoop"},
		{"-l a=b errsnoop --nope", "neither errsnoop nor kube run has an option --nope"},
		{"--nope", "run has no option --nope"},
		{"-l", "-l needs a value"},
		{"-l a=b --separate errsnoop", `{"tool":"errsnoop","pods":{"matchLabels":{"a":"b"}},"separate":true}`},
		{"-l a=b --wait=yes errsnoop", "--wait takes no value"},
		{"-l a=b --page=true errsnoop", "--page takes no value"},
		{"-l a=b --for 18446744074 errsnoop", `not "18446744074"`}, // its nanoseconds run over to less than a second
		{"-l a=b --elements 1048577 errsnoop", `1 to 1048576, not "1048577"`},
		{"-l a=b --max-hits 3000000000 errsnoop", `1 to 2147483647, not "3000000000"`},
		{"-l a=b --sample 3000000000 errsnoop", `not "3000000000"`},
		{"-l a=b,a=c errsnoop", "nothing has a=b and a=c"},
		{"-l a=b --elements 5 --separate errsnoop", "--elements is about one answer of all nodes"},
		{"-l a=b --program x --separate errsnoop", "--program is about a script that is translated once"},
	} {
		a, err := ask(strings.Fields(c.args))
		text, _ := json.Marshal(a.spec)
		if got := string(text); err == nil && got != c.want || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %s, not %s", c.args, err, got, c.want)
		}
	}
}

// TestFailure: what kubectl says of a failure is told in words of the one who asked, with what helps.
func TestFailure(t *testing.T) {
	for _, c := range []struct{ said, text, hint string }{
		{`Error from server: error when creating "STDIN": admission webhook "check.gostap.dev" denied the request: ` +
			"error: there is no tool \"x\"\n  hint: did you mean y?\n",
			"there is no tool \"x\"\n  hint: did you mean y?", ""},
		{"error: the server doesn't have a resource type \"traces\"\n", "kube: the cluster knows no Traces",
			"gostap fleet install"},
		{`Error from server (InternalError): Internal error occurred: failed calling webhook "name.gostap.dev": ` +
			"failed to call webhook: Post \"https://x\": context deadline exceeded\n", "context deadline exceeded",
			"gostap-fleet does not answer"},
		{"Error from server (Forbidden): traces.gostap.dev is forbidden\n",
			"kubectl: Error from server (Forbidden)", ""},
		{"", "kubectl: exit status 1", ""},
	} {
		var told strings.Builder
		slip.Failed(&told, failure(errors.New("exit status 1"), c.said))
		if !strings.Contains(told.String(), c.text) || !strings.Contains(told.String(), c.hint) {
			t.Errorf("%q: %s", c.said, told.String())
		}
	}
}

// TestTake: of statuses, one after the other, what is new is printed once, also where the beginning was left out.
func TestTake(t *testing.T) {
	var out, said strings.Builder
	f := newFollower("shop", "x", Streams{&out, &said})
	st := &status{Phase: "Running", Nodes: []node{{Name: "a", Phase: "Running", Pods: 1}}}
	result := func(text string, bytes int) {
		st.Result.Text, st.Result.Bytes = text, bytes
		f.take(st)
	}
	result("one\n", 4)
	st.Nodes[0].Messages, st.Message = "WARNING: x\n", "pod y came\n"
	result("one\ntwo\n", 8)
	st.Nodes[0].Pods = 2
	result("two\nthree\n", 14)
	st.Nodes[0].Messages = "WARNING: x\nWARNING: z\n"
	result("six\n", 24)
	st.Nodes[0].Messages = "WARNING: z\nWARNING: last\n" // its beginning was left out
	st.Skipped = append(st.Skipped, struct{ Pod, Reason string }{"p", "it does not run"})
	f.take(st)
	f.take(st)
	if want := "one\ntwo\nthree\nsix\n"; out.String() != want {
		t.Errorf("%q, not %q", out.String(), want)
	}
	want := "a: running, 1 pod\na: WARNING: x\npod y came\na: running, 2 pods\na: WARNING: z\n" +
		"WARNING: 6 bytes of the output are not kept\na: WARNING: last\nWARNING: pod p is not traced: it does not run\n"
	if said.String() != want {
		t.Errorf("%s, not\n%s", said.String(), want)
	}
}

func TestAskProfile(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"-l a=b -o x.svg --hz=49 -n shop -c app --for 5s", `x.svg 49 5 ["app"]`},
		{"-l a=b", ` 99 10 null`},
		{"-l a=b --output=x.pb.gz --nodes z=a", `x.pb.gz 99 10 null`},
		{"-l a=b -o x.png", "x.png: its name does not say what it is to be"},
		{"-l a=b --hz 0", `--hz takes samples a second, 1 to 1000, not "0"`},
		{"-l a=b shop", `profile takes no "shop"`},
		{"-l a=b -e x", "profile takes no -e"},
		{"-l a=b --hz", "--hz needs a value"},
		{"-o x.svg", "no pods are named"},
		{"-l a=b --nope", "run has no option --nope"},
	} {
		p, a, err := askProfile(strings.Fields(c.args))
		names, _ := json.Marshal(a.spec.Containers)
		got := fmt.Sprintf("%s %d %d %s", p.output, p.hz, a.spec.Limits.Seconds, names)
		hz := fmt.Sprintf("hz(%d)", p.hz)
		if err == nil && (got != c.want || !a.spec.Folded || !strings.Contains(a.spec.Script, hz)) ||
			err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %s, not %s", c.args, err, got, c.want)
		}
	}
}

func TestMoment(t *testing.T) {
	now := time.Date(2026, 11, 28, 23, 30, 0, 0, time.FixedZone("x", 3600))
	for text, want := range map[string]string{"23:45": "2026-11-28T22:45:00Z", "02:00": "2026-11-29T01:00:00Z",
		"2026-12-01T02:00:00Z": "2026-12-01T02:00:00Z"} {
		if at, err := moment(text, now); err != nil || at.Format(time.RFC3339) != want {
			t.Errorf("%s: %v %v", text, at, err)
		}
	}
}
