package patch

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/elffile"
)

// description is what a file says.
type description struct {
	file     string
	lines    []string
	programs []*program
	// script has, for each line of the file, what stands there in the script.
	out []string
}

// program is a file with functions that are changed.
type program struct {
	line      int // from 1, as all others
	path      string
	build     string
	buildLine int
	functions []*function

	elf   *elffile.File
	image debuginfo.Image
}

// function is a function that is changed, and what is expected of it.
type function struct {
	line                             int
	name                             string
	size                             uint64
	sha256, bytes                    []byte
	sizeLine, digestLine, inlineLine int
	inlined                          int
	changes                          []*change

	fn   *debuginfo.Func
	path string // of the program, with links resolved
}

// change is what happens at the entry or at the returns.
type change struct {
	line int
	what string // entry or return
	at   []place
}

// place is where a probe is.
type place struct {
	address, offset uint64
	first           byte // of the code there
}

// fault is a mistake at a place of the description.
type fault struct {
	file, source, text, hint string
	line, col                int
}

func (f *fault) Error() string { return fmt.Sprintf("%s:%d: %s", f.file, f.line, f.text) }

// fault makes one, at the first word of a line.
func (d *description) fault(line int, hint, format string, args ...any) error {
	s := strings.ReplaceAll(d.lines[line-1], "\t", " ")
	return &fault{d.file, s, fmt.Sprintf(format, args...), hint, line, len(s) - len(strings.TrimLeft(s, " ")) + 1}
}

var (
	named   = regexp.MustCompile(`^[^"\\\x00-\x1f\x7f]+$`) // what can stand between quotes
	comment = regexp.MustCompile(`(^|\s)#.*`)
)

// describe reads a description.
func describe(file, text string) (*description, error) {
	d := &description{file: file, lines: strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")}
	d.out = make([]string, len(d.lines))
	var p *program
	var f *function
	for i := 0; i < len(d.lines); i++ {
		n := i + 1
		indent := d.lines[i][:len(d.lines[i])-len(strings.TrimLeft(d.lines[i], " \t"))]
		line := strings.TrimSpace(d.lines[i])
		word, rest, _ := strings.Cut(line, " ")
		if rest = strings.TrimSpace(rest); word != "program" && word != "function" && word != "global" {
			rest = strings.TrimSpace(comment.ReplaceAllString(rest, ""))
		}
		switch {
		case line == "" || line[0] == '#':
			continue
		case word == "global":
			d.out[i] = d.lines[i]
			continue
		case word == "program":
			p, f = &program{line: n, path: rest}, nil
			d.programs = append(d.programs, p)
			if !named.MatchString(rest) {
				return nil, d.fault(n, "program /srv/shop", "%q is no path of a program", rest)
			}
			continue
		case p == nil:
			return nil, d.fault(n, "program PATH comes first", "this belongs to no program")
		case word == "build-id":
			if p.buildLine != 0 {
				return nil, d.fault(n, "", "the build id of %s is given already, in line %d", p.path, p.buildLine)
			}
			if p.build, p.buildLine = rest, n; rest == "" {
				return nil, d.fault(n, "gostap patch --new writes it", "the build id is missing")
			}
			continue
		case word == "function":
			f = &function{line: n, name: rest}
			p.functions = append(p.functions, f)
			if !named.MatchString(rest) {
				return nil, d.fault(n, "function main.charge", "%q is no name of a function", rest)
			}
			continue
		case f == nil:
			return nil, d.fault(n, "function NAME comes first", "this belongs to no function")
		}
		body := word == "entry" || word == "return"
		if !body {
			if err := d.expect(f, n, word, rest); err != nil {
				return nil, err
			}
			continue
		}
		if rest != "{" {
			return nil, d.fault(n, "what is done follows in lines of its own, then a line with } below this one",
				"%s is followed by { and the end of the line", word)
		}
		for _, c := range f.changes {
			if c.what == word {
				return nil, d.fault(n, "", "there is one for the %s of %s already, in line %d", word, f.name, c.line)
			}
		}
		f.changes = append(f.changes, &change{line: n, what: word})
		for i++; ; i++ {
			if i == len(d.lines) {
				return nil, d.fault(n, "let it end in a line with } that is indented as far as this one",
					"this %s has no end", word)
			}
			d.out[i] = d.lines[i]
			if strings.TrimRight(d.lines[i], " \t") == indent+"}" {
				break
			}
		}
	}
	return d, d.whole()
}

// expect reads what a function is expected to be.
func (d *description) expect(f *function, n int, word, rest string) error {
	var err error
	switch word {
	case "size":
		if f.size, err = strconv.ParseUint(rest, 10, 32); err != nil || f.size == 0 {
			return d.fault(n, "", "%q is no size in bytes", rest)
		}
		f.sizeLine = n
	case "inlined":
		if f.inlined, err = strconv.Atoi(rest); err != nil || f.inlined < 0 {
			return d.fault(n, "", "%q is no number of inlined copies", rest)
		}
		f.inlineLine = n
	case "sha256", "bytes":
		b, err := hex.DecodeString(strings.ReplaceAll(rest, " ", ""))
		if err != nil || len(b) == 0 || word == "sha256" && len(b) != 32 {
			return d.fault(n, "", "%q are no %s", rest, map[string]string{"sha256": "64 hexadecimal digits",
				"bytes": "bytes in hexadecimal"}[word])
		}
		if f.digestLine = n; word == "bytes" {
			f.bytes = b
		} else {
			f.sha256 = b
		}
	default:
		return d.fault(n, "size, sha256, bytes, inlined, entry and return are said of functions",
			"%q says nothing of a function", word)
	}
	return nil
}

// whole tells what is missing.
func (d *description) whole() error {
	if len(d.programs) == 0 {
		return d.fault(1, "gostap patch --new PROGRAM FUNCTION writes a description to begin with",
			"nothing is described here")
	}
	for _, p := range d.programs {
		switch {
		case p.buildLine == 0:
			return d.fault(p.line, "add build-id ID; gostap patch --new writes it",
				"the build id of %s is missing", p.path)
		case len(p.functions) == 0:
			return d.fault(p.line, "", "nothing is changed in %s", p.path)
		}
		for _, f := range p.functions {
			switch {
			case f.sizeLine == 0:
				return d.fault(f.line, "add size N; gostap patch --new writes it", "the size of %s is missing", f.name)
			case f.digestLine == 0:
				return d.fault(f.line, "add sha256 DIGEST or bytes ...; gostap patch --new writes it",
					"what the code of %s is expected to be is missing", f.name)
			case len(f.changes) == 0:
				return d.fault(f.line, "add entry { } or return { }", "nothing is changed in %s", f.name)
			}
		}
	}
	return nil
}
