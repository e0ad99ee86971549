package grammar

import (
	"slices"
	"strings"

	"github.com/antlr4-go/antlr/v4"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/habits"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/grammar/internal/code"
	"github.com/gostap/gostap/grammar/internal/pp"
	sp "github.com/gostap/gostap/grammar/internal/stapparse"
)

// failure is what is known about a syntax error.
type failure struct {
	at    *pp.Tok      // what was found
	prev  *pp.Tok      // what stands before it, nil at the very start
	rules []int        // the rules that were being read, innermost first
	set   map[int]bool // the types that would have fitted
	open  *pp.Tok      // the innermost bracket that is open, nil if none
	after ast.Decl     // the declaration before this one, nil if there is none
	begin bool         // the innermost rule would have begun with this token
}

func (f *failure) in(rules ...int) bool {
	return len(f.rules) > 0 && slices.Contains(rules, f.rules[0])
}

func (f *failure) within(rule int) bool { return slices.Contains(f.rules, rule) }

func (f *failure) found(types ...int) bool { return slices.Contains(types, f.at.Type) }

func (f *failure) behind(types ...int) bool {
	return f.prev != nil && slices.Contains(types, f.prev.Type)
}

// inPoints reports whether a list of probe points was being read, up to the { of
// the probe's body.
func (f *failure) inPoints() bool {
	if f.in(sp.StapParserRULE_block) {
		return f.begin && f.rules[1] == sp.StapParserRULE_probe
	}
	return f.in(sp.StapParserRULE_point, sp.StapParserRULE_points, sp.StapParserRULE_probe, sp.StapParserRULE_comp,
		sp.StapParserRULE_namePart, sp.StapParserRULE_pointList)
}

// explain reports the token at which the parse ended, in plain words.
func (p *parser) explain(at *pp.Tok) {
	if at.Reported {
		p.said = true
		return
	}
	f := &failure{at: at, prev: p.stream.Tok(-1), set: p.expected(), after: p.last}
	if f.set[sp.StapParserRBRACK] || f.set[sp.StapParserSTAR] && f.set[sp.StapParserTILDE] {
		delete(f.set, sp.StapParserCOLON) // of [low:high], which is rarely what is missing
	}
	f.begin = p.p.GetParserRuleContext().GetStart() == antlr.Token(at)
	for c := antlr.RuleContext(p.p.GetParserRuleContext()); c != nil; {
		f.rules = append(f.rules, c.GetRuleIndex())
		up, ok := c.GetParent().(antlr.RuleContext)
		if !ok {
			break
		}
		c = up
	}
	if open := p.x.Open(); len(open) > 0 {
		f.open = open[len(open)-1]
		if f.open == at && len(open) > 1 {
			f.open = open[len(open)-2]
		} else if f.open == at {
			f.open = nil
		}
	}
	switch {
	case f.in(sp.StapParserRULE_attribute, sp.StapParserRULE_literal) && f.within(sp.StapParserRULE_attribute) &&
		f.behind(sp.StapParserID) && !slices.Contains(ast.Attributes, f.prev.Text):
		// What stands behind a global and is no word about it was to be something else.
		f.at, f.after = f.prev, &ast.Globals{}
		p.atTop(f)
	case at.Type == antlr.TokenEOF:
		p.atEnd(f)
	case f.in(sp.StapParserRULE_item, sp.StapParserRULE_privateItem) && !f.behind(sp.StapParserPRIVATE):
		p.atTop(f)
	case f.found(topWords...) && f.open != nil:
		d := p.errorf(code.MissingBrace, at.Span(), "expected %s before %s", closer(f.open), pp.Describe(at))
		p.notClosed(d, f.open)
	default:
		p.inside(f)
	}
}

func (p *parser) errorf(c diag.Code, at source.Span, format string, args ...any) *diag.Diagnostic {
	return p.diags.Errorf(diag.Parse, c, at, format, args...)
}

// topWords begin declarations.
var topWords = []int{sp.StapParserPROBE, sp.StapParserFUNCTION, sp.StapParserGLOBAL, sp.StapParserPRIVATE}

// notClosed points at the bracket that lacks its end, and at another one that
// seems to have taken it.
func (p *parser) notClosed(d *diag.Diagnostic, open *pp.Tok) {
	d.Note(open.Span(), "this %s is not closed", open.Text)
	if open.Text != "{" {
		return
	}
	if a, b := p.x.Misaligned(); a != nil {
		d.Note(a.Span(), "or this {, whose } does not stand below it")
		d.Note(b.Span(), "the } that closes it")
	}
}

