// Package cli is the command as a function: arguments and streams in, exit status
// out. It turns flags into options of package gostap and prints what that gives, and holds no logic of its
// own beyond that.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/cmd/internal/companion"
	"github.com/gostap/gostap/cmd/internal/completion"
	"github.com/gostap/gostap/cmd/internal/inject"
	"github.com/gostap/gostap/cmd/internal/kube"
	"github.com/gostap/gostap/cmd/internal/kube/podprogram"
	"github.com/gostap/gostap/cmd/internal/kube/trace"
	"github.com/gostap/gostap/cmd/internal/kube/wait"
	"github.com/gostap/gostap/cmd/internal/manual"
	"github.com/gostap/gostap/cmd/internal/marks"
	"github.com/gostap/gostap/cmd/internal/patch"
	"github.com/gostap/gostap/cmd/internal/profile"
	"github.com/gostap/gostap/cmd/internal/providers"
	"github.com/gostap/gostap/cmd/internal/rcfile"
	"github.com/gostap/gostap/cmd/internal/remote"
	"github.com/gostap/gostap/cmd/internal/remote/agent"
	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/cmd/internal/structs"
	"github.com/gostap/gostap/cmd/internal/toolbox"
	"github.com/gostap/gostap/cmd/internal/tty"
	"github.com/gostap/gostap/compiler"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/environ"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/trusted"
	"github.com/gostap/gostap/grammar"
	"github.com/gostap/gostap/runtime/export/jsonlines"
)

// Version is set by the linker.
var Version = "unknown"

// LanguageVersion is the level of the script language that is spoken, as systemtap_v in scripts.
const LanguageVersion = grammar.LanguageVersion

// Streams are where the command reads and writes. The traced command of -c gets them too.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Run runs the command and gives its exit status.
func Run(args []string, s Streams, env []string) (status int) {
	// A file that is cut short while it is read is a fault where no reader expects one.
	defer foreign.Goroutine()()
	// A broken invariant of ours must not show a stack trace to a user who asked for nothing of
	// the kind, and must not look like a success.
	defer func() {
		if r := recover(); r != nil {
			status = 1
			if err := foreign.Explain(r); err != nil {
				fmt.Fprintf(s.Err, "error: %v\n", err)
				return
			}
			internal(s.Err, env, r, debug.Stack())
		}
	}()
	var fleet *kube.Fleet
	if len(args) > 0 {
		switch args[0] {
		case "types":
			return structs.Run(args[1:], s.Out, s.Err)
		case "dtrace":
			return providers.Run(args[1:], s.Out, s.Err, env)
		case "tplist":
			return marks.Tplist(args[1:], s.Out, s.Err)
		case "tools":
			return toolbox.Run(args[1:], s.Out, s.Err, env)
		case "completion":
			return completion.Run(args[1:], s.Out, s.Err)
		case "complete-words": // asked, as the next one, by what "gostap completion" prints
			completion.CompleteWords(args[1:], s.Out, completionConfig(s, env))
			return 0
		case "complete-line":
			if len(args) == 3 {
				completion.Complete(args[2], args[1], s.Out, completionConfig(s, env))
			}
			return 0
		case "help":
			return manual.Run(args[1:], manualConfig(s, env))
		case "info":
			return marks.Info(args[1:], s.Out, s.Err)
		case "remote-session":
			return remoteSession(args[1:], s, env)
		case podprogram.Command: // in the pod of an agent
			return podprogram.Serve(args[1:], s.In, s.Out)
		case "agent":
			return agent.Run(args[1:], agent.Streams{Out: s.Out, Err: s.Err}, env, Version)
		case "fleet":
			more, is, err := remote.FleetArgs(args)
			if err != nil {
				return slip.Failed(s.Err, err)
			}
			if is {
				args = more
				break
			}
			ctx, hangs, done := untilSignal()
			defer done()
			hangs()
			if status, err = companion.Fleet(ctx, args[1:], s.Out, s.Err); err != nil {
				return slip.Failed(s.Err, err)
			}
			return status
		case "profile":
			defer sweep()()
			ctx, hangs, done := untilSignal()
			defer done()
			hangs()
			streams := profile.Streams{In: s.In, Out: s.Out, Err: s.Err, Columns: columns(s.Out)}
			return profile.Run(ctx, args[1:], streams, env)
		case "patch":
			defer sweep()()
			ctx, hangs, done := untilSignal()
			defer done()
			hangs()
			return patch.Run(ctx, args[1:], patch.Streams{In: s.In, Out: s.Out, Err: s.Err}, env)
		case "kube":
			if wait.Is(args[1:]) { // in the pod of an agent, which others enter
				return wait.Run(args[1:], wait.Streams{Out: s.Out, Err: s.Err}, env, Version)
			}
			if trace.Is(args[1:]) {
				ctx, _, done := untilSignal()
				defer done()
				return trace.Run(ctx, args[1:], trace.Streams{Out: s.Out, Err: s.Err})
			}
			more, found, err := kube.Args(args[1:], kube.Streams{Out: s.Out, Err: s.Err})
			if err != nil {
				return slip.Failed(s.Err, err)
			}
			if found == nil {
				return 0
			}
			args, fleet = more, found
			if fleet.TellsJSON() {
				s.Err = fleet.Messages(false)
			}
			defer fleet.Close()
		case "inject":
			more, text, err := inject.Args(args[1:])
			if err != nil {
				return slip.Failed(s.Err, err)
			}
			if text != "" {
				fmt.Fprint(s.Out, text)
				return 0
			}
			args = more
		}
	}
	more, rc, err := rcfile.Read(env, s.Err)
	if err != nil {
		return slip.Failed(s.Err, err)
	}
	typed := args
	tool, err := useTool(args, env)
	if err != nil {
		return slip.Failed(s.Err, err)
	}
	if tool != nil {
		if tool.help != "" {
			fmt.Fprint(s.Out, tool.help)
			return 0
		}
		args = tool.args
	}
	o, err := parseFlags(append(more, args...))
	if err != nil && rc != "" {
		if _, alone := parseFlags(args); alone == nil {
			fmt.Fprintf(s.Err, "note: the options in %s come first\n", rc)
		}
	}
	if err != nil {
		return slip.Failed(s.Err, err)
	}
	c := &command{options: o, Streams: s, argv: typed, tool: tool, rc: more, env: env, fleet: fleet}
	here := o.help || o.version || o.format == formatSchema || o.merge && o.pass < 3
	if len(o.hosts) > 0 && !here {
		status, err := c.runRemote()
		if err != nil {
			return slip.Failed(s.Err, err)
		}
		return status
	}
	return c.do()
}

