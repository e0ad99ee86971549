package regex

// opcode of an instruction of the matching machine.
type opcode uint8

const (
	opSet   opcode = iota // one byte of the set, then on to x
	opSplit               // x or y, x is preferred
	opJump                // x
	opSave                // the position into slot n, then x
	opBegin               // only at the begin
	opEnd                 // only at the end
	opMatch
)

type inst struct {
	op   opcode
	x, y int32
	n    int32 // index of the set, or slot
}

// maxInsts bounds the machine, and with it the time that a byte of text takes.
const maxInsts = 4096

type compiler struct {
	code []inst
	// steps counts what was looked at, since repeating nothing emits nothing.
	steps int
	sets  []set
	memo  map[set]int32
}

func (c *compiler) emit(i inst) int32 {
	if len(c.code) >= maxInsts {
		panic(&Error{Msg: "the pattern is too large: its repetitions multiply"})
	}
	c.code = append(c.code, i)
	return int32(len(c.code) - 1)
}

// gen emits the code of n, which goes on at the next instruction.
func (c *compiler) gen(n *node) {
	if c.steps++; c.steps > 8*maxInsts {
		panic(&Error{Msg: "the pattern is too large: its repetitions multiply"})
	}
	switch n.kind {
	case kSet:
		k, ok := c.memo[n.set]
		if !ok {
			k = int32(len(c.sets))
			c.sets = append(c.sets, n.set)
			c.memo[n.set] = k
		}
		at := c.emit(inst{op: opSet, n: k})
		c.code[at].x = at + 1
	case kBegin, kEnd:
		op := opBegin
		if n.kind == kEnd {
			op = opEnd
		}
		at := c.emit(inst{op: op})
		c.code[at].x = at + 1
	case kCat:
		for _, s := range n.subs {
			c.gen(s)
		}
	case kGroup:
		at := c.emit(inst{op: opSave, n: int32(2 * n.group)})
		c.code[at].x = at + 1
		c.gen(n.subs[0])
		at = c.emit(inst{op: opSave, n: int32(2*n.group + 1)})
		c.code[at].x = at + 1
	case kAlt:
		var outs []int32
		for i, s := range n.subs {
			if i == len(n.subs)-1 {
				c.gen(s)
				break
			}
			split := c.emit(inst{op: opSplit})
			c.code[split].x = split + 1
			c.gen(s)
			outs = append(outs, c.emit(inst{op: opJump}))
			c.code[split].y = int32(len(c.code))
		}
		for _, o := range outs {
			c.code[o].x = int32(len(c.code))
		}
	case kRepeat:
		c.repeat(n)
	}
}

func (c *compiler) repeat(n *node) {
	sub := n.subs[0]
	for range n.min {
		c.gen(sub)
	}
	if n.max < 0 {
		// A turn that takes nothing leads back to the split, which is not entered twice at one place.
		split := c.emit(inst{op: opSplit})
		c.code[split].x = split + 1
		c.gen(sub)
		back := c.emit(inst{op: opJump})
		c.code[back].x = split
		c.code[split].y = int32(len(c.code))
		return
	}
	var outs []int32
	for range n.max - n.min {
		split := c.emit(inst{op: opSplit})
		c.code[split].x = split + 1
		outs = append(outs, split)
		c.gen(sub)
	}
	for _, o := range outs {
		c.code[o].y = int32(len(c.code))
	}
}

// program makes the machine of a tree.
func program(n *node) (code []inst, sets []set, err error) {
	c := &compiler{memo: map[set]int32{}}
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			err = e
		}
	}()
	c.gen(n)
	c.emit(inst{op: opMatch})
	return c.code, c.sets, nil
}