func closer(open *pp.Tok) string {
	return map[string]string{"(": ")", "[": "]", "{": "}"}[open.Text]
}

// atEnd is for a script that ends too early.
func (p *parser) atEnd(f *failure) {
	at := f.at.Span()
	if f.prev != nil {
		at = source.Span{From: f.prev.End, To: f.prev.End}
	}
	var d *diag.Diagnostic
	if f.open != nil {
		c := code.UnexpectedEnd
		if f.open.Text == "{" {
			c = code.MissingBrace
		}
		d = p.errorf(c, at, "expected %s before the end of the script", closer(f.open))
		p.notClosed(d, f.open)
	} else {
		want := words(f.set)
		if f.inPoints() {
			want = "{ and the body of the probe"
			if f.set[sp.StapParserSTAR] && !f.set[sp.StapParserDOT] {
				want = "a probe point"
			}
		}
		d = p.errorf(code.UnexpectedEnd, at, "expected %s before the end of the script", want)
	}
	if p.x.OpenComment.From.IsValid() {
		d.Note(p.x.OpenComment, "the rest of the script is in this comment, which is not closed")
	}
}

// atTop is for what is no declaration.
func (p *parser) atTop(f *failure) {
	at := f.at
	switch at.Type {
	case sp.StapParserRBRACE:
		p.errorf(code.TopLevel, at.Span(), "this } closes nothing").Hintf("there is one } too many, here or before")
		return
	case sp.StapParserSEMI:
		p.errorf(code.TopLevel, at.Span(), "a ; cannot stand between declarations").Hintf("remove it")
		return
	case sp.StapParserELSE:
		p.errorf(code.ElseWithoutIf, at.Span(),
			"else outside of a probe or function").Hintf("is there one } too many before it?")
		return
	}
	d := p.errorf(code.TopLevel, at.Span(), "expected probe, function, global or private, found %s", pp.Describe(at))
	_, afterGlobals := f.after.(*ast.Globals)
	elsewhere, forgot := habits.Point(p.text(at)), habits.Forgot(p.text(at))
	near := diag.Nearest(at.Text, []string{"probe", "function", "global", "private"}, 1)
	switch {
	case elsewhere != "":
		d.Hintf("this looks like a script for bpftrace or DTrace; here it is: probe %s { ... }", elsewhere)
	case forgot != "" && !afterGlobals:
		d.Hintf("a probe begins with the word probe: probe %s { ... }", forgot)
	case f.after == nil && habits.Source(p.name(at)) != "":
		d.Hintf("%s", habits.NoSource(p.name(at)))
	case slices.Contains([]string{"func", "def", "fn", "sub", "fun"}, at.Text):
		d.Hintf("functions begin with the word function: function f(a, b) { ... }")
	case at.Text == "struct" || at.Text == "union" || at.Text == "enum":
		d.Hintf("types need no declaration: they are read from the debug information of programs and the kernel")
	case len(near) > 0 && len(at.Text) > 2 && f.found(sp.StapParserID, sp.StapParserFUNC_NAME):
		d.Hintf("did you mean %s?", near[0])
	case afterGlobals && f.found(sp.StapParserID):
		d.Hintf("several globals are separated by commas: global a, b")
	case afterGlobals:
		d.Hintf("the initial value of a global is one number or string")
	case f.after != nil && (pp.IsKeyword(at.Type) || f.found(sp.StapParserID, sp.StapParserFUNC_NAME)):
		d.Hintf("statements stand in the body of a probe or function; is there one } too many before it?")
	default:
		d.Hintf("statements stand in the body of a probe or function: probe begin { ... }")
	}
}

