// Package habits knows what people type who come from bpftrace, DTrace, Delve, C or Go, and how it is written here. In
// goes a word or the beginning of a text that the language does not have, out comes a hint, "" for what is no habit. It
// is asked only when a message is due: nothing that is right passes here.
package habits

import "github.com/gostap/gostap/compiler/machine"

// variables are words that other tools have for what is a function here, or that have another name.
var variables = map[string]string{
	"comm": "the name of the program is execname()", "nsecs": "the time is gettimeofday_ns()",
	"elapsed": "the time is gettimeofday_ns(); remember it in probe begin", "curtask": "the task is task_current()",
	"retval": "the result of a function is $return",
	"args":   "the parameters are $NAME each; $$parms writes all of them",
	"func":   "the name of the function is ppfunc()", "probe": "the name of the probe point is pp()",
	"ustack": "the stack is ustack(), as text sprint_ubacktrace()",
	"kstack": "the stack is kstack(), as text sprint_backtrace()",
	"rand":   "a number by chance is randint(n)", "username": "the number of the user is uid()",
	"true": "true is 1", "false": "false is 0", "nil": "a pointer to nothing is 0", "NULL": "a pointer to nothing is 0",
	"null": "a pointer to nothing is 0", "nullptr": "a pointer to nothing is 0", "None": "a pointer to nothing is 0",
	"timestamp": "the time is gettimeofday_ns()", "walltimestamp": "the time is gettimeofday_ns()",
	"curthread": "the task is task_current()", "probefunc": "the name of the function is ppfunc()",
	"probename": "the name of the probe point is pp()",
	"then":      "there is no word then: if (x) statement else statement", "elif": elseIf, "elsif": elseIf,
	"errno": "a system call's error is in its $return: errno_str($return)",
	"ctx":   "the parameters are $NAME each; $$parms writes all of them",
}

const elseIf = "a further condition is written else if (x)"

// declaring are words that declare variables in other languages.
var declaring = map[string]bool{
	"int": true, "char": true, "unsigned": true, "bool": true, "float": true, "double": true, "var": true, "let": true,
	"auto": true, "const": true, "local": true, "my": true, "long": true, "string": true, "uint": true, "int64": true,
	"uint64": true, "u64": true, "size_t": true,
}

// NoDeclaration is the hint for a word that declares variables elsewhere.
const NoDeclaration = "variables need no declaration, and no type: x = 5"

// Declares reports whether a word declares variables in another language.
func Declares(word string) bool { return declaring[word] }

// Variable gives the hint for a variable that nothing assigns.
func Variable(name string) string {
	switch {
	case declaring[name]:
		return NoDeclaration
	case number(name, "arg") || number(name, "sarg"):
		return "the parameters are $NAME each; by number, from 1: ulong_arg(1), pointer_arg(1)"
	}
	return variables[name]
}

