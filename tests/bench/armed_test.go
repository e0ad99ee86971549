package bench

import (
	"fmt"
	"testing"
)

// BenchmarkDisarmed measures what a hit costs whose probe is disarmed by its condition, beside one that counts and an
// empty program at the same place.
func BenchmarkDisarmed(b *testing.B) {
	build(b)
	fn := fmt.Sprintf("process(%q).function(\"main.step\")", busy)
	off, _ := pushOffset(b, busy, "main.step")
	change := " probe timer.s(100) { on++ lim++ }"
	cases := []struct{ name, stap string }{
		{"armed, n++", "global n, on = 1 probe " + fn + " if (on) { n++ } probe timer.s(100) { on++ }"},
		{"disarmed, one global", "global n, on probe " + fn + " if (on) { n++ } probe timer.s(100) { on++ }"},
		{"disarmed, two globals", "global n, on, lim = 5 probe " + fn + " if (on > lim) { n++ }" + change},
		{"disarmed, prints", "global on probe " + fn +
			" if (on) { printf(\"%s %d\\n\", execname(), $n) } probe timer.s(100) { on++ }"},
	}
	const calls, rounds = 100_000, 5
	var empty []float64
	ours := make([][]float64, len(cases))
	for range rounds {
		x := startBare(b, busy, off, "empty")
		ns, _ := loop(b, calls)
		x.Close()
		empty = append(empty, ns)
		for i, c := range cases {
			t := gostapRun(b, c.stap)
			ns, _ := loop(b, calls)
			t.stop()
			ours[i] = append(ours[i], ns)
		}
	}
	e := median(empty)
	for i, c := range cases {
		o := median(ours[i])
		fmt.Printf("armed   %-22s %6.0f ns  empty program %6.0f ns  (%+.0f, ratio %.2f)\n", c.name, o, e, o-e, o/e)
	}
}
