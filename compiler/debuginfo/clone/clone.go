// Package clone knows the symbols of the copies and parts that optimising compilers make of functions.
//
// In: a symbol. Out: the function of the source that it comes from, and what it is of it.
package clone

import "strings"

// Of is the name of the source function that a symbol of an optimised copy comes
// from: "f" for "f.isra.0". cold says that it is only the unlikely part of the code.
func Of(symbol string) (name, suffix string, cold bool) {
	i := strings.IndexByte(symbol, '.')
	if i <= 0 {
		return symbol, "", false
	}
	for part := range strings.SplitSeq(symbol[i+1:], ".") {
		switch part {
		case "cold":
			cold = true
		case "isra", "constprop", "part", "lto_priv", "localalias", "llvm", "clone", "specialized":
		default:
			if strings.Trim(part, "0123456789") != "" {
				return symbol, "", false
			}
		}
	}
	return symbol[:i], symbol[i:], cold
}

// Rest reports whether a suffix, or a pattern that has one, is of the second part of a function that gcc has split in
// two: that is no call of the function, but what goes on behind the first part, of which there may be inlined copies.
func Rest(suffix string) bool { return strings.Contains(suffix, ".part.") }
