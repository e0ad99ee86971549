package dwexpr

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/loc"
)

// TestSlotAddress: the address of a slot to which a value was moved is no value, and nothing is worked out of it.
func TestSlotAddress(t *testing.T) {
	const (
		breg3, breg7, fbreg, deref, plusUconst, lit1 = 0x73, 0x77, 0x91, 0x06, 0x23, 0x31
		plus, and, neg, convert, stackValue, piece   = 0x22, 0x1a, 0x1f, 0xa8, 0x9f, 0x93
		derefType                                    = 0xa6
	)
	slot := []byte{breg7, 12} // its address
	join := func(begin []byte, ops ...byte) []byte { return append(bytes.Clone(begin), ops...) }
	for _, c := range []struct {
		name string
		expr []byte
		want string // what a place begins with, or "false" for an error that says so
	}{
		{"in the slot", join(slot), "[reg 7; const 12"},
		{"its address", join(slot, stackValue), "false"},
		{"converted", join(slot, convert, 0x10, stackValue), "false"},
		{"beside it", join(slot, plusUconst, 24, stackValue), "false"},
		{"a sum", []byte{breg3, 0, breg7, 12, plus, stackValue}, "false"},
		{"a part of it", join(slot, lit1, and, stackValue), "false"},
		{"negative", join(slot, neg, stackValue), "false"},
		{"loaded beside it", join(slot, plusUconst, 24, deref, stackValue), "false"},
		{"loaded with a type beside it", join(slot, plusUconst, 24, derefType, 4, 0x10, stackValue), "false"},
		{"loaded", join(slot, deref, stackValue), "00+8 reg 7"},
		{"loaded, then more", join(slot, deref, plusUconst, 24, stackValue), "00+8 reg 7"},
		{"a pointer to an object of the frame", []byte{fbreg, 12, stackValue}, "00+8 reg 6"},
		{"another register", []byte{breg3, 12, stackValue}, "00+8 reg 3"},
		{"as a piece", []byte{0x53, piece, 4, breg7, 12, convert, 0x10, stackValue, piece, 4},
			"00+4 reg 3, 04+4 lost"},
	} {
		env := testEnv()
		env.Spill = func(reg uint64) bool { return reg == 7 }
		for _, rebased := range []bool{false, true} {
			if rebased {
				env.SP = func() (loc.Prog, error) { return loc.Register(7), nil }
			}
			p, err := Place(c.expr, tLong, env)
			switch {
			case c.want == "false":
				if err == nil || !strings.Contains(err.Error(), "error of LLVM") {
					t.Errorf("%s: %s, %v", c.name, placeText(p), err)
				}
			case err != nil || !strings.HasPrefix(placeText(p), c.want):
				t.Errorf("%s: %s, not %s; %v", c.name, placeText(p), c.want, err)
			}
		}
		env = testEnv() // of gcc
		if _, err := Place(c.expr, tLong, env); err != nil {
			t.Errorf("%s, not a slot: %v", c.name, err)
		}
	}
}
