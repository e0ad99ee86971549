package dw

import "github.com/gostap/gostap/compiler/loc"

// register is the 64-bit value of a general register.
func (e *Env) register(n uint64) (loc.Prog, error) {
	m := e.on()
	if n >= uint64(len(m.Registers)) {
		return loc.Prog{}, unavailable("it is computed from register %s, which cannot be read", m.RegName(n))
	}
	return loc.Register(int(n)), nil
}
