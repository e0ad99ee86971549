package pp

import (
	"github.com/antlr4-go/antlr/v4"

	"github.com/gostap/gostap/grammar/internal/stapparse"
)

// retyper gives tokens the types that depend on what stands beside them. The
// language has no statement ends and its parser is greedy, so the token before
// decides what + - & ++ -- [ mean: behind the end of an operand they go on with
// it, anywhere else they begin one.
type retyper struct {
	ahead   []*Tok // read, not yet given out
	chain   bool   // the token before ends a variable of the program, or a value in it
	based   bool   // it is an operator word whose result is one
	operand bool   // the token before ends an operand
	last    int    // type of the token before
	closed  bool   // the token before ends an operand that no ++ follows: the array of in, the pattern of =~
	stepped bool   // the variable that is being read has a ++ or -- before it
	open    []bracket
	// pairs are the braces closed since open was empty last, in the order of their ends.
	pairs [][2]*Tok
	wrong *Tok // the last closing bracket that closed nothing

	// In the list of points behind "probe" or within its braces, keywords may be
	// names (.return, .function).
	points    bool
	start     bool // a component may begin here
	groups    int  // braces open within the list
	nameGoing bool // the token before is part of a component's name
}

type bracket struct {
	tok     *Tok
	control bool // of if ( ), while ( ), for ( ), foreach ( ), catch ( )
	points  bool // the list of points goes on behind the bracket
	stepped bool // before the bracket, see Filter.stepped
	chain   bool // what follows the closing bracket goes on with a variable of the program
}

// Next gives the next token for the parser.
func (x *Filter) Next() *Tok {
	x.fetch(1)
	t := x.ahead[0]
	if t.Type == antlr.TokenEOF {
		return t
	}
	x.ahead = x.ahead[1:]
	if x.chain && t.Type == stapparse.StapLexerDOT {
		x.assertion(t)
	}
	if t.Type == stapparse.StapLexerNUMBER && !x.points {
		x.fraction(t)
	}
	x.retype(t)
	x.closed = x.closes(t.Type)
	x.last = t.Type
	return t
}

// closes reports whether a token of type typ, which comes next, ends an operand that no ++ follows.
func (x *Filter) closes(typ int) bool {
	switch typ {
	case stapparse.StapLexerID:
		return x.last == stapparse.StapLexerIN
	case stapparse.StapLexerSTRING:
		return x.last == stapparse.StapLexerMATCH || x.last == stapparse.StapLexerNMATCH
	case stapparse.StapLexerSTRING_MORE:
		return x.closed
	}
	return false
}

// peek is the type of the token after the one being retyped.
func (x *Filter) peek() int {
	x.fetch(1)
	return x.ahead[0].Type
}

// fetch reads on until n tokens are there that were not given out, or the end is.
func (x *Filter) fetch(n int) {
	for k := len(x.ahead); k < n && (k == 0 || x.ahead[k-1].Type != antlr.TokenEOF); k++ {
		x.ahead = append(x.ahead, x.preprocessed())
	}
}

// PointsOnly begins in a list of points, as if "probe" had been read.
func (x *Filter) PointsOnly() { x.points, x.start = true, true }

