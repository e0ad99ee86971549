// Package kept is what stays of a session of gostap that runs for somebody else: the end of what it prints, and what
// its messages come to.
//
// In: bytes, messages. Out: a text of bounded length with the length of the whole; how much the messages say is lost,
// and whether they refuse a script or tell of its end by an error.
package kept

import "strings"

// Tail keeps the end of a text, or with First its beginning.
type Tail struct {
	// Most is how many bytes.
	Most  int
	First bool

	b     []byte
	total int64
}

// Write adds to it. It never fails.
func (t *Tail) Write(b []byte) (int, error) {
	t.total += int64(len(b))
	if t.First {
		t.b = append(t.b, b[:min(len(b), t.Most-len(t.b))]...)
		return len(b), nil
	}
	if len(b) >= t.Most {
		t.b = append(t.b[:0], b[len(b)-t.Most:]...)
		return len(b), nil
	}
	t.b = append(t.b, b...)
	// It is moved when it is twice as long, so that a byte is copied once or twice.
	if len(t.b) > 2*t.Most {
		t.b = append(t.b[:0], t.b[len(t.b)-t.Most:]...)
	}
	return len(b), nil
}

// Text is what was kept, as UTF-8: a byte that is none of it is U+FFFD. total is where it
// ends; left is how many bytes before it are not there, or with First how many behind it.
func (t *Tail) Text() (text string, total, left int64) {
	total, left = t.Size()
	return strings.ToValidUTF8(string(t.kept()), "\uFFFD"), total, left
}

// Size is total and left of Text, without the text, of which that makes a copy.
func (t *Tail) Size() (total, left int64) {
	n := int64(len(t.kept()))
	if t.First {
		return n, t.total - n
	}
	return t.total, t.total - n
}

func (t *Tail) kept() []byte {
	if t.First {
		return t.b
	}
	return t.b[max(0, len(t.b)-t.Most):]
}
