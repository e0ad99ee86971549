package text

import "bytes"

// MostLine is the length in bytes at which a line that does not end is printed in pieces.
const MostLine = 1 << 20

// Named appends whole lines to out, each with a name in front. left is what has no end of line so far, which what comes
// next is appended to.
func Named(out, lines []byte, name string) (_, left []byte) {
	for {
		i := bytes.IndexByte(lines, '\n')
		if i < 0 && len(lines) < MostLine {
			return out, lines
		}
		if i < 0 {
			i = len(lines) - 1
		}
		out = append(append(append(out, name...), ": "...), lines[:i+1]...)
		if lines[i] != '\n' {
			out = append(out, '\n')
		}
		lines = lines[i+1:]
	}
}
