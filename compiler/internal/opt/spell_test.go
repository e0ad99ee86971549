package opt_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/gostap/gostap/compiler"
	"github.com/gostap/gostap/compiler/ir/interp"
	"github.com/gostap/gostap/compiler/ir/irmade"
	"github.com/gostap/gostap/compiler/ir/textfmt"
	"github.com/gostap/gostap/compiler/layout"
)

// TestCTimeText: ctime.ir is what ctime.stp compiles to.
func TestCTimeText(t *testing.T) {
	irmade.Source{Name: "ctime", Prefix: "_ctime", Calls: "println(_ctime(n))", Unoptimised: true}.Check(t,
		flag.Lookup("update").Value.String() == "true")
}

// TestSpelled: the text that the function makes is the one that is printed elsewhere.
func TestSpelled(t *testing.T) {
	src, err := os.ReadFile("ctime.stp")
	if err != nil {
		t.Fatal(err)
	}
	times := []int64{0, -1, 951782400, 4107542399, -62135596801, -62167219201, 253402300799, 253402300800,
		67768036191676799, 67768036191676800, -67768040609740800, -67768040609740801}
	for range 300 {
		times = append(times, rand.Int64N(1<<36)-1<<35, rand.Int64N(1<<56)-1<<55, rand.Int64N(146097*2)*86400)
	}
	script, want := string(src)+"probe begin {\n", ""
	for _, s := range times {
		script += fmt.Sprintf("println(_ctime(%d))\n", s)
		want += textfmt.CTime(s) + "\n"
	}
	res, ds := compiler.Compile(context.Background(),
		compiler.Options{Limits: layout.Default(), Scripts: []compiler.Script{{Name: "t", Text: []byte(script + "}")}}})
	defer res.Close()
	if ds.HasErrors() {
		t.Fatal(ds[0].Message)
	}
	var out printed
	res.Program.Limits.MaxActionInt = 1 << 20
	m, err := interp.New(res.Program, interp.NewMemStore(res.Program), &out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Run(0, &interp.HostContext{}); err != nil {
		t.Fatal(err)
	}
	if got := string(out); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// printed keeps what a program prints.
type printed []byte

func (o *printed) Print(text []byte)      { *o = append(*o, text...) }
func (o *printed) Warn(string)            {}
func (o *printed) Log(string)             {}
func (o *printed) Error(f *textfmt.Fault) { *o = append(*o, "ERROR\n"...) }
func (o *printed) Exit()                  {}