// inside is for what does not fit in a declaration.
func (p *parser) inside(f *failure) {
	found := pp.Describe(f.at)
	want := words(f.set)
	var message string
	switch {
	case f.inPoints() && f.found(topWords...) && !f.at.Glued && f.set[sp.StapParserLBRACE]:
		message = "expected { and the body of the probe, found " + found
	case f.inPoints() && (f.set[sp.StapParserDOT] || f.set[sp.StapParserCOMMA]):
		want = "a comma or {"
		if f.within(sp.StapParserRULE_pointList) {
			want = "a comma"
		}
		switch {
		case f.set[sp.StapParserDOT] && strings.Contains(want, " or "):
			want = "., " + want
		case f.set[sp.StapParserDOT]:
			want = ". or " + want
		}
		message = "expected " + want + " after a probe point, found " + found
	case f.inPoints() && f.set[sp.StapParserSTAR]:
		message = "expected a probe point, found " + found
	case f.in(sp.StapParserRULE_function) && f.set[sp.StapParserLBRACE]:
		message = "expected { and the body of the function, found " + found
	case want == "":
		message = "unexpected " + found
	case f.prev != nil && !strings.Contains(want, " or ") && !strings.HasPrefix(want, "a"):
		message = "expected " + want + " after " + pp.Describe(f.prev) + ", found " + found
	default:
		message = "expected " + want + ", found " + found
	}
	c := code.Unexpected
	switch {
	case f.within(sp.StapParserRULE_foreachHead) || f.within(sp.StapParserRULE_foreachKeys):
		c = code.BadForeach
	case f.within(sp.StapParserRULE_stmt):
	case f.within(sp.StapParserRULE_point) || f.inPoints():
		c = code.BadPoint
	case f.within(sp.StapParserRULE_globals):
		c = code.BadGlobal
	case f.within(sp.StapParserRULE_function):
		c = code.BadFunction
	}
	d := p.errorf(c, f.at.Span(), "%s", message)
	if h := p.hint(f); h != "" {
		d.Hint = h
	}
	if f.open != nil && !p.x.Closes(f.at) {
		d.Note(f.open.Span(), "this %s is not closed", f.open.Text)
	}
}

// spelled gives the operator of the language for what others write as a word.
var spelled = map[string]string{"and": "&&", "or": "||", "not": "!", "mod": "%", "eq": "==", "ne": "!=", "lt": "<",
	"gt": ">", "le": "<=", "ge": ">=", "xor": "^", "div": "/"}

// text is what is written from a token on, in its file: enough of it for the name of a point.
func (p *parser) text(from *pp.Tok) string {
	file := p.o.Files.File(from.Pos)
	if file == nil {
		return ""
	}
	i := file.Offset(from.Pos)
	return string(file.Text[i:min(i+1000, len(file.Text))])
}

// name is the name of a token's file.
func (p *parser) name(at *pp.Tok) string {
	if file := p.o.Files.File(at.Pos); file != nil {
		return file.Name
	}
	return ""
}

// shellTook says whether a token stands in a text of the command line that has no double quote.
func (p *parser) shellTook(at *pp.Tok) bool {
	file := p.o.Files.File(at.Pos)
	return file != nil && file.Name == "<input>" && !strings.Contains(string(file.Text), `"`)
}

// before is what is written right before a token, in its file.
func (p *parser) before(t *pp.Tok) string {
	file := p.o.Files.File(t.Pos)
	if file == nil {
		return ""
	}
	i := file.Offset(t.Pos)
	return string(file.Text[max(0, i-16):i])
}

