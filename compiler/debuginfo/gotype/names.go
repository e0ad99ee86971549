package gotype

import (
	"regexp"
	"strings"
)

// release is an element of a path that is no package's name: the second one of example.org/log/v2, and what stands
// behind the dot of gopkg.in/yaml.v3.
var release = regexp.MustCompile(`(/v[0-9]+|\.v[0-9]+)$`)

// ShortName is the name of a type with the name of its package only, "fs.PathError", "" if that is the whole one.
func ShortName(full string) string {
	args := strings.IndexByte(full, '[')
	if args < 0 {
		args = len(full)
	}
	dot := strings.LastIndexByte(full[:args], '.')
	if dot < 0 {
		return ""
	}
	path := release.ReplaceAllString(full[:dot], "")
	if path = path[strings.LastIndexByte(path, '/')+1:]; path == full[:dot] {
		return ""
	}
	return path + full[dot:]
}

// ShortNames are those of full ones.
func ShortNames(full []string) (out []string) {
	for _, n := range full {
		if s := ShortName(n); s != "" {
			out = append(out, s)
		}
	}
	return out
}
