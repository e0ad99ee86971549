package partition

import (
	"slices"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/probe"
)

// FramePointers reports whether frame pointers lead from all sites to their callers: they are in code of Go, whose
// functions keep them, and where the function has no frame yet, or none any more, the return address is on top of
// the stack (ReturnOnTop). The stacks of all other places are sent to the host, which unwinds them by call frame
// information.
func FramePointers(sites []*probe.Site) bool {
	if len(sites) == 0 {
		return false
	}
	for _, s := range sites {
		if !s.Kind.InUser() || s.Image == nil || s.Image.Lang() != debuginfo.Go || s.At.Func == nil {
			return false
		}
		if s.At.Func.ABI != debuginfo.GoABIInternal && s.At.Kind != debuginfo.AtEntry { // assembly
			return false
		}
	}
	top := 0
	for _, s := range sites {
		if returnOnTop(s) {
			top++
		}
	}
	return top == 0 || top == len(sites)
}

// ReturnOnTop reports whether the return address is on top of the stack at all sites.
func ReturnOnTop(sites []*probe.Site) bool {
	for _, s := range sites {
		if !returnOnTop(s) {
			return false
		}
	}
	return len(sites) > 0
}

func returnOnTop(s *probe.Site) bool {
	if !s.Kind.InUser() || s.Kind.Returns() || s.Image == nil {
		return false
	}
	_, onTop := debuginfo.Called(s.Image.Machine(), false)
	return s.At.Kind == debuginfo.AtEntry || slices.Equal(s.At.Return.Steps, onTop.Steps)
}
