// Package environ looks into environments of processes.
//
// In: NAME=VALUE strings, as of os.Environ, and a name. Out: its value.
package environ

import (
	"slices"
	"strings"
)

// Get gives the value of a variable, "" if it is not there. Of several with one name the last counts, as in os/exec.
func Get(env []string, name string) string {
	begin := name + "="
	for _, e := range slices.Backward(env) {
		if v, ok := strings.CutPrefix(e, begin); ok {
			return v
		}
	}
	return ""
}
