package ir

// Code says what went wrong at run time. Executors report it with up to two
// arguments; Fault of package ir/textfmt writes it out.
type Code int32

// The run-time errors.
const (
	ErrNone       Code = iota
	ErrUser            // error(msg): the argument is the text
	ErrDivZero         // "division by 0"
	ErrMapFull         // Args: global index
	ErrMemory          // bad address; Args: address
	ErrEmptyStat       // @avg, @min, @max of an empty aggregate
	ErrMaxAction       // not catchable
	ErrMaxNesting      // too many nested calls
	ErrExhausted       // every overload passed with next
	ErrIndexRange      // index outside of a slice or array; Args: index, length
	ErrArgument        // an intrinsic refused its argument; the argument is the text
	ErrScratch         // no scratch memory: more handlers interleaved than there are slots
	ErrUnaligned       // reserved for back ends: a value did not have the form that was checked at build time
	ErrWrite           // memory that cannot be written; Args: address
	NumCodes
)

var codeNames = [...]string{"none", "user", "divzero", "mapfull", "memory", "emptystat", "maxaction", "maxnesting",
	"exhausted", "indexrange", "argument", "scratch", "unaligned", "write"}

func (c Code) String() string {
	if c >= 0 && int(c) < len(codeNames) {
		return codeNames[c]
	}
	return "code?"
}

// Cause says why a hit was skipped or an event lost. Each has a counter; what is not
// zero is reported at the end.
type Cause int32

// The causes.
const (
	SkipLock     Cause = iota // a lock was held too long
	SkipScratch               // no free scratch memory
	SkipNoEntry               // a return whose entry was not seen
	SkipStopping              // the session was ending (not reported)
	LostRing                  // no room in the output buffer
	LostRecursed              // the kernel refused to run a handler while it, or another, was at work on that CPU
	SkipDead                  // the goroutine or thread could not be identified
	// a note about a process was dropped to make room; a dropped entry value is a SkipNoEntry in the end
	LostEvicted
	LostActive // a return probe had no room for the call (maxactive)
	// a return at the kernel's limit of nested calls, behind which there may be more that are not told
	LostNested
	LostUnwound // a call that ended without a return: an exception, a panic, longjmp
	NumCauses
)

var causeNames = [...]string{"lock", "scratch", "noentry", "stopping", "ring", "recursed", "dead", "evicted", "active",
	"nested", "unwound"}

func (c Cause) String() string {
	if c >= 0 && int(c) < len(causeNames) {
		return causeNames[c]
	}
	return "cause?"
}
