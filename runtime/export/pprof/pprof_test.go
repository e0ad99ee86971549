package pprof

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gostap/gostap/runtime/export"
)

func sample() *export.Profile {
	leaf := export.Frame{Func: "main.leaf", File: "/src/main.go", Line: 7, Module: "app", Addr: 0x1007, Inlined: true}
	work := export.Frame{Func: "main.work", File: "/src/main.go", Line: 12, Module: "app", Addr: 0x1007}
	main := export.Frame{Func: "main.main", File: "/src/main.go", Line: 30, Module: "app", Addr: 0x2000}
	return &export.Profile{
		Types: []export.Type{{Name: "time", Unit: "nanoseconds"}, {Name: "samples", Unit: "count"}},
		Start: time.Unix(1700000000, 0),
		Notes: []string{"lost: 3 events"},
		Samples: []export.Sample{{Stack: []export.Frame{leaf, work, main}, Values: []int64{10e6, 1},
			Labels: []export.Label{{Key: "state", Text: "chan receive"}, {Key: "thread", Text: "app/5"}}},
			{Stack: []export.Frame{work, main}, Values: []int64{20e6, 2}},
			{Stack: []export.Frame{{Func: "[libc.so.6]", Module: "libc.so.6", Addr: 0x9000}}, Values: []int64{5, 1}}},
	}
}

func TestBack(t *testing.T) {
	var b bytes.Buffer
	want := sample()
	if err := Write(&b, want); err != nil {
		t.Fatal(err)
	}
	got, err := Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want.Samples {
		if !reflect.DeepEqual(got.Samples[i], want.Samples[i]) {
			t.Errorf("got  %+v\nwant %+v", got.Samples[i], want.Samples[i])
		}
	}
	if !reflect.DeepEqual(got.Types, want.Types) || !reflect.DeepEqual(got.Notes, want.Notes) {
		t.Errorf("got %+v", got)
	}
	if _, err := Read(strings.NewReader("no profile")); err == nil {
		t.Error("what is no profile was read")
	}
}

// TestTool: go tool pprof reads it, and its sums are ours.
func TestTool(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.pb.gz")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(f, sample()); err != nil {
		t.Fatal(err)
	}
	f.Close()
	for _, c := range []struct {
		flag string
		want []string
	}{
		{"-top", []string{"20ms 66.67% 66.67%       30ms   100%  main.work",
			"10ms 33.33%   100%       10ms 33.33%  main.leaf (inline)"}},
		{"-tags", []string{"10ms (33.33%): chan receive", "10ms (33.33%): app/5"}},
	} {
		out, err := exec.Command("go", "tool", "pprof", c.flag, name).CombinedOutput()
		for _, w := range c.want {
			if err != nil || !strings.Contains(string(out), w) {
				t.Errorf("%s, %v: no %q in\n%s", c.flag, err, w, out)
			}
		}
	}
}