// do does on this machine what the options ask for, and gives the exit status.
func (c *command) do() int {
	o, s := c.options, c.Streams
	switch {
	case o.help:
		fmt.Fprint(s.Out, usage)
		return 0
	case o.version:
		fmt.Fprintf(s.Out, "gostap %s, script language %s\n", Version, LanguageVersion)
		return 0
	case o.format == formatSchema:
		fmt.Fprint(s.Out, jsonlines.Schema)
		return 0
	case o.cleanCache:
		dir := gostap.CacheDir(c.env)
		err := trusted.Dir(dir) // what somebody else put there is not ours to remove
		if err == nil {
			err = compiler.ClearCache(dir)
		}
		if err != nil {
			fmt.Fprintf(s.Err, "error: %s\n", diag.Visible(plain(err).Error()))
			return 1
		}
		return 0
	case o.cleanup:
		return cleanup(s)
	}
	defer sweep()()
	if o.info {
		return info(s)
	}
	if o.interactive {
		status, err := c.interactive()
		if err != nil {
			return slip.Failed(s.Err, err)
		}
		return status
	}
	return c.tell(c.run())
}

// tell tells of an error, nil for none, and gives the exit status for it.
func (c *command) tell(err error) int {
	if err == nil {
		return 0
	}
	var u *slip.Error
	if errors.As(err, &u) {
		return slip.Failed(c.Err, err)
	}
	if bug := (*gostap.InternalError)(nil); errors.As(err, &bug) {
		internal(c.Err, c.env, bug.Value, bug.Stack)
		return 1
	}
	if !errors.Is(err, errShown) {
		fmt.Fprintf(c.Err, "error: %s\n", diag.Visible(words(err)))
	}
	return 1
}

// internal tells of a bug.
func internal(w io.Writer, env []string, what any, stack []byte) {
	fmt.Fprintf(w, "error: internal error: %v\n  hint: this is a bug of gostap; GOSTAP_DEBUG=1 shows where\n", what)
	if environ.Get(env, "GOSTAP_DEBUG") != "" {
		w.Write(stack)
	}
}

// words is what to say of an error. A context that ended is a signal; the status is 1 then, as stap's.
func words(err error) string {
	if errors.Is(err, context.Canceled) {
		return "stopped by a signal before the probes were in place: nothing was traced"
	}
	return err.Error()
}

// errShown ends the command after its errors were printed.
var errShown = errors.New("failed")

// useColor says whether messages to w are coloured.
func useColor(o *options, w io.Writer, env []string) bool {
	switch o.color {
	case "always":
		return true
	case "never":
		return false
	}
	f, ok := w.(*os.File)
	if !ok || environ.Get(env, "NO_COLOR") != "" {
		return false
	}
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0
}

// columns is the width of the terminal that w is, 0 if it is none.
func columns(w io.Writer) int {
	n, _ := tty.Size(w)
	return n
}

// show prints diagnostics by the rules of -w and -W, and says whether to go on.
func (c *command) show(l []gostap.Diagnostic) bool {
	style := gostap.Style{Color: useColor(c.options, c.Err, c.env), Codes: c.verbose > 0, Width: columns(c.Err)}
	ok := true
	n, warned := 0, 0
	for i, d := range l {
		if d.Warning {
			if c.noWarn {
				continue
			}
			warned++
		} else {
			ok = false
			if n++; n > 50 {
				continue
			}
		}
		io.WriteString(c.Err, d.Render(style))
		if d.Code == "unused-argument" && (i+1 == len(l) || l[i+1].Code != d.Code) {
			slip.Hint(c.Err, slip.New("", c.strangers())) // told once behind all of them
		}
	}
	if n > 50 {
		fmt.Fprintf(c.Err, "error: %d more errors\n", n-50)
	}
	if c.warnErr && ok && warned > 0 {
		fmt.Fprintln(c.Err, "error: warnings are errors with -W, so nothing was run")
	}
	return ok && (!c.warnErr || warned == 0)
}

// shown prints an error that consists of diagnostics.
func (c *command) shown(err error) error {
	var e *gostap.Error
	var f *gostap.Failure
	switch {
	case errors.As(err, &e):
		c.show(e.Diagnostics)
	case errors.As(err, &f): // the session has told
	default:
		return err
	}
	return errShown
}
