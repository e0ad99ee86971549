package godwarf

// An image answers many questions; who works out the answers has a type for each subject, which holds the image.

// wrapping knows the methods that the compiler made to be called through interfaces.
type wrapping struct{ *Image }

// registry finds functions and types by name, and says what kind of function one is.
type registry struct{ *Image }

// ways finds where a function is entered and left.
type ways struct{ *Image }

// inliner finds inlined copies.
type inliner struct{ *Image }

// liner finds the instructions at which lines of the source begin.
type liner struct{ *Image }

// caller computes where the calling convention puts arguments and results.
type caller struct{ *Image }

// scheduler knows where Go's runtime keeps the running goroutine.
type scheduler struct{ *Image }

func (im *Image) wrappers() wrapping   { return wrapping{im} }
func (im *Image) ways() ways           { return ways{im} }
func (im *Image) inlines() inliner     { return inliner{im} }
func (im *Image) lined() liner         { return liner{im} }
func (im *Image) called() caller       { return caller{im} }
func (im *Image) scheduled() scheduler { return scheduler{im} }
func (im *Image) registry() registry   { return registry{im} }
