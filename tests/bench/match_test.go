package bench

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkMatch measures what a regular expression adds to a hit that reads the string anyway, and what the peer's
// comparison of a prefix adds to the same.
func BenchmarkMatch(b *testing.B) {
	build(b)
	peer := havePeer(b)
	fn := fmt.Sprintf("process(%q).function(\"main.step\")", busy)
	const path = "/usr/lib/x86_64-linux-gnu/libsystemd-shared.so.252"
	long := "global n, s probe begin { s = \"" + path + path + path + path + "\" } probe " + fn
	uprobe := "uprobe:" + busy + ":\"main.step\" "
	cases := []struct{ name, stap, bt string }{
		{"the string alone", "global n probe " + fn + " { if (strlen($name) > 3) n++ }", uprobe +
			"{ $s = str(reg(\"bx\")); @n = count(); }"},
		{"$name =~ \"^loop\"", "global n probe " + fn + " { if ($name =~ \"^loop\") n++ }", uprobe +
			"{ if (strncmp(str(reg(\"bx\")), \"loop\", 4) == 0) { @n = count(); } }"},
		{"$name =~ \"oo\"", "global n probe " + fn + " { if ($name =~ \"oo\") n++ }", ""},
		{"200 bytes alone", long + " { if (strlen(s) > 3) n++ }", ""},
		{"200 bytes, first decides", long + " { if (s !~ \"^/etc/\") n++ }", ""},
		{"200 bytes, all looked at", long + " { if (s =~ \"\\\\.so(\\\\.[0-9]+)*$\") n++ }", ""},
		{"200 bytes, strpos", long + " { if (isinstr(s, \"needle\") == 0) n++ }", ""},
	}
	const calls, rounds = 100_000, 5
	ours, theirs := make([][]float64, len(cases)), make([][]float64, len(cases))
	for range rounds {
		for i, c := range cases {
			t := gostapRun(b, c.stap)
			ns, _ := loop(b, calls)
			t.stop()
			ours[i] = append(ours[i], ns)
			if peer && c.bt != "" {
				t := bpftraceRun(b, c.bt)
				time.Sleep(200 * time.Millisecond)
				ns, _ := loop(b, calls)
				t.stop()
				theirs[i] = append(theirs[i], ns)
			}
		}
	}
	for i, c := range cases {
		base := 0
		if i > 3 {
			base = 3
		}
		o := median(ours[i])
		fmt.Printf("match   %-26s gostap %6.0f ns (%+5.0f, ratio %.2f)", c.name, o, o-median(ours[base]),
			o/median(ours[base]))
		if len(theirs[i]) > 0 {
			p := median(theirs[i])
			fmt.Printf("  bpftrace %6.0f ns (%+5.0f, ratio %.2f)", p, p-median(theirs[0]), p/median(theirs[0]))
		}
		fmt.Println()
	}
}
