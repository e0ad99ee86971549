package bars

import (
	"strings"
	"testing"

	"github.com/gostap/gostap/runtime/export"
)

func TestWrite(t *testing.T) {
	f := func(names ...string) (s []export.Frame) {
		for _, n := range names {
			s = append(s, export.Frame{Func: n})
		}
		return s
	}
	state := []export.Label{{Key: "state", Text: "sleep"}}
	p := &export.Profile{Title: "time", Types: []export.Type{{Name: "time", Unit: "nanoseconds"}}, Notes: []string{
		"a note"},
		Samples: []export.Sample{
			{Stack: f("runtime.gopark", "main.wait", "main.main"), Values: []int64{3e9}, Labels: state},
			{Stack: f("main.rec", "main.rec", "main.main"), Values: []int64{1e9}},
			{Stack: f("runtime.only"), Values: []int64{0}},
		}}
	var b strings.Builder
	err := Write(&b, p, Options{Label: "state", Most: 10, Width: 80,
		Skip: func(n string) bool { return strings.HasPrefix(n, "runtime.") }})
	want := `time: 4.00 s

               share  state
      3.00 s   75.0%  sleep                        █████████████████████
      1.00 s   25.0%  -                            ███████

      itself   share  called  function
      3.00 s   75.0%   75.0%  main.wait                            █████████
      1.00 s   25.0%   25.0%  main.rec                             ███
        0 ns    0.0%  100.0%  main.main                            
        0 ns    0.0%   75.0%  runtime.gopark                       
        0 ns    0.0%    0.0%  runtime.only                         

a note
`
	if err != nil || b.String() != want {
		t.Errorf("%v: got\n%swant\n%s", err, b.String(), want)
	}
}

func TestBar(t *testing.T) {
	for _, c := range []struct {
		v, whole int64
		room     int
		want     string
	}{{1, 1, 4, "████"}, {1, 2, 5, "██▌"}, {0, 1, 9, ""}, {1, 0, 9, ""}, {1, 1, 3, ""}, {1, 1, -5, ""}} {
		if got := bar(c.v, c.whole, c.room); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
