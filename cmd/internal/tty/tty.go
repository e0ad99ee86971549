// Package tty asks terminals what they are and changes how they read.
//
// In: a stream. Out: whether it is a terminal, its size; the way back to how it was.
package tty

import (
	"os"

	"golang.org/x/sys/unix"
)

// Is reports whether a stream is a terminal.
func Is(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// Size gives columns and rows of the terminal that a stream is, 0 where they are not known.
func Size(stream any) (columns, rows int) {
	f, ok := stream.(*os.File)
	if !ok {
		return 0, 0
	}
	s, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0
	}
	return int(s.Col), int(s.Row)
}

// Raw has a terminal give keys one by one without printing them, and without the given input and local flags of
// termios(3). back undoes that.
func Raw(f *os.File, input, local uint32) (back func(), err error) {
	before, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	if err != nil {
		return nil, err
	}
	raw := *before
	raw.Iflag &^= input
	raw.Lflag &^= unix.ICANON | unix.ECHO | local
	raw.Cc[unix.VMIN], raw.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(int(f.Fd()), unix.TCSETS, &raw); err != nil {
		return nil, err
	}
	return func() { unix.IoctlSetTermios(int(f.Fd()), unix.TCSETS, before) }, nil
}
