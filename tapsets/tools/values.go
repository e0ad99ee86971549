package tools

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gostap/gostap/compiler/lateregexp"
)

// Kind is what values an option takes.
type Kind uint8

// The kinds. Those from Program on are for macros: a script writes @program.function(@function).
const (
	Flag     Kind = iota // no value
	Number               // N
	Time                 // TIME: 5ms, 2s, or a number of seconds; nanoseconds for the script
	Size                 // SIZE: 4k, 1M, or a number of bytes
	PID                  // PID: of a process
	Text                 // TEXT, NAME
	Choice               // a|b: one of these words
	Program              // PROGRAM, LIBRARY: a file with code; process or process("file") for the script
	Function             // FUNCTION: the name of a function, or a pattern
	Point                // POINT: a probe point
)

var kinds = map[string]Kind{"": Flag, "N": Number, "TIME": Time, "SIZE": Size, "PID": PID, "TEXT": Text, "NAME": Text,
	"PROGRAM": Program, "LIBRARY": Program, "FUNCTION": Function, "POINT": Point}

// Takes says what values of a kind look like, "" where the word for it says all.
func (k Kind) Takes() string {
	switch k {
	case Number:
		return "a number"
	case Time:
		return "a time such as 500us, 5ms or 2s, or a number of seconds"
	case Size:
		return "a number of bytes, or one of 4k, 1M, 2G"
	case PID:
		return "the number of a process"
	case Program:
		return "a program or library"
	case Function:
		return "a function, or a pattern with *"
	case Point:
		return "a function, k:FUNCTION of the kernel, FILE:FUNCTION, a tracepoint t:sched:sched_switch, or a " +
			"probe point such as syscall.read"
	}
	return "a text"
}

// setKind finds the kind by the word for the value and holds the literal against it.
func (o *Option) setKind() error {
	k, ok := kinds[o.Place]
	if strings.Contains(o.Place, "|") {
		k, ok = Choice, true
	}
	if !ok {
		return fmt.Errorf("%s is no kind of value", o.Place)
	}
	o.Kind = k
	isText := strings.HasPrefix(o.Default, `"`)
	_, err := strconv.ParseInt(o.Default, 0, 64)
	switch k {
	case Flag:
		ok = o.Default == "0"
	case Number, Time, Size, PID:
		ok = err == nil
	case Text, Choice, Function:
		ok = isText
	case Program, Point:
		ok = o.macro != ""
	}
	if !ok {
		return fmt.Errorf("%s: %s is no value of this kind", o, o.Default)
	}
	return nil
}

// Shown is the value that holds if the option is not given, as it is typed; "" if that is nothing, or off.
func (o *Option) Shown() string {
	n, _ := strconv.ParseInt(o.Default, 0, 64)
	switch o.Kind {
	case Flag:
		return ""
	case Time:
		if n == 0 {
			return ""
		}
		return time.Duration(n).String()
	case Size:
		for i, unit := range []string{"G", "M", "k"} {
			if shift := 30 - 10*i; n != 0 && n%(1<<shift) == 0 {
				return strconv.FormatInt(n>>shift, 10) + unit
			}
		}
	case Program:
		if o.Default == "process" {
			return ""
		}
		return strings.TrimSuffix(strings.TrimPrefix(o.Default, `process("`), `")`)
	case Point:
		return o.Default
	}
	if s, err := strconv.Unquote(o.Default); err == nil {
		return s
	}
	if o.Default == "0" {
		return ""
	}
	return o.Default
}

// ValueError is a value that an option does not take.
type ValueError struct {
	Option *Option
	Value  string
}

func (e *ValueError) Error() string {
	name := e.Option.Place
	if e.Option.Name != "" {
		name = "--" + e.Option.Name
	}
	if e.Option.Kind == Choice {
		words := strings.Split(e.Option.Place, "|")
		return fmt.Sprintf("%s takes %s or %s, not %q", name, strings.Join(words[:len(words)-1], ", "),
			words[len(words)-1], e.Value)
	}
	return fmt.Sprintf("%s takes %s, not %q", name, e.Option.Kind.Takes(), e.Value)
}

var (
	size  = lateregexp.New(`^(\d{1,12})([kKmMgG]?)[bB]?$`)
	plain = lateregexp.New(`^[^\s"\\()]+$`)
	trace = lateregexp.New(`^t(?:racepoint)?:([^:\s"\\()]+:[^:\s"\\()]+)$`)
)

