package compiler

import (
	"errors"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/source"
)

// codeChanged says that a binary was written to while it was read.
const codeChanged diag.Code = "file-changed"

// unchanged runs f, which reads binaries and adds what it has to say to all. If one of them was written to or cut
// short meanwhile, nothing that was found holds, and that is all there is to say.
func (s *state) unchanged(all *diag.List, f func()) {
	defer foreign.Goroutine()()
	defer func() {
		var cause error
		if r := recover(); r != nil {
			if cause = foreign.Explain(r); cause == nil {
				panic(r)
			}
		}
		for _, im := range s.env.Images() {
			if c, ok := im.(debuginfo.Changing); ok && cause == nil {
				cause = c.Changed()
			}
		}
		var changed *foreign.ChangedError
		if errors.As(cause, &changed) {
			*all = nil
			all.Errorf(diag.Semantic, codeChanged, source.Span{}, "%v", changed).
				Hintf("run the command again when nothing writes to it any more")
		}
	}()
	f()
}
