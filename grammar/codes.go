package grammar

import (
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/grammar/internal/code"
)

// CodeInfo explains a kind of message.
type CodeInfo struct {
	Code    diag.Code
	Warning bool
	Meaning string
	// Example is a script that gives it.
	Example string
}

// Codes lists the kinds of messages that reading scripts can give.
func Codes() []CodeInfo {
	return []CodeInfo{
		// The preprocessor.
		{code.ArgRange, false, "the script asks for an argument that it was not given", `probe begin { println($9) }`},
		{code.ArgNested, false, "an argument's text asks for an argument", `probe begin { println($4) }`},
		{code.UnknownMacro, false, "a word with @ is neither a macro nor an operator",
			`probe begin { println(@nothing) }`},
		{code.MacroDefinition, false, "a @define is not written as it must be", `@define 5 %( 1 %)`},
		{code.MacroRedefined, false, "a macro is defined twice", `@define a %( 1 %) @define a %( 2 %) probe begin { }`},
		{code.MacroBuiltin, true, "a macro hides an operator of the language",
			`@define count(x) %( 1 %) probe begin { }`},
		{code.MacroUse, false, "a macro is used with other arguments than it takes",
			`@define a(x) %( @x %) probe begin { b = @a }`},
		{code.MacroRecursion, false, "a macro uses itself", `@define a %( @a %) probe begin { b = @a }`},
		{code.MacroFile, false, "a macro file holds something else than macros", ``},
		{code.Condition, false, "the test of a %( %? is not written as it must be, or cannot be decided here",
			`probe begin { %( 1 %? a %) }`},
		{code.ConditionOpen, false, "a %( has no %)", `probe begin { %( 1 == 1 %? a }`},
		{code.ConditionStray, false, "a %? %: or %) has no %(", `probe begin { %) }`},

		// The lexer.
		{code.OpenString, false, "a string has no end on its line", `probe begin { a = "b }`},
		{code.OpenComment, true, "a comment has no end", `probe begin { } /* a`},
		{code.OpenEmbedded, false, "embedded code has no end", `function f() %{ return`},
		{code.EmbeddedTypo, true, "}% in embedded code, where %} is meant", `function f() %{ }% %}`},
		{code.BadCharacter, false, "a character that no token has", `probe begin { a = 'b' }`},
		{code.BadNumber, false, "digits that are no number, or too large a one", `probe begin { a = 08 }`},
		{code.BadEscape, false, "an escape in a string that makes no byte", `probe begin { a = "\x" }`},

		// The parser.
		{code.TopLevel, false, "something that is no declaration stands where one is expected", `print(1)`},
		{code.Unexpected, false, "something does not fit in a statement or an expression", `probe begin { a = }`},
		{code.UnexpectedEnd, false, "the script ends too early", `probe begin { f(`},
		{code.MissingBrace, false, "a } is missing", `probe begin { probe end { }`},
		{code.BadPoint, false, "a probe point is not written as it must be", `probe a..b { }`},
		{code.BadAlias, false, "an alias is not written as it must be", `probe a ? = begin { }`},
		{code.BadGlobal, false, "a global is not declared as it must be", `global a[0]`},
		{code.BadFunction, false, "a function is not declared as it must be", `function f(int a) { }`},
		{code.BadForeach, false, "a foreach is not written as it must be", `probe begin { foreach (a, b in c) { } }`},
		{code.BadOperand, false, "an operator cannot take this operand", `probe begin { a = [b, c] }`},
		{code.BadTarget, false, "what follows a $variable does not fit", `probe begin { $a[1, 2, 3] }`},
		{code.BadAtOp, false, "an operator with @ is given other arguments than it takes",
			`probe begin { @count(a, b) }`},
		{code.ElseWithoutIf, false, "an else has no if", `probe begin { else a }`},
		{code.ReturnOutside, false, "return in a probe", `probe begin { return }`},
		{code.AssignAsTest, true, "a condition assigns", `probe begin { if (a = 1) b }`},
		{code.KeywordTypo, true, "a word that looks like a keyword and is none",
			`probe begin { if (a) { b } esle { c } }`},
		{code.TooDeep, false, "statements or expressions are nested too deep", deepExample},
		{code.TooLarge, false, "the script is too large after preprocessing", largeExample},
		{code.TooManyErrors, false, "reading stopped after too many errors", errorsExample},
		{code.EmptyScript, false, "there is nothing in the script", `# nothing`},
	}
}

const (
	deepExample  = `probe begin { ` + ifs10 + ifs10 + ifs10 + ifs10 + ifs10 + ifs10 + ` a }`
	ifs10        = ifs1 + ifs1 + ifs1 + ifs1 + ifs1 + ifs1 + ifs1 + ifs1 + ifs1 + ifs1
	ifs1         = `if(a)if(a)if(a)if(a)if(a)if(a)if(a)if(a)if(a)if(a)`
	largeExample = `@define a(x) %( @x @x @x @x @x @x @x @x %) probe begin { @a(@a(@a(@a(@a(@a(@a(b))))))) }`

	errorsExample = errors5 + errors5 + errors5 + errors5 + errors5
	errors5       = "probe ) probe ) probe ) probe ) probe )\n"
)