// number reports whether name is word and digits.
func number(name, word string) bool {
	if len(name) <= len(word) || name[:len(word)] != word {
		return false
	}
	for _, c := range name[len(word):] {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

const (
	aggregate = "collect values with s <<< value, s being a global or an element of one, and read them with " +
		"@count(s), " +
		"@sum(s), @avg(s), @min(s) or @max(s)"
	histogram = "collect values with s <<< value, s being a global or an element of one, and then print(@hist_log(s))"
)

// functions are what other tools and languages call.
var functions = map[string]string{
	"count": "counting is n++ for a global n, or n[key]++", "sum": aggregate, "avg": aggregate, "stats": aggregate,
	"min": aggregate, "max": aggregate, "average": aggregate, "stddev": aggregate,
	"hist": histogram, "quantize": histogram, "llquantize": histogram,
	"lhist":     "collect values with s <<< value, and then print(@hist_linear(s, low, high, width))",
	"lquantize": "collect values with s <<< value, and then print(@hist_linear(s, low, high, width))",
	"str":       "the text at an address is user_string(address), in the kernel kernel_string(address)",
	"copyinstr": "the text at an address is user_string(address)",
	"stringof":  "the text at an address in the kernel is kernel_string(address)",
	"kstr":      "the text at an address in the kernel is kernel_string(address)",
	"ustr":      "the text at an address is user_string(address)",
	"copyin":    "numbers of a program are read by user_long(address), user_int(address) and their kin",
	"buf":       "bytes are written by user_buffer_quoted(address, length, length)",
	"ksym":      "the name of an address in the kernel is symname(address)",
	"sym":       "the name of an address in the kernel is symname(address)",
	"usym":      "the name of an address in a program is usymname(address)",
	"sizeof":    `the size of a type is @cast_sizeof("TYPE"), of a type of a program @cast_sizeof("TYPE", "FILE")`,
	"offsetof":  `the place of a member is &@cast(0, "TYPE")->member`,
	"strftime":  "a time as text is ctime(seconds), or tz_ctime(seconds) in the local time zone",
	"time":      "a time as text is ctime(gettimeofday_s()), or tz_ctime(gettimeofday_s()) in the local time zone",
	"clear":     "an array is emptied by: delete a", "zero": "an array is emptied by: delete a",
	"trunc": "an array is emptied by: delete a",
	"ntop":  "an address as text is ip_ntop(address)", "join": "a command with its arguments is cmdline_str()",
	"reg":    `a register is register("` + machine.Default.Registers[machine.Default.C.Args[0]].Name + `")`,
	"signal": "a signal is sent by raise(number), with -g and in a module",
	"trace":  "a line is printed by println(a, b)", "puts": "a line is printed by println(a)",
	"echo":   "a line is printed by println(a)",
	"unroll": "a loop is for (i = 0; i < 3; i++) { ... }", "len": "the length of a text is strlen(s)",
	"length":  "the length of a text is strlen(s)",
	"strcmp":  "texts are compared by ==",
	"strncmp": "texts are compared by ==; the beginning of one is substr(s, 0, n)",
	"atoi":    "strtol(s, 10) reads a number from a text", "itoa": "a number as text is sprint(n)",
	"getpid": "the process is pid()", "gettid": "the thread is tid()", "getuid": "the user is uid()",
	"rand": "a number by chance is randint(n)", "random": "a number by chance is randint(n)",
	"defined":     "whether a variable is there is asked by @defined($x)",
	"cast":        `a type is given by @cast(p, "TYPE", "FILE")->member`,
	"entry":       "a value of a function's entry is @entry(value)",
	"strstr":      "whether a text is in another is isinstr(a, b)",
	"contains":    "whether a text is in another is isinstr(a, b)",
	"strcontains": "whether a text is in another is isinstr(a, b)",
	"kstack":      "the stack as text is sprint_backtrace()",
	"ustack":      "the stack as text is sprint_ubacktrace(); ustack(n) is its nth address",
	"stack":       "the stack as text is sprint_backtrace(), of a program sprint_ubacktrace()",
	"jstack":      "the stack as text is sprint_ubacktrace()", "append": "texts are joined by a dot: a . b",
	"assert": "end the session with a message by error(text)",
}

// Function gives the hint for a call of what is no function.
func Function(name string) string { return functions[name] }

// At gives the hint for "@name" or a lone "@" that is no macro and no operator; next is the text behind it.
func At(name, next string) string {
	if name == "" {
		return "bpftrace's @ is an array here, declared outside of the probes: global counts; then counts[key]++"
	}
	if next != "" && next[0] == '(' {
		return Function(name)
	}
	for _, use := range [...]string{"[", " =", "=", "++", "--", "+=", " +="} {
		if len(next) > len(use) && next[:len(use)] == use && next[len(use)] != '=' {
			return "variables have no @: declare global " + name + " outside of the probes, then write " + name +
				"[key]++ or " + name + " = 1"
		}
	}
	return ""
}
