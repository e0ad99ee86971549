package remote

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/foreign"
)

// mostHosts is how long a file of hosts can be.
const mostHosts = 16 << 20

// FleetArgs makes of the arguments "fleet run --hosts FILE [--separate] ..." those of gostap: a --remote for each line
// of FILE, and --merge. is says whether they are that.
func FleetArgs(args []string) (out []string, is bool, err error) {
	if len(args) < 3 || args[0] != "fleet" || args[1] != "run" {
		return nil, false, nil
	}
	path, separate := "", false
	rest := args[2:]
	var behind []string
	if i := slices.Index(rest, "--"); i >= 0 {
		rest, behind = rest[:i], rest[i:]
	}
	for i := 0; i < len(rest); i++ {
		value, joined := strings.CutPrefix(rest[i], "--hosts=")
		switch {
		case rest[i] == "--separate":
			separate = true
			continue
		case !joined && rest[i] != "--hosts":
			out = append(out, rest[i])
			continue
		case !joined:
			if i, value = i+1, ""; i < len(rest) {
				value = rest[i]
			}
		}
		if is {
			return nil, true, slip.New("--hosts is given twice", "one file has all hosts")
		}
		if is, path = true, value; path == "" {
			return nil, true, slip.New("--hosts names a file, and there is none",
				"gostap fleet run --hosts FILE SCRIPT")
		}
	}
	if !is {
		return nil, false, nil
	}
	hosts, err := readHosts(path)
	if err != nil {
		return nil, true, err
	}
	var own []string
	if !separate {
		own = append(own, "--merge")
	}
	for _, h := range hosts {
		own = append(own, "--remote="+h)
	}
	return slices.Concat(own, out, behind), true, nil
}

// readHosts reads a file with a host in each line, as --remote takes it, and comments behind #.
func readHosts(path string) (hosts []string, err error) {
	text, err := foreign.ReadFile(path, mostHosts)
	if err != nil {
		return nil, slip.New("--hosts: "+slip.Plain(err).Error(), "")
	}
	text = bytes.TrimPrefix(text, []byte("\uFEFF")) // some editors write it
	seen := map[string]int{}
	n := 0
	for line := range bytes.Lines(text) {
		n++
		words := strings.Fields(string(line))
		if i := slices.IndexFunc(words, func(w string) bool { return w[0] == '#' }); i >= 0 {
			words = words[:i]
		}
		if len(words) == 0 {
			continue
		}
		bad := func(why, hint string) ([]string, error) {
			return nil, slip.New(diag.Visible(fmt.Sprintf("%s:%d: %s", path, n, why)), hint)
		}
		if len(words) > 1 {
			return bad(fmt.Sprintf("%q stands behind the host", words[1]),
				"each line has one host, and comments behind #")
		}
		h, err := ParseHost(words[0])
		if said := (*slip.Error)(nil); errors.As(err, &said) {
			return bad(strings.TrimPrefix(said.Text, "--remote "), said.Hint)
		}
		if seen[h.URI] > 0 {
			return bad(fmt.Sprintf("%s is in line %d already", h.URI, seen[h.URI]),
				"what it counts would be counted twice")
		}
		seen[h.URI] = n
		hosts = append(hosts, words[0])
	}
	if len(hosts) == 0 {
		return nil, slip.New(fmt.Sprintf("--hosts: no host is in %s", path), "each line has one, as --remote takes it")
	}
	return hosts, nil
}
