package main

import (
	"os"
	"strings"
)

var calls int

//go:noinline
func one(a int) int { calls++; return a*3 + calls%5 }

//go:noinline
func two(a, b int) (int, int) { calls++; return b - calls%3, a + 1 }

//go:noinline
func get(a int) (string, int) { calls++; return strings.Repeat("x", a&3) + "y", calls % 9 }

//go:noinline
func half(a int) (float64, bool) { calls++; return float64(a) / 2, calls&1 == 0 }

//go:noinline
func list(a int) []int { calls++; return []int{a, calls}[:1+calls&1] }

//go:noinline
func bump(p *int) { *p += 7 }

//go:noinline
func sink(a int) { calls += a & 1 }

//go:noinline
func sinks(a string) { calls += len(a) }

//go:noinline
func sinkf(a float64) { calls += int(a) & 1 }

//go:noinline
func sinkl(a []int) { calls += len(a) }

func small(a, b int) int {
	if a > b {
		return a - b
	}
	return one(b) - a
}

//go:noinline
func f17(p int, q string, r float64) int {
	if p&2 == 0 {
		sink(p)
	} else {
		b518 := ("z" + q)[p&1:]
		_ = b518
		if p&1 == 0 {
			a519 := small(p, p)
			_ = a519
			if a519&3 == 0 {
				a520 := one(a519)
				_ = a520
				for n521 := 0; n521 < 1; n521++ {
					d522 := one(a520)
					_ = d522
					for n523 := 0; n523 < 2; n523++ {
						a524 := small(a520, 42)
						_ = a524
						bump(&p)
						a525 := d522 - d522
						_ = a525
						sinks(b518)
						b526 := 7
						_ = b526
						if 16&7 == 1 {
							break
						}
					}
					e527, f528 := two(a519, d522)
					_, _ = e527, f528
					e529, f530 := half(a519)
					_, _ = e529, f530
					for n531 := 0; n531 < 1; n531++ {
						sink(d522)
						e532, f533 := two(a520, e527)
						_, _ = e532, f533
						e534, f535 := two(a519, p)
						_, _ = e534, f535
						e536, f537 := half(14)
						_, _ = e536, f537
						if d522&7 == 1 {
							continue
						}
					}
					if a520&7 == 1 {
						break
					}
				}
			}
		} else {
			sink(p)
			d538 := list(p)
			_ = d538
			b539 := len(q) + p
			_ = b539
			b540 := len(q) + 13
			_ = b540
		}
		sink(p)
		sinkl(nil)
	}
	if p&3 == 0 {
		sinkl(nil)
		a541 := p * p
		_ = a541
	} else {
		sink(p)
		sink(p)
		sink(p)
	}
	sink(p)
	return p
}

//go:noinline
func f20(p int, q string, r float64) int {
	if 23&1 == 0 {
		b622 := 30 * p
		_ = b622
		d623 := one(b622)
		_ = d623
		sinkl(nil)
	} else {
		a624 := one(p)
		_ = a624
		sinkl(nil)
		for n625 := 0; n625 < 4; n625++ {
			b626 := list(a624)
			_ = b626
			b627 := 10 ^ a624
			_ = b627
			for n628 := 0; n628 < 4; n628++ {
				c629 := len(q) + 13
				_ = c629
				d630 := one(b627)
				_ = d630
			}
		}
	}
	if p&3 == 0 {
		e631, f632 := half(p)
		_, _ = e631, f632
	} else {
		b633 := one(30)
		_ = b633
		b634 := small(44, p)
		_ = b634
	}
	b635 := list(p)
	_ = b635
	e636, f637 := half(p)
	_, _ = e636, f637
	e638, f639 := half(p)
	_, _ = e638, f639
	for n640 := 0; n640 < 3; n640++ {
		e641, f642 := two(15, p)
		_, _ = e641, f642
		a643 := list(p)
		_ = a643
		b644 := list(7)
		_ = b644
		b645 := one(f642)
		_ = b645
		a646 := 74
		_ = a646
	}
	c647 := list(p)
	_ = c647
	sinkf(e636)
	a648 := len(q) + p
	_ = a648
	if a648&1 == 0 {
		d649 := p * 32
		_ = d649
		e650, f651 := half(a648)
		_, _ = e650, f651
		b652 := ("z" + q)[d649&1:]
		_ = b652
		c653 := ("z" + q)[d649&1:]
		_ = c653
	}
	for n654 := 0; n654 < 4; n654++ {
		sinkf(e638)
		e655, f656 := half(p)
		_, _ = e655, f656
		e657, f658 := half(a648)
		_, _ = e657, f658
		if p&2 == 0 {
			b659 := a648 * p
			_ = b659
		}
		if p&2 == 0 {
			for n660 := 0; n660 < 3; n660++ {
				b661 := one(47)
				_ = b661
			}
		}
	}
	return a648
}

func main() {
	for k := range 3 {
		sink(f17(k*5, os.Args[0][:k], float64(k)))
	}
	for k := range 3 {
		sink(f20(k*5, os.Args[0][:k], float64(k)))
	}
}
