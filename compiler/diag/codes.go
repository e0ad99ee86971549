package diag

import "strings"

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
	ReservedName       Code = "reserved-name"
	ArgumentCount      Code = "argument-count"
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
	ReturnLine          Code = "return-line"
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
	GuruOperator   Code = "guru-operator"
	Privilege      Code = "privilege"
	PointCondition Code = "point-condition"
	LoopControl    Code = "loop-control"
	LoopVariable   Code = "loop-variable"
	ForeachChange  Code = "foreach-change"

	// Warnings.
	UnusedGlobal      Code = "unused-global"
	UnusedFunction    Code = "unused-function"
	UnusedParameter   Code = "unused-parameter"
	UnreachedOverload Code = "unreached-overload"
	NeverAssigned     Code = "never-assigned"
	NeverRead         Code = "never-read"
	NoEffect          Code = "no-effect"
	LongText          Code = "long-text"
	NoValue           Code = "no-value"
	CrossFile         Code = "cross-file-global"
	AliasGlobal       Code = "alias-global"
)

// CodeInfo explains a kind of message.
type CodeInfo struct {
	Code    Code
	Warning bool
	Meaning string
	// Example is a script that gives it; "" where it takes more than a script. In the
	// examples $missing is a variable that the probed function does not have.
	Example string
}

// SemanticCodes lists the kinds of messages that loading and the semantic passes give.
func SemanticCodes() []CodeInfo {
	return []CodeInfo{
		// Loading.
		{LibraryDir, false, "a directory or file of the library cannot be read", ``},
		{DuplicateGlobal, false, "a global is declared twice", `global a, a probe begin { a = 1 }`},

		// Names.
		{UnresolvedFunction, false, "no function has this name", `probe begin { prnitln("x") }`},
		{UnresolvedArray, false, "no global array has this name; locals cannot be arrays",
			`probe begin { seen[pid()] = 1 }`},
		{ReservedName, false, "a function is named as one of the language", `function print(x) { } probe begin { }`},
		{ArgumentCount, false, "a function is called with other arguments than it takes",
			`probe begin { println(pid(1)) }`},
		{UnknownIntrinsic, false, "a function is declared as built in, and is not, or with other types",
			`function pid:string() %{ intrinsic %} probe begin { println(pid()) }`},
		{InitialValue, false, "-G names no global of the script, or does not fit its type", ``},
		{TooManyKeys, false, "an array has more than 9 keys", `global a probe begin { a[1,2,3,4,5,6,7,8,9,10] = 1 }`},

		// Types.
		{TypeMismatch, false, "a number stands where a string is expected, or the other way round",
			`probe begin { println(1 + "s") }`},
		{UnresolvedType, false, "nothing says whether a variable holds numbers or strings",
			`probe begin { println(x) }`},
		{ArrayArity, false, "an array is used with a different number of keys, or without any",
			`global a probe begin { a[1] = 1 println(a[1, 2]) }`},
		{AggregateValue, false, "an aggregate stands where a number or a string is expected",
			`global s probe begin { s <<< 1 println(s) }`},
		{NotAggregate, false, "<<< or a statistics operator is given something that is no aggregate",
			`probe begin { println(@count(x)) }`},
		{HistogramUse, false, "a histogram stands where it cannot be printed",
			`global s probe begin { s <<< 1 h = @hist_log(s) }`},
		{HistogramParameters, false, "bounds and width of a histogram, or the shift of @variance, make no sense",
			`global s probe begin { s <<< 1 print(@hist_linear(s, 10, 0, 1)) }`},
		{StarUse, false, "a slice of an array stands where one element is expected",
			`global a probe begin { a[1] = 1 println(a[*]) }`},
		{NoResult, false, "the value of a function that returns nothing is asked for",
			`probe begin { println(exit()) }`},
		{ReturnValue, false, "a function returns a value here and none there",
			`function f(a) { if (a) return 1 return } probe begin { println(f(1)) }`},
		{ReturnLine, true, "a return takes its value from the next line, and nobody wants a value of the function",
			"function f(a) { if (a) return\n  a++\n  println(a)\n}\nprobe begin { f(1) }"},
		{PrintArguments, false, "a print function is given other arguments than it takes",
			`probe begin { printf("%d %d\n", 1) }`},
		{PrintFormat, false, "a format is no literal string, or has a conversion that there is not",
			`probe begin { printf("%y\n", 1) }`},
		{Regex, false, "a pattern is no regular expression", `probe begin { if (execname() =~ "[a") next }`},

		// Rules.
		{NotAssignable, false, "something that is no variable is assigned to", `probe begin { pid() = 1 }`},
		{DeleteOperand, false, "something that is no variable is deleted", `probe begin { delete pid() }`},
		{AddressOf, false, "the address of a variable of the script is taken", `probe begin { x = 1 println(&x) }`},
		{TargetWrite, false, "a variable of the traced program is written without -g",
			`probe process("app").function("f") { $x = 1 }`},
		{TargetContext, false, "a variable of the traced program is used where there is none",
			`function f() { return $x } probe begin { println(f()) }`},
		{EntryLocal, false, "@entry looks at a local variable of the handler",
			`probe process("app").function("f").return { x = 1 println(@entry(x)) }`},
		{EmbeddedCode, false, "C code is embedded without -g", `probe begin { println(%{ 1 %}) }`},
		{GuruOperator, false, "an operator that reads any memory or register of the kernel is used without -g",
			`probe begin { println(@kderef(8, 0)) }`},
		{Privilege, false, "a function or probe point is not allowed with --privilege=stapusr",
			`probe begin { println(kernel_string(0)) }`},
		{PointCondition, false, "the condition of a probe point holds more than globals, constants and operators",
			`probe begin if (pid() > 1) { println(1) }`},
		{LoopControl, false, "break or continue outside of a loop", `probe begin { break }`},
		{LoopVariable, true, "a name stands for two keys of one loop",
			`global a probe begin { a[1, 1] = 1 foreach ([k, k] in a) println(k) }`},
		{ForeachChange, false, "an array is changed inside of a loop over it",
			`global a probe begin { a[1] = 1 foreach (k in a) delete a[k] }`},

		// Warnings.
		{UnusedGlobal, true, "a global is never used", `global a probe begin { }`},
		{UnusedFunction, true, "a function is never called", `function f() { } probe begin { }`},
		{UnusedParameter, true, "a parameter is never used",
			`function f(a) { return 1 } probe begin { println(f(1)) }`},
		{UnreachedOverload, true, "a function hides another one of its name",
			`function f() { return 1 } function f() { return 2 } probe begin { println(f()) }`},
		{NeverAssigned, true, "a variable is read but never assigned", `probe begin { println(x + 1) }`},
		{NeverRead, true, "a local variable is assigned but never read", `probe begin { x = 1 }`},
		{NoEffect, true, "a statement does nothing", `probe begin { x = 1 x == 2 println(x) }`},
		{NoValue, true, "a function that returns nothing stands where a number or string is wanted",
			`probe begin { if (exit()) println(1) }`},
		{LongText, true, "a text of the script is longer than strings can be", `probe begin { println("` +
			strings.Repeat("much too long ", 40) + `") }`},
		{CrossFile, true, "a library in a directory given by -I uses a global of the script", ""},
		{AliasGlobal, true, "a variable of an alias of the library has the name of a global of the script, and is " +
			"that global", `global name = "mine" probe syscall.getpid { println(name) }`},
	}
}
