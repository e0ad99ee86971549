package values

import (
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo/gotype"
	"github.com/gostap/gostap/compiler/debuginfo/pclntab"
)

// short is the name of a type of the debug information without the paths of packages, as the program itself says it:
// "*http.Request". What stands in the brackets of a generic type has its paths there too: "main.box[io/fs.FileMode]".
func short(name string) string {
	if !strings.ContainsAny(name, "/%") {
		return name
	}
	var out strings.Builder
	for i := 0; i < len(name); {
		n := word(name[i:])
		if n == 0 {
			out.WriteByte(name[i])
			i++
			continue
		}
		w := name[i : i+n]
		i += n
		if s := gotype.ShortName(string(pclntab.Unescape([]byte(w)))); s != "" {
			w = s
		}
		out.WriteString(w)
		if i < len(name) && name[i] == '[' && w != "map" {
			end := closing(name[i:])
			out.WriteString(name[i : i+end])
			i += end
		}
	}
	return out.String()
}

// word is how many bytes of a name of a type its first word has, with the path in front of it: none if a sign is first.
func word(name string) int {
	if name[0] == '.' { // of the last parameter: ...T
		return 0
	}
	if n := strings.IndexAny(name, "*[](){},; <\""); n >= 0 {
		return n
	}
	return len(name)
}

// closing is the length of what a bracket begins, with the one that ends it.
func closing(name string) int {
	depth := 0
	for i := range len(name) {
		switch name[i] {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(name)
}
