package patch

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/elffile"
	"github.com/gostap/gostap/compiler/debuginfo/open"
	"github.com/gostap/gostap/compiler/foreign"
)

// opened opens a program.
func opened(path string) (*elffile.File, debuginfo.Image, error) {
	f, err := elffile.Open(path)
	if err != nil {
		return nil, nil, err
	}
	im, err := open.New(f)
	return f, im, err
}

func (d *description) close() {
	for _, p := range d.programs {
		if p.image != nil {
			p.image.Close()
		}
	}
}

// verify holds the programs against what is expected of them.
func (d *description) verify() error {
	for _, p := range d.programs {
		var err error
		if p.elf, p.image, err = opened(p.path); err != nil {
			p.image = nil
			return d.fault(p.line, "", "%v", err)
		}
		if id := p.image.BuildID(); id != p.build {
			if id == "" {
				id = "none"
			}
			return d.fault(p.buildLine, "gostap patch --new describes the program that is there now",
				"%s has another build id: %s", p.path, id)
		}
		for _, f := range p.functions {
			if err := d.function(p, f); err != nil {
				return err
			}
		}
	}
	return d.same()
}

// function holds a function against what is expected of it.
func (d *description) function(p *program, f *function) error {
	fn, copies, err := found(p.image, f.name)
	if err != nil {
		var s *slip.Error
		if errors.As(err, &s) {
			return d.fault(f.line, s.Hint, "%s", s.Text)
		}
		return d.fault(f.line, "", "%v", err)
	}
	f.fn, f.path = fn, p.image.Path()
	if size := fn.End - fn.Entry; size != f.size {
		return d.fault(f.sizeLine, "", "%s in %s has %d bytes", f.name, p.path, size)
	}
	if copies != f.inlined {
		line := f.inlineLine
		if line == 0 {
			line = f.line
		}
		return d.fault(line, fmt.Sprintf("inlined %d says that this is known", copies),
			"%s in %s is inlined at %d places, which are not changed", f.name, p.path, copies)
	}
	code, err := code(p.elf, fn)
	if err != nil {
		return d.fault(f.line, "", "%v", err)
	}
	if sum := sha256.Sum256(code); f.sha256 != nil && !bytes.Equal(sum[:], f.sha256) {
		return d.fault(f.digestLine, "", "the code of %s in %s is not as described: sha256 %x", f.name, p.path, sum)
	}
	if !bytes.HasPrefix(code, f.bytes) {
		return d.fault(f.digestLine, "", "the code of %s in %s is not as described: it begins with % x", f.name, p.path,
			code[:min(len(code), len(f.bytes))])
	}
	return nil
}

// code is that of a function, as the file has it.
func code(f *elffile.File, fn *debuginfo.Func) (b []byte, err error) {
	defer foreign.Guard(&err)()
	if fn.End <= fn.Entry || fn.End-fn.Entry > 1<<26 {
		return nil, fmt.Errorf("how long %s is, is not known", fn.Name)
	}
	b, err = f.Bytes(fn.Entry, int(fn.End-fn.Entry))
	if err == nil && uint64(len(b)) != fn.End-fn.Entry {
		err = fmt.Errorf("the code of %s is not all in the file", fn.Name)
	}
	return bytes.Clone(b), err
}

