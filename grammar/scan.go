package grammar

// scanKind sorts tokens as far as Index needs it.
type scanKind uint8

const (
	scanEnd scanKind = iota
	scanWord
	scanAt     // @name
	scanOther  // numbers, variables, operators
	scanString // a string
	scanEmbedded
)

// scanner tells tokens apart by hand. It knows less than the lexer of the grammar
// (-> and += are the only operators it joins), but the same strings, comments,
// embedded code and preprocessor marks.
type scanner struct {
	s      string
	i      int    // behind the current token
	at     int    // where it begins
	tok    string // its text
	kind   scanKind
	prev   string // text of the token before
	end    int    // where the last declaration ended
	broken bool   // a string, comment or embedded code has no end
}

// next reads a token; false at the end of the text.
func (x *scanner) next() bool {
	x.prev = x.tok
	x.kind, x.at, x.i = x.scan(x.i)
	x.tok = x.s[x.at:x.i]
	return x.kind != scanEnd
}

// peek is the text of the next token, "" at the end.
func (x *scanner) peek() string {
	_, at, i := x.scan(x.i)
	return x.s[at:i]
}

// take reads a token that belongs to the declaration.
func (x *scanner) take() {
	x.next()
	x.end = x.i
}

func (x *scanner) scan(i int) (kind scanKind, at, end int) {
	s := x.s
	for i < len(s) {
		switch c := s[i]; {
		case c == ' ' || '\t' <= c && c <= '\r':
			i++
			continue
		case c == '#' || c == '/' && i+1 < len(s) && s[i+1] == '/':
			for i < len(s) && s[i] != '\n' {
				i++
			}
			continue
		case c == '/' && i+1 < len(s) && s[i+1] == '*':
			j := i + 2
			for j+1 < len(s) && (s[j] != '*' || s[j+1] != '/') {
				j++
			}
			if j+1 >= len(s) {
				x.broken = true
				return scanEnd, len(s), len(s)
			}
			i = j + 2
			continue
		}
		break
	}
	if i >= len(s) {
		return scanEnd, len(s), len(s)
	}
	at, end = i, i+1
	switch c := s[i]; {
	case wordStart(c):
		return scanWord, at, wordEnd(s, end)
	case c == '@':
		if end = wordEnd(s, end); end < len(s) && end == at+1 && s[end] == '#' {
			end++
		}
		if end > at+1 && s[at+1] > '9' {
			return scanAt, at, end
		}
		return scanOther, at, end
	case c == '$':
		if end = wordEnd(s, end); end < len(s) && end == at+1 && s[end] == '#' {
			end++
		}
		return scanOther, at, end
	case '0' <= c && c <= '9':
		return scanOther, at, wordEnd(s, end)
	case c == '"':
		for end < len(s) && s[end] != '"' && s[end] != '\n' {
			if s[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(s) || s[end] != '"' {
			x.broken = true
			return scanEnd, len(s), len(s)
		}
		return scanString, at, end + 1
	case c == '%' && end < len(s):
		switch s[end] {
		case '{':
			for end++; end+1 < len(s); end++ {
				if s[end] == '%' && s[end+1] == '}' {
					return scanEmbedded, at, end + 2
				}
			}
			x.broken = true
			return scanEnd, len(s), len(s)
		case '(', '?', ':', ')':
			end++
		}
	case end < len(s) && (c == '-' && s[end] == '>' || c == '+' && s[end] == '='):
		end++
	}
	return scanOther, at, end
}

func wordStart(c byte) bool { return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func wordEnd(s string, i int) int {
	for i < len(s) && (wordStart(s[i]) || '0' <= s[i] && s[i] <= '9' || s[i] == '$') {
		i++
	}
	return i
}
