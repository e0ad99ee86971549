package lower

// Lowering a function goes through its statements and expressions (fn). Constructs with rules of their own have a type
// each, which holds the function.

// reading lowers variables of the traced program that are read.
type reading struct{ *fn }

// writing lowers assignments: to variables of the script, and to those of the traced program.
type writing struct{ *fn }

// arrays lowers elements of arrays and statistics.
type arrays struct{ *fn }

// printing lowers what prints, and makes formats.
type printing struct{ *fn }

// builtins lowers calls of built-in functions.
type builtins struct{ *fn }

func (f *fn) reading() reading   { return reading{f} }
func (f *fn) writing() writing   { return writing{f} }
func (f *fn) arrays() arrays     { return arrays{f} }
func (f *fn) printing() printing { return printing{f} }
func (f *fn) builtins() builtins { return builtins{f} }
