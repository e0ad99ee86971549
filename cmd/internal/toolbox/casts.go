package toolbox

import (
	_ "embed"
	"strings"
)

//go:embed casts.txt
var casts string

// Cast is a run of a tool as a terminal shows it, or "" if none is kept: the command and what it printed. A test writes
// them, from runs (TestToolCasts in tests).
func Cast(tool string) string {
	_, text, ok := strings.Cut("\n"+casts, "\n-- "+tool+" --\n")
	if !ok {
		return ""
	}
	text, _, _ = strings.Cut(text, "\n-- ")
	return strings.TrimRight(text, "\n") + "\n"
}
