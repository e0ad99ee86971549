package gostap_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gostap/gostap"
)

// shop is the path of the program that the examples trace.
var shop string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		if os.Geteuid() != 0 {
			fmt.Fprintln(os.Stderr, "skipped: all of it, and the examples: tracing needs root")
			return 0
		}
		dir, err := os.MkdirTemp("", "gostap-face-")
		if err != nil {
			log.Print(err)
			return 1
		}
		defer os.RemoveAll(dir)
		shop = filepath.Join(dir, "shop")
		if out, err := exec.Command("go", "build", "-o", shop, "./tests/fixtures/demo").CombinedOutput(); err != nil {
			log.Printf("%v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// The arguments of a Go function as values: what each customer of a shop spends.
func ExampleRun() {
	// shop is the path of an ordinary Go program.
	script := `probe process.function("main.charge") { println($customer, $cents) }`
	spent := map[string]int64{}
	err := gostap.Run(context.Background(), script, gostap.Options{Command: shop}, func(e gostap.Event) error {
		if e.Kind != gostap.Print {
			return fmt.Errorf("%s: %s", e.Kind, e.Text) // nothing is lost in silence
		}
		spent[e.Args[0].Text] += e.Args[1].Int
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(spent)
	// Output: map[ada:49720 barbara:49720 edsger:49720 grace:49720]
}

// A histogram into a map: how many items the orders of a customer have.
func ExampleProgram_Start() {
	ctx := context.Background()
	p, err := gostap.Compile(ctx, `global items
	probe process.function("main.price") { items[$o->Customer] <<< $o->Items->len }
	probe never { print(@hist_linear(items[""], 0, 9, 1)) }`, gostap.Options{Command: shop})
	if err != nil {
		log.Fatal(err) // with the place in the script
	}
	defer p.Close()
	s, err := p.Start(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for e, err := range s.Events() { // until the shop closes
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(e.Kind, e.Text)
	}
	g, err := s.Globals()
	if err != nil {
		log.Fatal(err)
	}
	orders, err := gostap.Map[string, *gostap.Stats](g, "items")
	if err != nil {
		log.Fatal(err)
	}
	ada := orders["ada"]
	fmt.Println(ada.Count, "orders of", ada.Min, "to", ada.Max, "items,", ada.Sum, "in all")
	fmt.Println(ada.Histograms[0].Map())
	// Output:
	// 12 orders of 1 to 3 items, 24 in all
	// map[1:4 2:4 3:4]
}

// Compiled once, and run from bytes, as another process or another machine with the same program would.
func ExampleLoad() {
	ctx := context.Background()
	p, err := gostap.Compile(ctx, `global declined
	probe process.function("main.charge").return { if ($cents % 5 == 0) declined++ }
	probe end { printf("%d of %s\n", declined, "48") }`, gostap.Options{Command: shop})
	if err != nil {
		log.Fatal(err)
	}
	b, err := p.Bytes()
	p.Close()
	if err != nil {
		log.Fatal(err)
	}

	there, err := gostap.Load(b, gostap.Options{Command: shop})
	if err != nil {
		log.Fatal(err)
	}
	defer there.Close()
	err = there.Run(ctx, func(e gostap.Event) error {
		fmt.Println(e.Args)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: [8 48]
}
