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