// found finds a function by its name, NAME@FILE or NAME@FILE:LINE, and says how many inlined copies it has.
func found(im debuginfo.Image, name string) (*debuginfo.Func, int, error) {
	only, at, _ := strings.Cut(name, "@")
	file, number, _ := strings.Cut(at, ":")
	line, err := strconv.Atoi(number)
	if number != "" && err != nil {
		return nil, 0, slip.New(fmt.Sprintf("%q is no line of a file", number), "")
	}
	meant := func(f *debuginfo.Func) bool {
		return f.Name == only && (file == "" || f.File == file || strings.HasSuffix(f.File, "/"+file)) &&
			(number == "" || f.Line == line)
	}
	nowhere := func(near []string) error {
		return slip.New(fmt.Sprintf("no function %q in %s", name, im.Path()), slip.Offer(near))
	}
	var none *debuginfo.NotFoundError
	all, err := im.Funcs(only)
	if errors.As(err, &none) {
		return nil, 0, nowhere(none.Near)
	} else if err != nil {
		return nil, 0, err
	}
	var fs []*debuginfo.Func
	for _, f := range all {
		if meant(f) {
			fs = append(fs, f)
		}
	}
	if len(fs) == 0 {
		return nil, 0, nowhere(im.NearNames(only))
	}
	if len(fs) > 1 {
		return nil, 0, slip.New(fmt.Sprintf("%d functions in %s are named %s", len(fs), im.Path(), name),
			fmt.Sprintf("%s@%s:%d is one of them", only, filepath.Base(fs[0].File), fs[0].Line))
	}
	if fs[0].Twins != "" {
		return nil, 0, slip.New(fmt.Sprintf("the code of %s is that of %s, too", name, fs[0].Twins), "")
	}
	inlined, err := im.Inlined(only) // of all that are named so
	if err != nil && (!errors.As(err, &none) || none.What != "inlined function") {
		return nil, 0, err
	}
	n := 0
	for _, c := range inlined {
		if c.Func == nil || c.Func.Name == only {
			n++
		}
	}
	return fs[0], n, nil
}

// same tells whether the programs are the files that were looked at.
func (d *description) same() error {
	for _, p := range d.programs {
		if err := p.elf.Changed(); err != nil {
			return d.fault(p.line, "", "%s was written to meanwhile", p.path)
		}
		var st unix.Stat_t
		if err := unix.Stat(p.image.Path(), &st); err != nil {
			return d.fault(p.line, "", "%s is not there any more: %v", p.path, err)
		}
		if debuginfo.IDOf(&st) != p.elf.FileID() {
			return d.fault(p.line, "run the command again", "%s was replaced meanwhile", p.path)
		}
	}
	return nil
}

// place takes where the probes are going to be. All of them have to be in the code that was looked at.
func (d *description) place(places []gostap.Place) error {
	for _, at := range places {
		inside := false
		for _, p := range d.programs {
			for _, f := range p.functions {
				if at.Kernel || at.File != f.path || at.Address < f.fn.Entry || at.Address >= f.fn.End {
					continue
				}
				inside = true
				for _, c := range f.changes {
					if strings.HasSuffix(at.Point, ".return") != (c.what == "return") {
						continue
					}
					if err := c.add(p, at.Address); err != nil {
						return d.fault(c.line, "", "%v", err)
					}
				}
			}
		}
		if !inside {
			return d.fault(d.programs[0].line, "",
				"%s would be put to %#x in %s, which is in no function that is described", at.Point, at.Address,
				at.File)
		}
	}
	for _, p := range d.programs {
		for _, f := range p.functions {
			for _, c := range f.changes {
				if len(c.at) == 0 {
					return d.fault(c.line, "", "%s of %s has no place in the code", c.what, f.name)
				}
			}
		}
	}
	return nil
}

// add notes a place, once.
func (c *change) add(p *program, address uint64) (err error) {
	defer foreign.Guard(&err)()
	for _, at := range c.at {
		if at.address == address {
			return nil
		}
	}
	off, err := p.elf.FileOffset(address)
	if err != nil {
		return err
	}
	b, err := p.elf.Bytes(address, 1)
	if err != nil {
		return err
	}
	c.at = append(c.at, place{address, off, b[0]})
	return nil
}

// tell says what would be changed, and where.
func (d *description) tell(w io.Writer) {
	for _, p := range d.programs {
		fmt.Fprintf(w, "%s, build id %s\n", p.path, p.build)
		for _, f := range p.functions {
			fmt.Fprintf(w, "  %s at %#x, %d bytes, is as described\n", f.name, f.fn.Entry, f.size)
			for _, c := range f.changes {
				fmt.Fprintf(w, "    %s, line %d, would be changed at", c.what, c.line)
				for _, at := range c.at {
					fmt.Fprintf(w, " %#x", at.address)
				}
				fmt.Fprintln(w)
			}
		}
	}
}

// inPlace says what was changed.
func (d *description) inPlace(w io.Writer) {
	for _, p := range d.programs {
		n := 0
		for _, f := range p.functions {
			for _, c := range f.changes {
				n += len(c.at)
			}
		}
		fmt.Fprintf(w, "%s is changed, probes: %d\n", p.path, n)
	}
}
