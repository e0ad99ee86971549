package layout

// PutString writes v into b, where a string of the language lies: at most max bytes of it and as many as leave room for
// a NUL, and zeros behind them to the end of b.
func PutString(b []byte, v string, max int) {
	n := copy(b[:len(b)-1], v[:min(len(v), max)])
	clear(b[n:])
}
