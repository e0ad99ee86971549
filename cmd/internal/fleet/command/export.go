package command

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/compiler/diag"
)

// Exports are the destinations that who runs the controller has named: a Trace can be delivered to them and to no
// others, since the controller may reach what its users may not.
type Exports map[string]string

// exportName is a name of one, as specs have it.
var exportName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// ParseExports reads NAME=DESTINATION for each.
func ParseExports(words []string) (Exports, error) {
	out := Exports{}
	for _, w := range words {
		name, to, ok := strings.Cut(w, "=")
		switch {
		case !ok || !exportName.MatchString(name) || !strings.Contains(to, "://"):
			return nil, slip.New(fmt.Sprintf("--export takes NAME=DESTINATION, not %q", w),
				"--export collector=otlp://otel.monitoring:4317, which a Trace names by spec.export: [collector]")
		case strings.HasPrefix(to, "prometheus://"):
			return nil, slip.New(fmt.Sprintf("--export %s: a session that is asked listens at one address, and "+
				"several run at a time", w), "remote-write+http://HOST:9090 has Prometheus get what they count")
		case out[name] != "":
			return nil, slip.New(fmt.Sprintf("--export: there are two destinations %s", name), "")
		}
		out[name] = to
	}
	return out, nil
}

// Of gives the destinations that a spec names.
func (e Exports) Of(names []string) (to []string, err error) {
	for _, n := range names {
		if e[n] == "" {
			known := slices.Sorted(maps.Keys(e))
			hint := "gostap-fleet run --export NAME=DESTINATION names them, and names none here"
			if near := diag.Nearest(n, known, 3); len(near) > 0 {
				hint = "did you mean " + strings.Join(near, " or ") + "?"
			} else if len(known) > 0 {
				hint = "there are " + strings.Join(known, ", ")
			}
			return nil, refuse(fmt.Sprintf("there is no destination %q", n), hint)
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
