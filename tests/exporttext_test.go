package tests

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// saysAll prints in each way there is, and has globals of each kind that are printed at the end.
const saysAll = `global n, name, name2, calls, sizes, s metric "my_sizes", fl, sc, half, h, k metric "my_k" labels "of"
	probe begin {
		n = 3 name = "a\"b\n\x01é" calls["a\x80", 1] = 7 calls["b", 2] = 9 calls["c", -1] = 7
		sizes <<< 3 sizes <<< 7 s <<< 4 fl["x"] <<< 1 fl["y"] <<< 2 fl["y"] <<< 3
		half["a"] = 0.5 half["b"] = 10.0 half["c"] = 2.5 half["d"] = -1.0 name2["x"] = "b" name2["y"] = "c"
		sc <<< @scaled(1.25, 1000) sc <<< @scaled(2.5, 1000) h <<< 3 h <<< 100 k[1] = -1 k[2]++
		printf("no end") println("x\x80") print(1) log("logged") printf("%5d|%s\n", 3, "é")
		span("slow", 1000, n) println("")
	}
	probe end { print(@hist_log(h)) println("last") printf("%s", "cut") }`

// TestExportText: the destination "text" prints what is printed without --export, byte by byte; of several machines
// what each has in front of its lines, and what is added up.
func TestExportText(t *testing.T) {
	needRoot(t)
	bin(t, "gostap-export")
	never := ` global hits probe process("` + bin(t, "busyc") + `").begin { hits++ } probe timer.ms(50) { exit() }`
	for _, where := range []struct {
		args []string
		same func(s string) string
	}{
		{nil, strings.Clone},
		{[]string{"--remote", "direct"}, func(s string) string { return strings.ReplaceAll(s, "direct: ", "") }},
		// Machines say things at the same time.
		{[]string{"--remote", "direct", "--remote", "direct"}, sorted},
		{[]string{"--merge", "--remote", "direct", "--remote", "direct"}, sorted},
	} {
		t.Run(strings.Join(where.args, " "), func(t *testing.T) {
			args := append(slices.Clone(where.args), "-w", "-e", saysAll+never)
			plain, err := gostapRuns(t, args...)
			if err != nil || !strings.Contains(plain, "last") || !strings.Contains(plain, `calls["b",2]=9`) {
				t.Fatalf("%v: %q", err, plain)
			}
			if len(where.args) > 0 { // which has the order in which machines are told as well
				text, err := gostapRuns(t, append([]string{"--in-order=100ms"}, args...)...)
				rest, note, ok := strings.Cut(text, "the order of lines is right within ")
				if err != nil || !ok || where.same(rest) != where.same(plain) || strings.Count(note, "\n") != 1 {
					t.Errorf("%v: %q %q, not %q", err, rest, note, plain)
				}
			}
			text, err := gostapRuns(t, append([]string{"--export", "text"}, args...)...)
			if want, got := where.same(plain), where.same(text); err != nil || want != got {
				t.Errorf("%v: %q, not %q", err, got, want)
			}
		})
	}
}

// TestExportTextFull: an output that cannot be written ends the session, and a script that is refused is told alone.
func TestExportTextFull(t *testing.T) {
	needRoot(t)
	bin(t, "gostap-export")
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	var said strings.Builder
	cmd := exec.Command(bin(t, "gostap"), "--export", "text", "-e", `probe timer.ms(10) { println("hi") }`)
	cmd.Stdout, cmd.Stderr = full, &said
	if err := cmd.Run(); err == nil || strings.Count(said.String(), "no space left on device") != 1 {
		t.Errorf("%v: %s", err, &said)
	}
	if out, err := gostapRuns(t, "--export", "text", "-e", "probe begn { }"); err == nil ||
		strings.Count(out, "error") != 1 {
		t.Errorf("%v: %s", err, out)
	}
}
