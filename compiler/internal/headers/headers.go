// Package headers gives the types of C header files, by the compiler that is installed.
//
// In: headers as a script names them, "<sys/un.h>" or several of them, and a folder in which what was made is kept from
// one run to the next. Out: the path of an ELF file whose debug information describes all types of the headers. The
// compiler is run again when it, a header or one that those include has changed.
package headers

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/compiler/cachefile"
	"github.com/gostap/gostap/compiler/ccompiler"
	"github.com/gostap/gostap/compiler/trusted"
)

// find finds a compiler for this machine, whose layouts are wanted.
var find = func() ([]string, error) { return ccompiler.Find(nil) }

// environment are the variables by which compilers find headers.
var environment = []string{"PATH", "CPATH", "C_INCLUDE_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX"}

const (
	maxSpec = 4096
	maxDeps = 1 << 20 // bytes of the list of headers that were read
)

// Error says why there are no types: Text is one line, Hint what to do.
type Error struct{ Text, Hint string }

func (e *Error) Error() string { return e.Text }

// Parse takes the names apart: "<sys/un.h>", "<a.h><b.h>".
func Parse(spec string) (names []string, err error) {
	bad := &Error{fmt.Sprintf("%q names no headers", spec), `it is "<sys/un.h>", or several: "<sys/socket.h><sys/un.h>"`}
	if len(spec) > maxSpec {
		return nil, bad
	}
	for rest := strings.TrimSpace(spec); rest != ""; rest = strings.TrimSpace(rest) {
		name, after, ok := strings.Cut(strings.TrimPrefix(rest, "<"), ">")
		if !ok || rest[0] != '<' || name == "" || strings.ContainsAny(name, "<\"\n\r\\\x00") {
			return nil, bad
		}
		names, rest = append(names, name), after
	}
	if len(names) == 0 {
		return nil, bad
	}
	return names, nil
}

// Types gives the file with the types of the headers. With a folder "" it lies in a temporary one, which remove takes
// away; it may do so once the file is open.
func Types(spec, folder string) (path string, remove func(), err error) {
	names, err := Parse(spec)
	if err != nil {
		return "", nil, err
	}
	found, err := find()
	if err != nil {
		return "", nil, &Error{"the types of headers need a C compiler, and there is none",
			"install gcc or clang, or name a program that was built with the header in place of it"}
	}
	cc := found[0]
	key := sha256.New()
	fmt.Fprintf(key, "%s\n%s", stamp(cc), strings.Join(names, "\n"))
	for _, v := range environment {
		fmt.Fprintf(key, "\n%s=%s", v, os.Getenv(v))
	}
	kept := filepath.Join(folder, "headers-"+hex.EncodeToString(key.Sum(nil)[:12]))
	if folder != "" && fresh(kept) {
		return kept + ".so", func() {}, nil
	}
	dir, err := os.MkdirTemp("", "gostap-headers-")
	if err != nil {
		return "", nil, err
	}
	remove = func() { os.RemoveAll(dir) }
	if err := compile(cc, names, dir); err != nil {
		remove()
		return "", nil, err
	}
	path = filepath.Join(dir, "types.so")
	if folder == "" || keep(dir, kept) != nil {
		return path, remove, nil
	}
	remove()
	return kept + ".so", func() {}, nil
}

// compile makes types.so, and deps, the list of the headers that were read in the form of a makefile.
func compile(cc string, names []string, dir string) error {
	var text strings.Builder
	text.WriteString("#define _GNU_SOURCE 1\n")
	for _, n := range names {
		fmt.Fprintf(&text, "#include <%s>\n", n)
	}
	args := []string{"-x", "c", "-g", "-O0", "-fPIC", "-shared", "-nostdlib", "-w", "-fno-eliminate-unused-debug-types",
		"-MD", "-MT", "x", "-MF", "deps", "-o", "types.so", "-"}
	if real, err := filepath.EvalSymlinks(cc); err == nil && strings.Contains(filepath.Base(real), "clang") {
		args = append([]string{"-fstandalone-debug"}, args...)
	}
	cmd := exec.Command(cc, args...)
	cmd.Dir, cmd.Stdin, cmd.Env = dir, strings.NewReader(text.String()), append(os.Environ(), "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &failed):
		return err
	}
	return &Error{fmt.Sprintf("%s refuses the headers: %s", filepath.Base(cc), firstError(out)),
		"install the package that has the header, or include first what it needs: \"<sys/types.h><x.h>\""}
}

// firstError is what a compiler says first.
func firstError(out []byte) string {
	first := ""
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if _, text, ok := strings.Cut(line, "error: "); ok {
			return text
		}
		first = cmp.Or(first, line)
	}
	return cmp.Or(first, "it does not say why")
}

// keep puts what was made where the next run finds it: the file, and what it depends on, which is written last.
func keep(dir, kept string) error {
	deps, err := os.ReadFile(filepath.Join(dir, "deps"))
	if err != nil {
		return err
	}
	var list bytes.Buffer
	for _, f := range dependencies(string(deps)) {
		fmt.Fprintf(&list, "%s\n", stamp(f))
	}
	lib, err := os.ReadFile(filepath.Join(dir, "types.so"))
	if err != nil {
		return err
	}
	if err := cachefile.Write(kept+".so", lib); err != nil {
		return err
	}
	fmt.Fprintf(&list, "%s\n", stamp(kept+".so"))
	return cachefile.Write(kept+".deps", list.Bytes())
}

// fresh reports whether there is something that was kept, and all that it depends on is as it was.
func fresh(kept string) bool {
	list, err := trusted.ReadFile(kept+".deps", maxDeps)
	if err != nil || len(list) == 0 || trusted.Check(kept+".so") != nil {
		return false
	}
	own := false
	for line := range strings.Lines(string(list)) {
		line = strings.TrimSuffix(line, "\n")
		_, name, ok := strings.Cut(line, " ")
		if !ok || stamp(name) != line {
			return false
		}
		own = name == kept+".so"
	}
	return own
}

// stamp is what tells versions of a file apart, and its name.
func stamp(path string) string {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return "- " + path
	}
	return fmt.Sprintf("%d.%d.%d.%d %s", st.Ino, st.Size, st.Mtim.Nano(), st.Ctim.Nano(), path)
}

// dependencies are the files that a rule of a makefile names behind its colon.
func dependencies(rule string) (files []string) {
	_, rule, _ = strings.Cut(rule, ":")
	var f strings.Builder
	end := func() {
		if f.Len() > 0 && f.String() != "-" {
			files = append(files, f.String())
		}
		f.Reset()
	}
	for i := 0; i < len(rule); i++ {
		switch c := rule[i]; {
		case c == '\\' && i+1 < len(rule) && rule[i+1] == '\n':
			end()
			i++
		case c == '\\' && i+1 < len(rule) && strings.IndexByte(" \\#:", rule[i+1]) >= 0,
			c == '$' && i+1 < len(rule) && rule[i+1] == '$':
			i++
			f.WriteByte(rule[i])
		case c == ' ' || c == '\n' || c == '\t':
			end()
		default:
			f.WriteByte(c)
		}
	}
	end()
	return files
}
