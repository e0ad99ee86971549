package prompt

import (
	"slices"
	"unicode"
)

// line is a line that is edited.
type line struct {
	text   []rune
	pos    int // of the cursor
	killed []rune
	recall []string
	back   int    // how far back in recall, 0 for the line itself
	own    []rune // that line, while another one is shown
}

// insert puts text in at the cursor.
func (l *line) insert(s string) {
	if len(l.text) >= maxLine {
		return
	}
	r := []rune(s)
	l.text = slices.Insert(l.text, l.pos, r...)
	l.pos += len(r)
}

func (l *line) end() { l.pos = len(l.text) }

// kill takes out what is between two places, to be put in again by ^y.
func (l *line) kill(from, to int) {
	if from < to {
		l.killed = slices.Clone(l.text[from:to])
		l.text = slices.Delete(l.text, from, to)
		l.pos = from
	}
}

// word is where the word before or behind the cursor ends.
func (l *line) word(step int) int {
	p, in := l.pos, false
	for {
		next := p
		if step < 0 {
			next--
		}
		if next < 0 || next >= len(l.text) {
			return p
		}
		r := l.text[next]
		is := unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_'
		if in && !is {
			return p
		}
		in = in || is
		p += step
	}
}

// blank is where the word before the cursor begins, by blanks.
func (l *line) blank() int {
	p := l.pos
	for p > 0 && l.text[p-1] == ' ' {
		p--
	}
	for p > 0 && l.text[p-1] != ' ' {
		p--
	}
	return p
}

// turn shows another line of those recalled.
func (l *line) turn(by int) {
	to := l.back + by
	if to < 0 || to > len(l.recall) {
		return
	}
	if l.back == 0 {
		l.own = slices.Clone(l.text)
	}
	if l.back = to; to == 0 {
		l.text = l.own
	} else {
		l.text = []rune(l.recall[len(l.recall)-to])
	}
	l.end()
}

// key does what a key is for.
func (l *line) key(k string) {
	switch k {
	case "left", "^b":
		l.pos = max(l.pos-1, 0)
	case "right", "^f":
		l.pos = min(l.pos+1, len(l.text))
	case "home", "^a":
		l.pos = 0
	case "end", "^e":
		l.end()
	case "up", "^p":
		l.turn(1)
	case "down", "^n":
		l.turn(-1)
	case "backspace":
		if l.pos > 0 {
			l.pos--
			l.text = slices.Delete(l.text, l.pos, l.pos+1)
		}
	case "delete":
		if l.pos < len(l.text) {
			l.text = slices.Delete(l.text, l.pos, l.pos+1)
		}
	case "^k":
		l.kill(l.pos, len(l.text))
	case "^u":
		l.kill(0, l.pos)
	case "^w":
		l.kill(l.blank(), l.pos)
	case "word backspace":
		l.kill(l.word(-1), l.pos)
	case "word delete":
		l.kill(l.pos, l.word(1))
	case "^y":
		l.insert(string(l.killed))
	case "word left":
		l.pos = l.word(-1)
	case "word right":
		l.pos = l.word(1)
	default:
		if r := []rune(k); len(r) == 1 && unicode.IsPrint(r[0]) {
			l.insert(k)
		}
	}
}
