package godwarf

import (
	"strconv"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/gotype"
)

// RunTimeTypes gives the types that the program has for itself; nil where it is not known how those of its release lie.
func (im *Image) RunTimeTypes() *debuginfo.RunTimeTypes {
	if im.runTime != nil {
		return im.runTime
	}
	minor, err := strconv.Atoi(strings.TrimPrefix(im.release(), "go1."))
	lo, hi := im.tab.Types()
	if err != nil || minor < 20 || lo == 0 || hi <= lo {
		return nil
	}
	im.runTime = &debuginfo.RunTimeTypes{Minor: minor, Types: gotype.New(im.f, lo, hi, minor),
		Relocated: im.f.Relocated(), First: lo, Text: im.tab.Text(),
		Swiss: minor >= 24 && !strings.Contains(im.Version(), "noswissmap")}
	im.runTime.Types.OldMaps = !im.runTime.Swiss
	return im.runTime
}
