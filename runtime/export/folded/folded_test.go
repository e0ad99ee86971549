package folded

import (
	"strings"
	"testing"

	"github.com/gostap/gostap/runtime/export"
)

func TestWrite(t *testing.T) {
	p := &export.Profile{Types: []export.Type{{Name: "time", Unit: "nanoseconds"}}, Samples: []export.Sample{
		{Stack: []export.Frame{{Func: "leaf"}, {Func: "a;b\nc"}}, Values: []int64{7},
			Labels: []export.Label{{Key: "state", Text: "chan receive"}}},
		{Stack: []export.Frame{{Func: "leaf", Line: 3}, {Func: "main.f[go.shape.int]"}}, Values: []int64{2}},
		{Stack: []export.Frame{{Func: "leaf", Line: 4}, {Func: "main.f[go.shape.int]"}}, Values: []int64{3}},
		{Values: []int64{1}},
		{Stack: []export.Frame{{Func: "nothing"}}, Values: []int64{0}},
	}}
	var b strings.Builder
	if err := Write(&b, p, 0, "state"); err != nil {
		t.Fatal(err)
	}
	want := "[unknown] 1\na,b c;leaf;[chan receive] 7\nmain.f[go.shape.int];leaf 5\n"
	if b.String() != want {
		t.Fatalf("got\n%swant\n%s", b.String(), want)
	}
	q, err := Read(strings.NewReader("# a remark\n\n" + want))
	if err != nil {
		t.Fatal(err)
	}
	var again strings.Builder
	if err := Write(&again, q, 0); err != nil || again.String() != want {
		t.Errorf("read and written again, %v:\n%s", err, again.String())
	}
}

func TestReadRefuses(t *testing.T) {
	for _, text := range []string{"main;f", "main;f x", "5x", "a 1\nb 99999999999999999999"} {
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), "has no number") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := Read(strings.NewReader(strings.Repeat("x", maxLine+1))); err == nil {
		t.Error("a line without end was taken")
	}
}

func FuzzRead(f *testing.F) {
	f.Add("a;b 5\n")
	f.Add(" 5")
	f.Fuzz(func(t *testing.T, text string) { Read(strings.NewReader(text)) })
}
