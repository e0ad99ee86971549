package asked

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/diag"
)

// Exports are the destinations that who runs sessions for others has named (gostap-fleet run, gostap agent): a Trace
// can be delivered to them and to no others, since a controller may reach what its users may not.
type Exports map[string]string

// ExportPattern is what a name of one is like, as specs have it.
const ExportPattern = `^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`

var exportName = regexp.MustCompile(ExportPattern)

// Set adds one: NAME=DESTINATION.
func (e *Exports) Set(word string) error {
	name, to, ok := strings.Cut(word, "=")
	switch {
	case !ok || !exportName.MatchString(name) || !strings.Contains(to, "://"):
		return fmt.Errorf("--export takes NAME=DESTINATION, such as collector=otlp://otel:4317, not %q", word)
	case strings.HasPrefix(to, "prometheus://"):
		return fmt.Errorf("--export %s: a session that is asked listens at one address, and several run at a time: "+
			"remote-write+http://HOST:9090 has Prometheus get what they count", word)
	case (*e)[name] != "":
		return fmt.Errorf("--export: there are two destinations %s", name)
	}
	if *e == nil {
		*e = Exports{}
	}
	(*e)[name] = to
	return nil
}

// String and Type are for a flag.
func (e *Exports) String() string { return "" }

// Type is how its argument is called.
func (e *Exports) Type() string { return "NAME=DESTINATION" }

// Of gives the destinations that a spec names. runner is the command whose --export names what there is.
func (e Exports) Of(runner string, names []string) (to []string, err error) {
	for _, n := range names {
		if e[n] == "" {
			known := slices.Sorted(maps.Keys(e))
			hint := "--export NAME=DESTINATION of " + runner + " names them, and names none here"
			if near := diag.Nearest(n, known, 3); len(near) > 0 {
				hint = "did you mean " + strings.Join(near, " or ") + "?"
			} else if len(known) > 0 {
				hint = "there are " + strings.Join(known, ", ")
			}
			return nil, Refuse(fmt.Sprintf("there is no destination %q", n), hint)
		}
		to = append(to, e[n])
	}
	slices.Sort(to)
	return slices.Compact(to), nil
}

// Words are what gostap-fleet run is given for them.
func (e Exports) Words() (out []string) {
	for _, n := range slices.Sorted(maps.Keys(e)) {
		out = append(out, "--export", n+"="+e[n])
	}
	return out
}
