package completion

import "strings"

// token is a word of a command line.
type token struct {
	text  string // without quotes and backslashes
	quote byte   // the quote that it ends in, 0 for none
	// from is where the text begins that a shell replaces: in an open quote behind that, else behind the last of the
	// characters at which bash breaks words.
	from int
}

// breaks are where bash begins a new word within what the other shells take for one.
const breaks = `=:`

// split takes a command line apart as a shell does. The last token is the one that goes on at the end of the line; it
// is empty behind a blank. A comment, ;, | and & begin a new command.
func split(line string) []token {
	var out []token
	var b strings.Builder
	t, open := token{}, false
	end := func() {
		if open {
			t.text = b.String()
			out = append(out, t)
		}
		b.Reset()
		t, open = token{}, false
	}
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case t.quote == '\'' && c != '\'', t.quote == '"' && c != '"' && c != '\\':
			b.WriteByte(c)
		case t.quote != 0 && c == t.quote:
			t.quote = 0
		case c == '\\':
			open = true
			if i++; i < len(line) {
				if t.quote == '"' && !strings.ContainsRune("\"\\$`", rune(line[i])) {
					b.WriteByte('\\')
				}
				b.WriteByte(line[i])
			}
		case c == '\'' || c == '"':
			open, t.quote, t.from = true, c, b.Len()
		case c == ' ' || c == '\t' || c == '\n':
			end()
		case c == ';' || c == '|' || c == '&':
			end()
			out = nil
		default:
			open = true
			b.WriteByte(c)
			if strings.IndexByte(breaks, c) >= 0 {
				t.from = b.Len()
			}
		}
	}
	open = true
	end()
	return out
}
