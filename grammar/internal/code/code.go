// Package code names the kinds of messages that reading a script can give. The
// table with their meaning and an example each is in package grammar.
package code

import "github.com/gostap/gostap/compiler/diag"

// The codes. A published code never changes its meaning.
const (
	// The preprocessor.
	ArgRange        diag.Code = "arg-range"
	ArgNested       diag.Code = "arg-nested"
	UnknownMacro    diag.Code = "unknown-macro"
	MacroDefinition diag.Code = "macro-definition"
	MacroRedefined  diag.Code = "macro-redefined"
	MacroBuiltin    diag.Code = "macro-builtin"
	MacroUse        diag.Code = "macro-use"
	MacroRecursion  diag.Code = "macro-recursion"
	MacroFile       diag.Code = "macro-file"
	Condition       diag.Code = "condition"
	ConditionOpen   diag.Code = "condition-open"
	ConditionStray  diag.Code = "condition-stray"

	// The lexer.
	OpenString   diag.Code = "open-string"
	OpenComment  diag.Code = "open-comment"
	OpenEmbedded diag.Code = "open-embedded"
	EmbeddedTypo diag.Code = "embedded-typo"
	BadCharacter diag.Code = "bad-character"
	BadNumber    diag.Code = "bad-number"
	BadEscape    diag.Code = "bad-escape"

	// The parser.
	TopLevel      diag.Code = "top-level"
	Unexpected    diag.Code = "unexpected"
	UnexpectedEnd diag.Code = "unexpected-end"
	MissingBrace  diag.Code = "missing-brace"
	BadPoint      diag.Code = "bad-point"
	BadAlias      diag.Code = "bad-alias"
	BadGlobal     diag.Code = "bad-global"
	BadFunction   diag.Code = "bad-function"
	BadForeach    diag.Code = "bad-foreach"
	BadOperand    diag.Code = "bad-operand"
	BadTarget     diag.Code = "bad-target"
	BadAtOp       diag.Code = "bad-at-operator"
	ElseWithoutIf diag.Code = "else-without-if"
	ReturnOutside diag.Code = "return-outside-function"
	AssignAsTest  diag.Code = "assign-as-test"
	KeywordTypo   diag.Code = "keyword-typo"
	TooDeep       diag.Code = "too-deep"
	TooLarge      diag.Code = "too-large"
	TooManyErrors diag.Code = "too-many-errors"
	EmptyScript   diag.Code = "empty-script"
)
