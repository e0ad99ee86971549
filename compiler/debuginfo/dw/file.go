package dw

import (
	"debug/dwarf"
	"path"
	"strings"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"
)

// MatchFile reports whether a recorded source path is what the user's pattern means: the path
// itself, the end of it from a separator on, or a glob (* ? [..]) of either. An empty pattern means nothing.
func MatchFile(file, pattern string) bool {
	if file == "" || pattern == "" {
		return false
	}
	file, pattern = path.Clean(file), path.Clean(pattern)
	if !strings.ContainsAny(pattern, "*?[") {
		if file == pattern {
			return true
		}
		n := len(file) - len(pattern)
		return n > 0 && file[n-1] == '/' && file[n:] == pattern
	}
	if strings.HasPrefix(pattern, "/") {
		ok, _ := path.Match(pattern, file)
		return ok
	}
	// As many components as the pattern has, from the end.
	tail := file
	for n, i := strings.Count(pattern, "/"), len(file); ; n-- {
		i = strings.LastIndexByte(file[:i], '/')
		if i < 0 {
			break
		}
		if n == 0 {
			tail = file[i+1:]
			break
		}
	}
	ok, _ := path.Match(pattern, tail)
	return ok
}

// FileAttr gives the file that DW_AT_decl_file or DW_AT_call_file of t names. The number counts in
// the table of the unit that holds the attribute, which for a copy may be another unit (LTO).
func (d *Data) FileAttr(t *godwarf.Tree, attr dwarf.Attr) string {
	e, ok := t.Entry.(*entry)
	if !ok {
		return ""
	}
	for _, x := range append([]*dwarf.Entry{e.first}, e.more...) {
		if n, ok := x.Val(attr).(int64); ok {
			u, err := d.UnitOf(x.Offset)
			if err != nil {
				return ""
			}
			return u.FileName(n)
		}
	}
	return ""
}