// Set gives the value as the script has it: digits, text without quotes for globals, or a literal for macros. targeted
// says that there is a process of -x or -c, whose functions a POINT without a file means.
func (o *Option) Set(v string, targeted bool) (string, error) {
	bad := &ValueError{o, v}
	switch o.Kind {
	case Flag:
		return "1", nil
	case Number, PID:
		n, err := strconv.ParseInt(v, 0, 64)
		if err != nil || o.Kind == PID && n <= 0 {
			return "", bad
		}
		return strconv.FormatInt(n, 10), nil
	case Time:
		d, err := time.ParseDuration(v)
		if f, e := strconv.ParseFloat(v, 64); e == nil && f >= 0 && f < 1e9 {
			d, err = time.Duration(f*1e9), nil
		}
		if err != nil || d < 0 {
			return "", bad
		}
		return strconv.FormatInt(int64(d), 10), nil
	case Size:
		m := size().FindStringSubmatch(v)
		if m == nil {
			return "", bad
		}
		n, _ := strconv.ParseInt(m[1], 10, 64)
		n <<= map[string]int{"": 0, "k": 10, "m": 20, "g": 30}[strings.ToLower(m[2])]
		return strconv.FormatInt(n, 10), nil
	case Choice:
		if !slices.Contains(strings.Split(o.Place, "|"), v) {
			return "", bad
		}
	case Program:
		if v == "" || strings.ContainsAny(v, "\x00\n") {
			return "", bad
		}
		return "process(" + quote(v) + ")", nil
	case Function:
		if v == "" || strings.ContainsAny(v, "\x00\n") {
			return "", bad
		}
	case Point:
		return point(v, targeted, bad)
	}
	if strings.ContainsRune(v, 0) {
		return "", bad
	}
	if o.macro != "" {
		return quote(v), nil
	}
	return v, nil
}

// point makes a probe point of what is quick to type.
func point(v string, targeted bool, bad error) (string, error) {
	if m := trace().FindStringSubmatch(v); m != nil {
		return "kernel.trace(" + quote(m[1]) + ")", nil
	}
	if k, ok := strings.CutPrefix(v, "k:"); ok && plain().MatchString(k) {
		return "kernel.function(" + quote(k) + ")", nil
	}
	file, function, inFile := cutLast(v)
	switch {
	case strings.TrimSpace(v) == "" || strings.ContainsAny(v, "\x00\n{}"):
		return "", bad
	case strings.HasSuffix(v, ")") && strings.Contains(v, `("`) || strings.ContainsAny(v, " \t,"):
		return v, nil
	case begins(v, "syscall.", "nd_syscall.", "kernel.", "process.", "module.", "timer.", "go.", "perf."):
		return v, nil
	case inFile && file != "" && plain().MatchString(function):
		return "process(" + quote(file) + ").function(" + quote(function) + ")", nil
	case targeted:
		return "process.function(" + quote(v) + ")", nil
	case plain().MatchString(v):
		return "kernel.function(" + quote(v) + ")", nil
	}
	return "", bad
}

// cutLast parts FILE:FUNCTION at the last colon that is no scope of C++ (a::b).
func cutLast(v string) (file, function string, ok bool) {
	for i := len(v) - 1; i > 0; i-- {
		if v[i] != ':' {
			continue
		}
		if v[i-1] == ':' {
			i--
			continue
		}
		return v[:i], v[i+1:], true
	}
	return "", v, false
}

func begins(v string, with ...string) bool {
	return slices.ContainsFunc(with, func(p string) bool { return strings.HasPrefix(v, p) })
}

// quote writes a string literal of the script language, which has its escapes from C.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// With gives the script with values, as Set gives them, by the options' places in Options: those of macros stand in
// the text, those of globals are first values of these.
func (t *Tool) With(values map[int]string) (text string, globals map[string]string) {
	globals = map[string]string{}
	type change struct {
		start, end int
		to         string
	}
	var changes []change
	for i, v := range values {
		if o := &t.Options[i]; o.macro != "" {
			changes = append(changes, change{o.start, o.end, v})
		} else {
			globals[o.global] = v
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return b.start - a.start })
	text = t.Source
	for _, c := range changes {
		text = text[:c.start] + c.to + text[c.end:]
	}
	return text, globals
}
