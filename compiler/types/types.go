// Package types holds the types of the script language (long, string, stats) and
// the types of traced programs (Ctype), as far as the compiler needs them.
package types

// Type is a type of the script language.
type Type uint8

// The script types.
const (
	Unknown Type = iota
	Long         // signed 64 bit, wraps
	String       // bytes without NUL, at most MAXSTRINGLEN-1 of them
	Stats        // an aggregate; globals only
	Stack        // a stack of addresses, known by a number; sema makes Longs of them (elab.Info.Stacks)
	Real         // a number with a fraction, IEEE 754 binary64; sema makes Longs with its bits (elab.Info.Floats)
)

func (t Type) String() string {
	switch t {
	case Long:
		return "long"
	case String:
		return "string"
	case Stats:
		return "stats"
	case Stack:
		return "stack"
	case Real:
		return "float"
	}
	return "unknown"
}
