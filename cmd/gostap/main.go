// Command gostap traces running Go and C programs with stap scripts.
package main

import (
	"os"
	"path/filepath"

	"github.com/gostap/gostap/cmd/internal/cli"
)

func main() {
	args := os.Args[1:]
	if filepath.Base(os.Args[0]) == "kubectl-gostap" { // as a plugin: kubectl gostap ...
		args = append([]string{"kube"}, args...)
	}
	os.Exit(cli.Run(args, cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, os.Environ()))
}
