package traces

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/pflag"

	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/compiler/diag"
)

// StateDir is where the state is if nothing else is said.
const StateDir = "/var/lib/gostap/traces"

// Run is "gostap agent traces": the list of what there is, or what one has printed. usage is for --help.
func Run(args []string, out, errw io.Writer, usage string) int {
	f := pflag.NewFlagSet("traces", pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	path := f.String("state", StateDir, "")
	err := f.Parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		fmt.Fprint(out, usage)
		return 0
	case err != nil:
		err = slip.New("agent traces: "+err.Error(), "gostap agent --help lists the options")
	case f.NArg() > 1:
		err = slip.New(fmt.Sprintf("agent traces: %q is one argument too many", f.Arg(1)), "it takes one name at most")
	case f.NArg() == 1:
		err = show(*path, f.Arg(0), out, errw)
	default:
		err = table(*path, out, errw)
	}
	if err != nil {
		return slip.Failed(errw, err)
	}
	return 0
}

// existing opens the state of an agent to read it.
func existing(path string) (*State, error) {
	f, err := openDir(path)
	var w *wrong
	switch {
	case errors.As(err, &w):
		return nil, slip.New("--state: "+w.text, w.hint)
	case errors.Is(err, fs.ErrNotExist):
		return nil, slip.New("--state: there is no "+path, "an agent with --traces makes it: gostap agent --traces "+
			"/etc/gostap/traces")
	case errors.Is(err, fs.ErrPermission):
		return nil, slip.New("--state: "+slip.Plain(err).Error(), "as root: sudo gostap agent traces")
	case err != nil:
		return nil, fmt.Errorf("--state: %w", slip.Plain(err))
	}
	return &State{f}, nil
}

// listed opens the directory of an agent, and gives the names that are there.
func listed(path string) (*State, []string, error) {
	s, err := existing(path)
	if err != nil {
		return nil, nil, err
	}
	names, err := s.traces()
	if err != nil {
		s.dir.Close()
		return nil, nil, slip.Plain(err)
	}
	return s, names, nil
}

func table(path string, out, errw io.Writer) error {
	s, names, err := listed(path)
	if err != nil {
		return err
	}
	defer s.dir.Close()
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tPHASE\tSINCE\tLOST\tMESSAGE")
	for _, name := range names {
		st, err := s.status(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // meanwhile it was removed
		}
		if err != nil {
			fmt.Fprintf(errw, "WARNING: %s\n", diag.Visible(slip.Plain(err).Error()))
			continue
		}
		at := st.Started
		if st.Finished != nil {
			at = st.Finished
		}
		since := "-"
		if at != nil {
			since = time.Since(*at).Round(time.Second).String()
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\n", name, diag.Visible(st.Phase), since, st.Lost,
			strings.ReplaceAll(diag.Visible(headline(st.Message)), "\t", " "))
	}
	return w.Flush()
}

// show prints the output of one, and its messages beside.
func show(path, name string, out, errw io.Writer) error {
	s, names, err := listed(path)
	if err != nil {
		return err
	}
	defer s.dir.Close()
	if !named.MatchString(name) {
		return slip.New(fmt.Sprintf("%q is no name of a trace", name), slip.Meant(name, names))
	}
	st, err := s.status(name)
	if errors.Is(err, fs.ErrNotExist) {
		hint := slip.Meant(name, names)
		if hint == "" {
			hint = "gostap agent traces lists them"
		}
		return slip.New("there is no trace "+name, hint)
	}
	if err != nil {
		return slip.Plain(err)
	}
	text, err := s.read(name+outFile, 4*mostSize) // bytes that are no UTF-8 take three
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return slip.Plain(err)
	}
	said, err := s.read(name+logFile, 4*mostLog) // as above
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return slip.Plain(err)
	}
	if _, err := out.Write(text); err != nil {
		return err
	}
	if len(said) == 0 && st.Message != "" {
		said = []byte(strings.TrimSuffix(st.Message, "\n") + "\n")
	}
	if first, _, _ := strings.Cut(st.Message, "\n"); strings.HasPrefix(first, notWhole) &&
		!strings.HasPrefix(string(said), first) {
		said = append([]byte(first+"\n"), said...)
	}
	fmt.Fprint(errw, diag.Visible(string(said)))
	if st.Result.Left > 0 {
		fmt.Fprintf(errw, "WARNING: %d of %d bytes of the output are not kept (limits.bytes)\n", st.Result.Left,
			st.Result.Bytes)
	}
	return nil
}
