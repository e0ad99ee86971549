package loc

import "fmt"

// Contexts are the contexts of a Go program (context.Context), by what their Value methods do.
type Contexts struct {
	// Types are those of which it has values, in the order of Addr.
	Types []Context
	// ParentAt, KeyAt and ValAt are where a context.valueCtx has what it is derived from, the key and the value.
	ParentAt, KeyAt, ValAt int64
}

// Context is one type whose values are contexts.
type Context struct {
	Addr uint64 // the file address of what the program has for it at run time
	Name string
	Does ContextDoes
	// Off is where a Derived one has the context that it asks, an interface. If Then is not -1, there is a pointer, and
	// the interface lies Then behind what that points to.
	Off, Then int64
}

// ContextDoes is what the Value method of a context does.
type ContextDoes uint8

// What Value methods do.
const (
	OwnValue ContextDoes = iota // what its own code says
	Holds                       // one key's value is here, the others' are in the parent's: context.valueCtx
	Derived                     // asks the parent
	Root                        // finds nothing
)

// KeyForm is how a key lies behind the interface that holds it.
type KeyForm uint8

// The forms of keys.
const (
	OneKey    KeyForm = iota // its type has one value
	WordKey                  // it is the interface's second word
	NumberKey                // a number that the second word points to
	TextKey                  // a string, likewise
)

// Chain is what a Stored looks for.
type Chain struct {
	*Contexts
	// Bias is what is added to a file address of the program to get that at run time.
	Bias Prog
	// KeyType is the run-time type of the key.
	KeyType Prog
	Form    KeyForm
	// Size is that of a NumberKey, in bytes.
	Size int64
	// Key is the value of a WordKey, a NumberKey or a TextKey; that of the latter is Text if Key is empty.
	Key  Prog
	Text string
}

func (c *Chain) String() string {
	return fmt.Sprintf("%v type %s bias %s form %d size %d key %s %q", *c.Contexts, c.KeyType, c.Bias, c.Form, c.Size,
		c.Key, c.Text)
}
