// Command gostap traces running Go and C programs with stap scripts.
package main

import (
	"os"

	"github.com/gostap/gostap/cmd/internal/cli"
)

func main() {
	os.Exit(cli.Run(os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, os.Environ()))
}
