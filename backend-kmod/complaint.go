package kmod

import (
	"strconv"
	"strings"

	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/source"
)

// CodeC is what the C compiler says about C of the script.
const CodeC diag.Code = "embedded-c-error"

// complaint turns the C compiler's errors about C of the script into one diagnostic at the script's place: the first
// error, and the others as notes. It is nil when all of them are about other files, which are ours.
func complaint(output string, files *source.FileSet) *diag.Diagnostic {
	if files == nil {
		return nil
	}
	const most = 5
	var d *diag.Diagnostic
	for _, line := range strings.Split(output, "\n") {
		at, msg, ok := strings.Cut(line, ": error: ")
		if !ok {
			if at, msg, ok = strings.Cut(line, ": fatal error: "); !ok {
				continue
			}
		}
		pos := place(at, files)
		if !pos.IsValid() {
			continue
		}
		msg = strings.NewReplacer("‘", "'", "’", "'").Replace(msg)
		switch {
		case d == nil:
			d = &diag.Diagnostic{Phase: diag.Build, Code: CodeC, Span: source.At(pos),
				Message: "the C compiler refuses this: " + msg}
		case len(d.Notes) < most:
			d.Note(source.At(pos), "%s", msg)
		}
	}
	return d
}

// place reads "file:line:column" or "file:line".
func place(s string, files *source.FileSet) source.Pos {
	var nums []int
	for len(nums) < 2 {
		i := strings.LastIndexByte(s, ':')
		if i < 0 {
			break
		}
		n, err := strconv.Atoi(s[i+1:])
		if err != nil {
			break
		}
		nums = append(nums, n)
		s = s[:i]
	}
	f := files.Named(s)
	if f == nil || len(nums) == 0 {
		return source.NoPos
	}
	if len(nums) == 1 {
		return f.At(nums[0], 1, 8)
	}
	return f.At(nums[1], nums[0], 8)
}
