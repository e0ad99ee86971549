package dwexpr

import "testing"

func FuzzExpression(f *testing.F) {
	f.Add([]byte{0x91, 0x10}, int64(16), true)
	f.Add([]byte{0x50, 0x93, 4, 0x51, 0x93, 8}, int64(16), true)
	f.Add([]byte{0x75, 0, 0xa8, 0x10, 0x9f}, int64(8), false)
	f.Add([]byte{0xa3, 1, 0x55, 0x9f}, int64(4), false)
	f.Fuzz(func(t *testing.T, expr []byte, size int64, isGo bool) {
		ty := structOf(isGo, fieldsOf(size)...)
		env := testEnv()
		env.AtEntry = isGo
		p, err := Place(expr, ty, env)
		if err != nil {
			return
		}
		// What is in range for users: pieces within the object, steps that refer back.
		if p.InMemory {
			checkProg(t, p.Addr.Steps)
		}
		for _, x := range p.Pieces {
			if x.Off < 0 || x.Size < 0 || x.Off+x.Size > ty.Size {
				t.Errorf("piece %+v of an object of %d bytes", x, ty.Size)
			}
			if !x.Lost && x.Vector == 0 {
				if x.Size > 8 {
					t.Errorf("piece %+v", x)
				}
				checkProg(t, x.Val.Steps)
			}
		}
	})
}
