package cdwarf

// An image answers many questions; who works out the answers has a type for each subject, which holds the image.

// namer finds functions and globals, and says what they are called.
type namer struct{ *Image }

// entrance finds where a function is entered, and the canonical frame address there.
type entrance struct{ *Image }

// liner finds the instructions at which lines of the source begin.
type liner struct{ *Image }

// reader says where variables and results are, and which places the debug information tells falsely.
type reader struct{ *Image }

// tracer follows inlined copies, calls and the ways out of a function.
type tracer struct{ *Image }

func (im *Image) named() namer      { return namer{im} }
func (im *Image) entered() entrance { return entrance{im} }
func (im *Image) lined() liner      { return liner{im} }
func (im *Image) read() reader      { return reader{im} }
func (im *Image) traced() tracer    { return tracer{im} }