// hint says what to do about the usual mistakes.
func (p *parser) hint(f *failure) string {
	at := f.at
	exprEnd := f.set[sp.StapParserPLUS] && f.set[sp.StapParserOROR] // an operator would have fitted
	exprStart := f.set[sp.StapParserTILDE]
	name := f.found(sp.StapParserID, sp.StapParserFUNC_NAME)
	if f.inPoints() && f.prev != nil && f.found(sp.StapParserCOLON) {
		if point := habits.Point(p.text(f.prev)); point != "" {
			return "this looks like a point of bpftrace or DTrace; here it is " + point
		}
	}
	switch {
	case f.inPoints() && f.set[sp.StapParserSTAR] && f.found(sp.StapParserDOT, sp.StapParserSLASH) && f.prev == nil:
		return "the functions of a program are process(\"FILE\").function(\"*\")"
	case f.inPoints() && f.found(sp.StapParserFUNCTION) && f.behind(sp.StapParserPROBE):
		return "a function is one of a program or of the kernel: process(\"FILE\").function(\"NAME\")"
	case f.in(sp.StapParserRULE_stmt) && f.found(sp.StapParserRPAREN) && f.set[sp.StapParserSEMI] &&
		strings.Contains(p.before(at), " in "):
		return "a loop over an array is written foreach (key in array)"
	case f.inPoints() && f.found(sp.StapParserSLASH):
		return "a condition stands in the body: if (!(condition)) next"
	case f.found(sp.StapParserCOLON) && !f.set[sp.StapParserCOLON] && strings.HasPrefix(p.text(at), ":="):
		return "values are assigned by =, new variables too: x = 5"
	case name && f.behind(sp.StapParserID) && !f.in(sp.StapParserRULE_function, sp.StapParserRULE_param) &&
		habits.Declares(f.prev.Text):
		return habits.NoDeclaration
	case exprEnd && f.found(sp.StapParserLPAREN) && f.behind(sp.StapParserFUNC_NAME, sp.StapParserID) &&
		strings.HasSuffix(p.before(f.prev), "->"):
		return "functions of the traced program cannot be called"
	case exprStart && at.Text == "$" && strings.HasPrefix(p.text(at), "$~r"):
		return "results without a name are $return, of several $return[0], $return[1]"
	case name && f.behind(sp.StapParserFOR):
		return "loops are for (i = 0; i < n; i++) { ... } and foreach (key in array) { ... }"
	case name && exprEnd && spelled[at.Text] != "":
		return at.Text + " is written " + spelled[at.Text]
	case exprStart && f.found(sp.StapParserASSIGN) && f.behind(sp.StapParserEQ, sp.StapParserNE):
		return "== and != compare; there is no longer form"
	case exprStart && f.found(sp.StapParserGT) && f.behind(sp.StapParserLT):
		return "unequal is written !="
	case exprStart && f.found(sp.StapParserSTAR) && !f.within(sp.StapParserRULE_suffix):
		return "no * follows a pointer: use p->member, p[0], or a function such as user_long(p)"
	case exprStart && f.found(sp.StapParserDOT) && !f.behind(sp.StapParserLBRACE):
		return "a digit stands before the point: 0.5"
	case exprStart && f.found(sp.StapParserATWORD):
		return at.Text + " takes arguments in parentheses"
	case f.found(sp.StapParserSLASH) && f.behind(sp.StapParserSTAR):
		return "comments do not nest: the first */ ends one"
	case exprStart && pp.IsKeyword(at.Type):
		return at.Text + " is a word of the language and cannot name a variable"
	case f.in(sp.StapParserRULE_literal) && f.within(sp.StapParserRULE_comp):
		switch {
		case f.found(sp.StapParserRPAREN):
			return "a probe point without argument is written without parentheses"
		case p.shellTook(at):
			return "the shell has taken the double quotes away: the script stands in single quotes, -e 'SCRIPT'"
		case f.found(sp.StapParserSLASH, sp.StapParserDOT, sp.StapParserID, sp.StapParserFUNC_NAME, sp.StapParserSTAR):
			return "paths and names are strings here: process(\"/bin/ls\").function(\"main\")"
		}
		return "the argument of a probe point is one number or string"
	case f.inPoints() && f.found(sp.StapParserLPAREN) && f.behind(sp.StapParserRBRACE):
		return "braces take no argument: it stands behind each name in them, as in {timer.s(1), timer.ms(500)}"
	case f.in(sp.StapParserRULE_comp) && f.set[sp.StapParserRPAREN]:
		return "the argument of a probe point is one number or string"
	case f.inPoints() && f.found(sp.StapParserRBRACE) && f.set[sp.StapParserSTAR]:
		return "the points of a probe stand before its body: probe begin { ... }"
	case f.in(sp.StapParserRULE_literal) && f.within(sp.StapParserRULE_globals):
		return "the initial value of a global is one number or string"
	case f.in(sp.StapParserRULE_type):
		return "the types are long and string"
	case f.in(sp.StapParserRULE_function, sp.StapParserRULE_param) && name &&
		f.behind(sp.StapParserID, sp.StapParserSTRING_T, sp.StapParserLONG_T),
		f.in(sp.StapParserRULE_function, sp.StapParserRULE_param) &&
			f.found(sp.StapParserLONG_T, sp.StapParserSTRING_T):
		return "the type of a parameter follows its name: function f:long(a:long, b:string)"
	case f.in(sp.StapParserRULE_foreachHead, sp.StapParserRULE_foreachKeys) && f.found(sp.StapParserCOMMA):
		return "several keys stand in brackets: foreach ([a, b] in array)"
	case f.in(sp.StapParserRULE_foreachHead, sp.StapParserRULE_foreachKeys) && f.set[sp.StapParserIN]:
		return "a loop is written foreach (key in array)"
	case exprEnd && f.within(sp.StapParserRULE_call) &&
		(name || f.found(sp.StapParserSTRING, sp.StapParserNUMBER, sp.StapParserTARGET)):
		return "is a comma missing before it?"
	case exprEnd && f.set[sp.StapParserCOLON] && !f.found(sp.StapParserCOLON):
		return "a choice is written condition ? value : other value"
	case f.set[sp.StapParserCATCH]:
		return "try { ... } is followed by catch { ... } or catch (message) { ... }"
	case len(f.set) == 1 && f.set[sp.StapParserLPAREN] &&
		f.behind(sp.StapParserIF, sp.StapParserWHILE, sp.StapParserFOR, sp.StapParserFOREACH):
		return "conditions and loop heads stand in parentheses"
	}
	return ""
}