func (x *Filter) retype(t *Tok) {
	if x.points {
		x.retypePoint(t)
		return
	}
	ends, chain := false, false
	if x.operand && !continues(t.Type) {
		x.stepped = false
	}
	switch t.Type {
	case stapparse.StapLexerTARGET, stapparse.StapLexerASSERTION:
		ends, chain = true, true
	case stapparse.StapLexerARROW:
		chain = x.chain
	case stapparse.StapLexerID, stapparse.StapLexerATWORD:
		if x.last != stapparse.StapLexerARROW && x.peek() == stapparse.StapLexerLPAREN {
			t.Type = stapparse.StapLexerFUNC_NAME
		}
		ends, chain = true, x.chain && x.last == stapparse.StapLexerARROW
	case stapparse.StapLexerDOLLARS, stapparse.StapLexerNUMBER, stapparse.StapLexerEMBEDDED:
		ends = true
	case stapparse.StapLexerSTRING:
		if x.last == stapparse.StapLexerSTRING || x.last == stapparse.StapLexerSTRING_MORE {
			t.Type = stapparse.StapLexerSTRING_MORE
		}
		ends = true
	case stapparse.StapLexerLPAREN:
		x.pushBracket(t, bracket{control: isControl(x.last), chain: x.based})
	case stapparse.StapLexerRPAREN:
		b := x.popBracket(t, stapparse.StapLexerLPAREN)
		ends, chain = !b.control, b.chain
		if b.points {
			x.points, x.start, x.nameGoing = true, false, false
		}
	case stapparse.StapLexerLBRACE:
		x.pushBracket(t, bracket{})
	case stapparse.StapLexerRBRACE:
		x.popBracket(t, stapparse.StapLexerLBRACE)
	case stapparse.StapLexerLBRACK:
		if !x.operand {
			t.Type = stapparse.StapLexerLIST_OPEN
		}
		x.pushBracket(t, bracket{chain: x.chain})
	case stapparse.StapLexerRBRACK:
		ends, chain = true, x.popBracket(t, stapparse.StapLexerLBRACK).chain
	case stapparse.StapLexerINC, stapparse.StapLexerDEC:
		// Behind one ++ the next begins another statement: x++ ++y.
		ends = x.operand && !x.closed && x.last != stapparse.StapLexerINC && x.last != stapparse.StapLexerDEC
		// So it does behind a variable that has one before it, if a variable follows: --x ++y.
		if ends && x.stepped {
			ends = !isVariable(x.peek())
		}
		if !ends {
			t.Type, x.stepped = prefix(t.Type), true
		}
	case stapparse.StapLexerPLUS, stapparse.StapLexerMINUS, stapparse.StapLexerAND:
		if !x.operand {
			t.Type = prefix(t.Type)
		}
	case stapparse.StapLexerRETURN:
		if n := x.peek(); n == stapparse.StapLexerSEMI || n == stapparse.StapLexerRBRACE {
			t.Type = stapparse.StapLexerRETURN_VOID
		}
	case stapparse.StapLexerPROBE:
		x.points, x.start, x.groups, x.nameGoing = true, true, 0, false
	}
	if x.last == stapparse.StapLexerARROW && IsKeyword(t.Type) {
		t.Type, ends, x.points = stapparse.StapLexerID, true, false // a member named like a keyword
		chain = x.chain
	}
	x.operand, x.chain = ends, chain
	x.based = t.Type == stapparse.StapLexerFUNC_NAME && (t.Text == "@cast" || t.Text == "@var" || t.Text == "@entry")
}

// retypePoint is retype within a list of probe points.
func (x *Filter) retypePoint(t *Tok) {
	start, going := x.start, x.nameGoing
	x.start, x.nameGoing, x.operand = false, false, false
	switch t.Type {
	case stapparse.StapLexerID, stapparse.StapLexerSTAR, stapparse.StapLexerNUMBER:
		x.nameGoing = true
	case stapparse.StapLexerDOT, stapparse.StapLexerCOMMA, stapparse.StapLexerASSIGN, stapparse.StapLexerADD_A:
		x.start = true
	case stapparse.StapLexerLBRACE:
		x.pushBracket(t, bracket{})
		if start {
			x.groups++
			x.start = true
		} else {
			x.points = false
		}
	case stapparse.StapLexerRBRACE:
		x.popBracket(t, stapparse.StapLexerLBRACE)
		if x.groups--; x.groups < 0 {
			x.points = false
		}
	case stapparse.StapLexerLPAREN:
		// A literal or, behind if, an expression: points again behind the ).
		x.pushBracket(t, bracket{points: true, control: true})
		x.points = false
	default:
		named := start && (x.groups > 0 || x.last == stapparse.StapLexerDOT || IsKeyword(t.Type) && x.afterName())
		if IsKeyword(t.Type) && (named || going && t.Glued) {
			t.Type = stapparse.StapLexerID
			x.nameGoing = true
		} else if t.Type == stapparse.StapLexerPROBE || t.Type == stapparse.StapLexerFUNCTION ||
			t.Type == stapparse.StapLexerGLOBAL || t.Type == stapparse.StapLexerPRIVATE {
			// The body is missing; another declaration begins.
			x.points = t.Type == stapparse.StapLexerPROBE
			x.start = x.points
		}
	}
}

// afterName reports whether the next token is one that follows the first word of a probe point. Then even a
// keyword is a name; otherwise it begins something else, and the list of points is what is wrong.
func (x *Filter) afterName() bool {
	switch x.peek() {
	case stapparse.StapLexerDOT, stapparse.StapLexerCOMMA, stapparse.StapLexerASSIGN, stapparse.StapLexerADD_A,
		stapparse.StapLexerLBRACE, stapparse.StapLexerQUEST, stapparse.StapLexerBANG:
		return true
	}
	return false
}

