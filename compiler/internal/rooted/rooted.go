// Package rooted finds files as a process with another root directory does.
//
// In: a root, a path in it. Out: the path from here.
package rooted

import (
	"os"
	"path/filepath"
	"strings"
)

// Below follows name as a process whose root directory is root does: the kernel would take absolute links from the
// tracer's own root.
func Below(root, name string) string {
	const maxLinks = 40 // as the kernel's MAXSYMLINKS
	done, rest := "/", filepath.Clean(name)
	for links := 0; rest != "" && rest != "/"; {
		part, tail, _ := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
		at := filepath.Join(done, part)
		link, err := os.Readlink(root + at)
		if err != nil {
			done, rest = at, tail
			continue
		}
		if links++; links > maxLinks {
			break
		}
		if filepath.IsAbs(link) {
			done = "/"
		}
		rest = filepath.Join(link, tail)
		if !filepath.IsAbs(link) {
			rest = filepath.Join(done, rest)
			done = "/"
		}
	}
	return root + done
}
