// Package travel describes what a program that runs in other kernels too takes of the kernel: places of members, sizes,
// constants. Descriptions are those that debuginfo/kbtf resolves (Kernel.Resolve).
//
// In: fields, types and images of the kernel that the program is compiled with. Out: loc.Offset steps.
package travel

import (
	"fmt"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/types"
)

// Only begins the description of what is not looked up in other kernels.
const Only = "this "

// Member is what lies at the end of a path of fields in a structure at addr. Where that structure has no name, but is a
// member of one that has, the whole way is looked up from there.
func Member(addr loc.Prog, path []types.Field) loc.Prog {
	first, last := path[0], path[len(path)-1]
	if n := addr.Last(); first.Owner == types.AnonymousOwner && last.Name != "" && n >= 2 {
		add, at := addr.Steps[n], addr.Steps[n-1]
		words := strings.Split(at.Text, " ")
		if add.Op == loc.Add && add.B == n-1 && add.A == n-2 && at.Op == loc.Offset && len(words) == 4 &&
			words[0] == "member" {
			off := at.N
			for _, f := range path {
				off += f.Off
			}
			what := fmt.Sprintf("member %s %s.%s %s", words[1], words[2], last.Name, last.Shape())
			return loc.Prog{Steps: addr.Steps[:n-1]}.Beyond(off, what)
		}
	}
	off := int64(0)
	for _, f := range path {
		off += f.Off
	}
	what := fmt.Sprintf("member %s %s %s", first.Owner, last.Name, last.Shape())
	if first.Owner == types.AnonymousOwner || last.Name == "" {
		what = Only + "member of a structure that has no name"
	}
	return addr.Beyond(off, what)
}

// Sized reports whether t is a structure whose size is looked up in other kernels.
func Sized(t *types.Ctype) bool {
	if t.Go || t.Kind != types.Struct && t.Kind != types.Union {
		return false
	}
	fs := t.Fields()
	return len(fs) > 0 && fs[0].Owner != ""
}

// Stride is the bytes from one element of an array to the next.
func Stride(t *types.Ctype) loc.Prog {
	if !Sized(t) {
		return loc.Constant(t.Size)
	}
	what := "size " + t.Fields()[0].Owner
	if strings.HasSuffix(what, types.AnonymousOwner) {
		what = Only + "size of a structure that has no name"
	}
	return loc.Value(loc.Step{Op: loc.Offset, N: t.Size, Text: what})
}

// Constant is an enumerator of img.
func Constant(img debuginfo.Image, name string, n int64) loc.Prog {
	if !Portable(img) {
		return loc.Constant(n)
	}
	module := ""
	if m := img.(interface{ Module() string }).Module(); m != "" {
		module = m + ":"
	}
	return loc.Value(loc.Step{Op: loc.Offset, N: n, Text: "constant " + module + name})
}

// Portable reports whether img is the kernel, and the program is for others too.
func Portable(img debuginfo.Image) bool {
	p, ok := img.(interface{ Portable() bool })
	return ok && p.Portable()
}