// continues reports whether a token belongs to the variable that it follows.
func continues(typ int) bool {
	switch typ {
	case stapparse.StapLexerLBRACK, stapparse.StapLexerRBRACK, stapparse.StapLexerARROW, stapparse.StapLexerINC,
		stapparse.StapLexerDEC:
		return true
	}
	return false
}

// isVariable reports whether a token begins a variable.
func isVariable(typ int) bool {
	return typ == stapparse.StapLexerID || typ == stapparse.StapLexerTARGET || typ == stapparse.StapLexerATWORD
}

func isControl(typ int) bool {
	switch typ {
	case stapparse.StapLexerIF, stapparse.StapLexerWHILE, stapparse.StapLexerFOR, stapparse.StapLexerFOREACH,
		stapparse.StapLexerCATCH:
		return true
	}
	return false
}

func prefix(typ int) int {
	switch typ {
	case stapparse.StapLexerINC:
		return stapparse.StapLexerPRE_INC
	case stapparse.StapLexerDEC:
		return stapparse.StapLexerPRE_DEC
	case stapparse.StapLexerPLUS:
		return stapparse.StapLexerU_PLUS
	case stapparse.StapLexerMINUS:
		return stapparse.StapLexerU_MINUS
	}
	return stapparse.StapLexerADDR
}

func (x *Filter) pushBracket(t *Tok, b bracket) {
	b.tok, b.stepped, x.stepped = t, x.stepped, false
	if len(x.open) == 0 {
		x.pairs = x.pairs[:0]
	}
	x.open = append(x.open, b)
}

// popBracket closes the innermost bracket with t if it is of the kind that opens with
// typ. A wrong one stays: the parser will say so at this token.
func (x *Filter) popBracket(t *Tok, typ int) bracket {
	n := len(x.open)
	if n == 0 {
		x.wrong = t
		return bracket{}
	}
	b := x.open[n-1]
	have := b.tok.Type
	if have == stapparse.StapLexerLIST_OPEN {
		have = stapparse.StapLexerLBRACK
	}
	if have != typ {
		x.wrong = t
		return bracket{}
	}
	x.open, x.stepped = x.open[:n-1], b.stepped
	if typ == stapparse.StapLexerLBRACE {
		x.pairs = append(x.pairs, [2]*Tok{b.tok, t})
	}
	return b
}

// Closes reports whether t, a closing bracket given out last, closed one that was open.
func (x *Filter) Closes(t *Tok) bool { return x.wrong != t }

// Misaligned finds among the braces closed in this declaration the first whose }
// begins a line further left than the line of its {: its own } may be the one
// that is missing.
func (x *Filter) Misaligned() (open, end *Tok) {
	for _, p := range x.pairs {
		a, _, ok := indent(p[0])
		b, first, ok2 := indent(p[1])
		if ok && ok2 && first && b < a {
			return p[0], p[1]
		}
	}
	return nil, nil
}

// indent measures the white space that t's line begins with; first says that t is
// the first thing on it. ok is false in text that was expanded.
func indent(t *Tok) (width int, first, ok bool) {
	f := t.in
	if f.kind != fileFrame {
		return 0, false, false
	}
	at := int(t.Pos - f.pos(0))
	start := at
	for start > 0 && f.text[start-1] != '\n' {
		start--
	}
	for i := start; i < at; i++ {
		switch f.text[i] {
		case ' ':
			width++
		case '\t':
			width += 8 - width%8
		default:
			return width, false, true
		}
	}
	return width, true, true
}

// Open lists the brackets that are open where reading has come to, outermost first.
func (x *Filter) Open() []*Tok {
	ts := make([]*Tok, len(x.open))
	for i, b := range x.open {
		ts[i] = b.tok
	}
	return ts
}

// Restart forgets open brackets, for a parse that begins anew at t, the token
// given out last, or at the next one if t is nil.
func (x *Filter) Restart(t *Tok) {
	x.open = x.open[:0]
	x.operand, x.last, x.points, x.closed = false, 0, false, false
	x.chain, x.based = false, false
	if t != nil {
		x.retype(t)
		x.last = t.Type
	}
}
