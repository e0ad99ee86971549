// Package command is what a Trace is as a command line of gostap, and whether gostap takes it.
//
// In: the spec of a Trace, the path of gostap. Out: arguments; the reason why a spec is refused, with line and caret
// where it is in a script.
package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gostap/gostap/cmd/internal/asked"
	"github.com/gostap/gostap/cmd/internal/fleet/api"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/runtime/export/text"
)

// Runner is the command whose --export names destinations.
const Runner = "gostap-fleet run"

// Args are the arguments of gostap for a script or a tool, without those that say where it runs.
func Args(s *api.Spec) ([]string, error) {
	args, err := (&asked.Spec{Tool: s.Tool, Script: s.Script, Options: s.Options, Args: s.Args, Guru: s.Guru}).Words()
	if err == nil {
		err = together(s)
	}
	if err != nil {
		return nil, err
	}
	return args, nil
}

// together refuses what does not go together.
func together(s *api.Spec) error {
	switch {
	case s.Program != "" && s.Separate:
		return asked.Refuse("spec.program is about a script that is translated once, and with spec.separate each node "+
			"translates it", "")
	case s.Limits.Elements > 0 && s.Separate:
		return asked.Refuse("spec.limits.elements is about one answer of all nodes, and with spec.separate "+
			"there is none", "")
	case s.Page && s.Separate:
		return asked.Refuse("spec.page shows one session of all nodes, and with spec.separate there is none", "")
	case s.Page && s.InOrder:
		return asked.Refuse("spec.page does not go with spec.inOrder, whose lines wait for one another", "")
	case s.Page && len(s.Export) > 0:
		return asked.Refuse("spec.page does not go with spec.export, which has what is said as records",
			"what is delivered can be looked at there")
	}
	return nil
}

// notHere are functions that act on the machine where a session is run from, or tell of it: they are no part of what
// is traced there.
var notHere = map[string]string{
	"system":      "runs commands beside the controller",
	"switch_file": "is about files of the controller",
	"env_var":     "reads the environment of the controller",
	"ftrace":      "writes into the kernel's own trace",
	"printk":      "writes into the kernel's log",
}

// Env is the environment of gostap: what a session may know of the controller.
func Env(path string) []string {
	return []string{"PATH=" + path, "HOME=/nonexistent", "XDG_CACHE_HOME=/tmp/gostap-fleet",
		"SYSTEMTAP_DIR=/nonexistent", "LANG=C.UTF-8"}
}

// Checker has gostap check scripts.
type Checker struct {
	// Exports are the destinations that specs can name.
	Exports asked.Exports
	// Gostap is its path.
	Gostap string
	// Timeout is for one check.
	Timeout time.Duration
	// Slots bounds how many run at a time.
	Slots chan struct{}
}

// NewChecker makes one that checks two scripts at a time.
func NewChecker(gostap string, timeout time.Duration) *Checker {
	return &Checker{Gostap: gostap, Timeout: timeout, Slots: make(chan struct{}, 2)}
}

// Check has the script parsed, and elaborated as far as it can be here. It gives an *asked.Refusal if the script is at
// fault, and a warning where a name can be found only where the script is translated, on the nodes.
func (c *Checker) Check(ctx context.Context, s *api.Spec) (warning string, err error) {
	args, err := Args(s)
	if err != nil {
		return "", err
	}
	exports, err := c.Exports.Of(Runner, s.Export)
	if err != nil {
		return "", err
	}
	if s.Folded {
		args = append([]string{"--folded"}, args...)
	}
	if len(exports) > 0 || s.InOrder {
		args = append([]string{"--export=" + text.Kind}, args...) // what does not go with either is told
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	select {
	case c.Slots <- struct{}{}:
		defer func() { <-c.Slots }()
	case <-ctx.Done():
		return "", errors.New("too many scripts are being checked: try again")
	}
	text, said, err := c.pass(ctx, args, "-p1")
	if err != nil || said != "" {
		return "", cmpError(err, said)
	}
	out, said, err := c.pass(ctx, args, "-p2")
	switch {
	case err != nil:
		return "", err
	case said != "" && only(said, bare):
		if err := unsafe(text); err != nil {
			return "", err
		}
		return "what a process without a path has is looked for in the pods: " + said, nil
	case said != "" && s.Separate && only(said, ": error: no match for "):
		return "not found here, and looked for on the nodes: " + said, nil
	case said != "":
		return "", &asked.Refusal{Text: said}
	}
	if err := local(out, s); err != nil || s.Separate {
		return "", err
	}
	// No machine is asked: it is divided, and that is all.
	_, said, err = c.pass(ctx, args, "-p3", "--merge", "--remote=kube://any/one")
	return "", cmpError(err, said)
}

// cmpError is err, else a refusal by what was said, nil if nothing was.
func cmpError(err error, said string) error {
	if err != nil || said == "" {
		return err
	}
	return &asked.Refusal{Text: said}
}

// bare is what is said of a process without a path, which is the program of the pods.
const bare = "a process without a path is the program of -c or -x, and neither is given"

// only says that all errors are of one kind, by a text in each: such as probe points that are not found, which is
// another matter elsewhere.
func only(said, text string) bool {
	n := 0
	for line := range strings.Lines(said) {
		if !strings.Contains(line, ": error: ") {
			continue
		}
		if !strings.Contains(line, text) {
			return false
		}
		n++
	}
	return n > 0
}

// local refuses functions of the list that the script reaches, which pass 2 prints: a name and its parameters in a
// line below "# functions".
func local(out string, s *api.Spec) error {
	inside := false
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "# ") {
			inside = line == "# functions\n"
			continue
		}
		name, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		name, _, _ = strings.Cut(name, ":")
		if inside && notHere[name] != "" {
			return uses(name)
		}
	}
	return nil
}

func uses(name string) error {
	return asked.Refuse(fmt.Sprintf("the script uses %s(), which %s", name, notHere[name]),
		"gostap kube runs such scripts with the rights of who types it")
}

// unsafe refuses these functions in a script as pass 1 prints it, with its macros expanded, for one whose functions are
// not known before its program is.
func unsafe(text string) error {
	text = literal.ReplaceAllString(text, "")
	for name := range notHere {
		if regexp.MustCompile(`\b` + name + `\(`).MatchString(text) {
			return uses(name)
		}
	}
	return nil
}

var literal = regexp.MustCompile(`"(\\.|[^"\\])*"`)

// pass runs gostap up to a pass, with options of its own. said is what it found wrong.
func (c *Checker) pass(ctx context.Context, args []string, own ...string) (out, said string, err error) {
	var stdout, stderr bytes.Buffer
	own = append(own, "--color=never", "--disable-cache",
		"--rlimit-cpu="+strconv.Itoa(int(c.Timeout/time.Second)+1))
	cmd := exec.CommandContext(ctx, c.Gostap, append(own, args...)...)
	cmd.Env, cmd.Dir = Env("/nonexistent"), "/"
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", "", fmt.Errorf("the script could not be checked within %v", c.Timeout)
	case err == nil:
		return stdout.String(), "", nil
	case errors.As(err, &exit) && exit.ExitCode() == 1 && stderr.Len() > 0:
		return "", strings.TrimRight(diag.Visible(stderr.String()), "\n"), nil
	case errors.As(err, &exit):
		return "", "", fmt.Errorf("gostap ended with %v while it checked the script", exit)
	}
	return "", "", err
}
