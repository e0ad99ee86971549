// Package providers is the command "gostap dtrace": headers, objects and aliases for the static marks that a file of
// providers describes, as DTrace's command of that name makes them.
//
// In: arguments and streams, and a file in DTrace's language (parse.go). Out: an exit status, and a header for C and
// C++ (header.go, marks.h) that needs no other, an object with semaphores, or a tapset with the arguments by name
// (tapset.go).
package providers

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/compiler/ccompiler"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/source"
)

const usage = `gostap dtrace - static marks for C and C++ programs

usage: gostap dtrace -h -s FILE.d [-o FILE.h]     a header with a macro for each mark
       gostap dtrace -G -s FILE.d [-o FILE.o]     an object with the marks' semaphores, to be linked with the program
       gostap dtrace -T -s FILE.d [-o FILE.stp]   a tapset: aliases with the arguments by name

  -C              run the C preprocessor on FILE.d
  -I DIR          where it looks for headers
  -D NAME=VALUE   what it defines
      --exec FILE the program that the aliases of -T are for; the provider's name if nothing is said
      --tapset FILE.stp   with -h or -G: write the tapset too
  -k, -q, -m64    accepted, without effect; so are objects behind the options

With
    provider shop { probe order__done(int id, char *customer); };
in FILE.d, a program that includes the header has SHOP_ORDER_DONE(id, customer), and SHOP_ORDER_DONE_ENABLED(), which
is true while somebody traces the mark. It compiles with gcc, g++ and clang, and needs no other header.
`

// options are the command line.
type options struct {
	header, object, tapset, preprocess bool
	script, output, program, beside    string
	include, define                    []string
}

// Run runs the command and gives its exit status.
func Run(args []string, out, errs io.Writer, env []string) int {
	o, err := parseArgs(args)
	if errors.Is(err, pflag.ErrHelp) {
		fmt.Fprint(out, usage)
		return 0
	}
	files := &source.FileSet{}
	if err == nil {
		err = generate(o, files, env)
	}
	if err == nil {
		return 0
	}
	if d := (*diag.Diagnostic)(nil); errors.As(err, &d) {
		(&diag.Printer{W: errs, Files: files}).One(d)
		return 1
	}
	return slip.Failed(errs, err)
}

func parseArgs(args []string) (*options, error) {
	o := &options{}
	f := pflag.NewFlagSet("dtrace", pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	help := f.Bool("help", false, "")
	f.BoolVarP(&o.header, "header", "h", false, "")
	f.BoolVarP(&o.object, "object", "G", false, "")
	f.BoolVarP(&o.tapset, "aliases", "T", false, "")
	f.BoolVarP(&o.preprocess, "cpp", "C", false, "")
	f.StringVarP(&o.script, "script", "s", "", "")
	f.StringVarP(&o.output, "output", "o", "", "")
	f.StringVar(&o.program, "exec", "", "")
	f.StringVar(&o.beside, "tapset", "", "")
	f.StringArrayVarP(&o.include, "include", "I", nil, "")
	f.StringArrayVarP(&o.define, "define", "D", nil, "")
	f.BoolP("keep", "k", false, "")
	f.BoolP("quiet", "q", false, "")
	f.StringP("machine", "m", "", "")
	if err := f.Parse(args); err != nil {
		return nil, slip.New(err.Error(), "gostap dtrace --help tells the options")
	}
	kinds := 0
	for _, k := range []bool{o.header, o.object, o.tapset} {
		if k {
			kinds++
		}
	}
	switch {
	case *help:
		return nil, pflag.ErrHelp
	case kinds != 1:
		return nil, slip.New("one of -h, -G and -T is needed, to say what is made",
			"gostap dtrace -h -s probes.d -o probes.h")
	case o.script == "":
		return nil, slip.New("-s is needed, with the file that describes the providers",
			"gostap dtrace -h -s probes.d -o probes.h")
	}
	if o.output == "" {
		end := ".h"
		if o.object {
			end = ".o"
		} else if o.tapset {
			end = ".stp"
		}
		o.output = strings.TrimSuffix(filepath.Base(o.script), ".d") + end
	}
	return o, nil
}

// mostBytes is how long a file of providers may be.
const mostBytes = 16 << 20

// generate reads the file and writes what is asked for.
func generate(o *options, files *source.FileSet, env []string) error {
	text, err := foreign.ReadFile(o.script, mostBytes)
	if err != nil {
		return err
	}
	if o.preprocess {
		if text, err = preprocessed(o, env); err != nil {
			return err
		}
	}
	list, err := parse(files.Add(o.script, text))
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if o.beside != "" {
		tapset(&b, o.script, o.program, list)
		if err := write(o.beside, b.Bytes()); err != nil {
			return err
		}
		b.Reset()
	}
	switch {
	case o.header:
		header(&b, o.script, list)
	case o.tapset:
		tapset(&b, o.script, o.program, list)
	default:
		return object(o, list, env)
	}
	return write(o.output, b.Bytes())
}

// write writes a file that is never there by halves.
func write(name string, text []byte) error {
	if st, err := os.Stat(name); err == nil && !st.Mode().IsRegular() { // /dev/stdout
		return os.WriteFile(name, text, 0o644)
	}
	tmp, err := os.CreateTemp(filepath.Dir(name), ".gostap-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(text)
	if failed := tmp.Close(); err == nil {
		err = failed
	}
	if err == nil {
		err = os.Chmod(tmp.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		os.Remove(tmp.Name())
	}
	return err
}

// ran runs the compiler; its words are those of an error.
func ran(env []string, in []byte, args ...string) ([]byte, error) {
	cc, err := ccompiler.Find(env)
	if err != nil {
		return nil, slip.New("a C compiler is needed, and there is none", "install gcc or clang, or name it in CC")
	}
	cmd := exec.Command(cc[0], append(cc[1:len(cc):len(cc)], args...)...)
	cmd.Env, cmd.Stdin = env, bytes.NewReader(in)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, bytes.TrimSpace(errs.Bytes()))
	}
	return out.Bytes(), nil
}

func preprocessed(o *options, env []string) ([]byte, error) {
	args := []string{"-E", "-P", "-x", "c"}
	for _, d := range o.include {
		args = append(args, "-I", d)
	}
	for _, d := range o.define {
		args = append(args, "-D"+d)
	}
	return ran(env, nil, append(args, o.script)...)
}

// object has the semaphores compiled.
func object(o *options, list []provider, env []string) error {
	var b bytes.Buffer
	counters(&b, list)
	dir, err := os.MkdirTemp("", "gostap-dtrace-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	made := filepath.Join(dir, "a.o")
	if _, err := ran(env, b.Bytes(), "-x", "c", "-fPIC", "-g0", "-c", "-o", made, "-"); err != nil {
		return err
	}
	text, err := os.ReadFile(made)
	if err != nil {
		return err
	}
	return write(o.output, text)
}
