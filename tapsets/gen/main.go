// Command gen writes index.go of package tapsets and the page docs/tapsets.md from the
// library files of the folder that it is started in.
package main

import (
	"log"
	"os"

	"github.com/gostap/gostap/tapsets/internal/index"
)

func main() {
	log.SetFlags(0)
	files, err := index.Read(os.DirFS("."))
	if err != nil {
		log.Fatal(err)
	}
	src, err := index.Source(files)
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("index.go", src, 0o644); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("../docs/tapsets.md", index.Page(files), 0o644); err != nil {
		log.Fatal(err)
	}
}
