package gotype

import (
	"strings"

	"github.com/gostap/gostap/compiler/lateregexp"
)

// release is an element of a path that is no package's name: the second one of example.org/log/v2, and what stands
// behind the dot of gopkg.in/yaml.v3.
var release = lateregexp.New(`(/v[0-9]+|\.v[0-9]+)$`)

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
	path := release().ReplaceAllString(full[:dot], "")
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

// aliases are names that Go gives to types of another name: the compiler knows the others only. (Go specification,
// predeclared identifiers; package os since Go 1.16.)
var aliases = map[string]string{
	"byte": "uint8", "rune": "int32", "any": "interface {}",
	"os.PathError": "io/fs.PathError", "os.FileInfo": "io/fs.FileInfo", "os.FileMode": "io/fs.FileMode",
	"os.DirEntry": "io/fs.DirEntry",
}

// word is a name with what stands before it: a dot, a slash and the like make it a part of another name.
var word = lateregexp.New(`(^|[^\pL\pN_./~-])((?:os\.)?[\pL_][\pL\pN_]*)`)

// Unaliased is a type's name with the names of the types that aliases in it stand for: "[]uint8" for "[]byte". A name
// behind which another part follows, as in "byte.Buffer", is a package's.
func Unaliased(name string) string {
	var b strings.Builder
	last := 0
	for _, at := range word().FindAllStringSubmatchIndex(name, -1) {
		begin, end := at[4], at[5]
		to, ok := aliases[name[begin:end]]
		if !ok || end < len(name) && strings.IndexByte("./-~", name[end]) >= 0 {
			continue
		}
		b.WriteString(name[last:begin])
		b.WriteString(to)
		last = end
	}
	b.WriteString(name[last:])
	return b.String()
}
