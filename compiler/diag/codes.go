package diag

// The codes of loading and of the semantic passes. Those of reading a script stand
// in package grammar, those of probe points and target variables beside their
// passes. A published code never changes its meaning.
const (
	// Loading.
	LibraryDir      Code = "library-directory"
	DuplicateGlobal Code = "duplicate-global"

	// Names.
	UnresolvedFunction Code = "unresolved-function"
	UnresolvedArray    Code = "unresolved-array"
	ArgumentCount      Code = "argument-count"
	UnknownAtOp        Code = "unknown-at-operator"
	UnknownIntrinsic   Code = "unknown-intrinsic"
	InitialValue       Code = "initial-value"
	TooManyKeys        Code = "too-many-keys"

	// Types.
	TypeMismatch        Code = "type-mismatch"
	UnresolvedType      Code = "unresolved-type"
	ArrayArity          Code = "array-arity"
	AggregateValue      Code = "aggregate-value"
	NotAggregate        Code = "not-aggregate"
	HistogramUse        Code = "histogram-use"
	HistogramParameters Code = "histogram-parameters"
	StarUse             Code = "star-use"
	NoResult            Code = "no-result"
	ReturnValue         Code = "return-value"
	PrintArguments      Code = "print-arguments"
	PrintFormat         Code = "print-format"
	Regex               Code = "regular-expression"

	// Rules.
	NotAssignable  Code = "not-assignable"
	DeleteOperand  Code = "delete-operand"
	AddressOf      Code = "address-of"
	TargetWrite    Code = "target-write"
	TargetContext  Code = "target-context"
	EntryLocal     Code = "entry-local"
	EmbeddedCode   Code = "embedded-code"
	PointCondition Code = "point-condition"
	LoopControl    Code = "loop-control"
	LoopVariable   Code = "loop-variable"
	ForeachChange  Code = "foreach-change"
	NestingTooDeep Code = "nesting-too-deep"

	// Warnings.
	UnusedGlobal      Code = "unused-global"
	UnusedFunction    Code = "unused-function"
	UnusedParameter   Code = "unused-parameter"
	UnreachedOverload Code = "unreached-overload"
	NeverAssigned     Code = "never-assigned"
	NeverRead         Code = "never-read"
	NoEffect          Code = "no-effect"
)
