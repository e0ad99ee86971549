package structs

import "github.com/gostap/gostap/compiler/types"

// gap is room in front of a member that nothing uses: whole bytes, and bits beside a bit field.
type gap struct{ bytes, bits int64 }

// gaps are what a structure does not use.
type gaps struct {
	// before has one for each member.
	before []gap
	// end is the room behind the last member.
	end gap
	// holes and bitHoles count those in front of members, holeBytes and holeBits are their sums.
	holes, bitHoles     int
	holeBytes, holeBits int64
	// sum is how many bytes the members take that are no bit fields, sumBits how many bits those take that are.
	sum, sumBits int64
	members      int
}

// width is how many bytes a member takes, where it is no bit field.
func width(f *types.Field) int64 {
	if f.Type == nil || f.Type.Size < 0 {
		return 0 // int x[], and what is known by name only
	}
	return f.Type.Size
}

// find finds the room that t does not use. A union has none in front of its members.
func find(t *types.Ctype) gaps {
	fields := t.Fields()
	g := gaps{before: make([]gap, len(fields))}
	if t.Kind == types.Union {
		g.members = len(fields)
		return g
	}
	var used int64    // the bit behind the last member
	var storage int64 // behind the word that the last bit field lies in, in bits
	fields0 := false  // the last member was a bit field
	limit := 8 * t.Size
	for i := range fields {
		f := &fields[i]
		if f.Virtual {
			continue
		}
		g.members++
		start := 8 * f.Off
		if f.BitSize > 0 {
			start += f.BitOff
		}
		var h gap
		if fields0 { // what is left of the last bit field's word
			end := min(start, storage)
			if end > used {
				h.bits, used = end-used, end
			}
		}
		if f.BitSize > 0 {
			if word := 8 * f.Off; used < word && word <= start {
				h.bytes, used = (word-used)/8, word
			}
			h.bits += max(0, start-used)
			g.sumBits += f.BitSize
			used, storage, fields0 = start+f.BitSize, 8*(f.Off+width(f)), true
		} else {
			h.bytes = max(0, start/8-used/8)
			g.sum += width(f)
			used, fields0 = start+8*width(f), false
		}
		g.before[i] = h
		if h.bytes > 0 {
			g.holes++
			g.holeBytes += h.bytes
		}
		if h.bits > 0 {
			g.bitHoles++
			g.holeBits += h.bits
		}
	}
	if fields0 {
		if end := min(limit, storage); end > used {
			g.end.bits, used = end-used, end
		}
	}
	g.end.bytes = max(0, t.Size-(used+7)/8)
	return g
}