// words says what would have fitted, "" if that is nothing worth saying.
func words(set map[int]bool) string {
	var ws []string
	add := func(w string) {
		if !slices.Contains(ws, w) {
			ws = append(ws, w)
		}
	}
	statement := set[sp.StapParserWHILE] && set[sp.StapParserSEMI]
	expression := set[sp.StapParserTILDE]
	operator := set[sp.StapParserPLUS] && set[sp.StapParserOROR]
	names := sp.StapParserParserStaticData.LiteralNames
	types := make([]int, 0, len(set))
	for t := range set {
		types = append(types, t)
	}
	slices.Sort(types)
	for _, t := range types {
		switch {
		case t < 0:
			if t == antlr.TokenEOF {
				add("the end")
			}
		case statement && t != sp.StapParserRBRACE, expression && startsExpr(t), operator && goesOnExpr(t):
			// Said in one word below.
		case t == sp.StapParserID || t == sp.StapParserFUNC_NAME:
			add("a name")
		case t == sp.StapParserNUMBER:
			add("a number")
		case t == sp.StapParserSTRING:
			add("a string")
		case t == sp.StapParserEMBEDDED:
			add("%{")
		case t == sp.StapParserLIST_OPEN:
			add("[")
		case t == sp.StapParserATWORD:
			add("an operator such as @count")
		case t == sp.StapParserU_MINUS || t == sp.StapParserSTRING_MORE || t == sp.StapParserRETURN_VOID:
		case t == sp.StapParserCOMMA:
			add("a comma")
		case t < len(names) && names[t] != "":
			add(strings.Trim(names[t], "'"))
		}
	}
	switch {
	case statement:
		ws = append([]string{"a statement"}, ws...)
	case expression:
		ws = append([]string{"an expression"}, ws...)
	case operator:
		add("an operator")
	}
	switch n := len(ws); n {
	case 0:
		return ""
	case 1:
		return ws[0]
	default:
		return strings.Join(ws[:n-1], ", ") + " or " + ws[n-1]
	}
}

func startsExpr(t int) bool {
	switch t {
	case sp.StapParserLPAREN, sp.StapParserFUNC_NAME, sp.StapParserLIST_OPEN, sp.StapParserID, sp.StapParserTARGET,
		sp.StapParserEMBEDDED, sp.StapParserNUMBER, sp.StapParserSTRING, sp.StapParserU_PLUS, sp.StapParserU_MINUS,
		sp.StapParserBANG, sp.StapParserTILDE,
		sp.StapParserADDR, sp.StapParserPRE_INC, sp.StapParserPRE_DEC:
		return true
	}
	return false
}

func goesOnExpr(t int) bool {
	switch t {
	case sp.StapParserLBRACK, sp.StapParserARROW, sp.StapParserDOLLARS, sp.StapParserINC, sp.StapParserDEC,
		sp.StapParserQUEST, sp.StapParserSTAR, sp.StapParserSLASH, sp.StapParserMOD, sp.StapParserPLUS,
		sp.StapParserMINUS, sp.StapParserDOT,
		sp.StapParserSHL, sp.StapParserSHR, sp.StapParserSHR3, sp.StapParserLT, sp.StapParserGT, sp.StapParserLE,
		sp.StapParserGE,
		sp.StapParserEQ, sp.StapParserNE, sp.StapParserMATCH, sp.StapParserNMATCH, sp.StapParserIN, sp.StapParserAND,
		sp.StapParserXOR,
		sp.StapParserOR, sp.StapParserANDAND, sp.StapParserOROR, sp.StapParserASSIGN, sp.StapParserAGG,
		sp.StapParserADD_A,
		sp.StapParserSUB_A, sp.StapParserMUL_A, sp.StapParserDIV_A, sp.StapParserMOD_A, sp.StapParserSHL_A,
		sp.StapParserSHR_A,
		sp.StapParserAND_A, sp.StapParserXOR_A, sp.StapParserOR_A, sp.StapParserCAT_A:
		return true
	}
	return false
}
