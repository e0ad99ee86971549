package tests

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// writer makes random scripts that are right by construction: every name has its type
// and every loop an end.
type writer struct {
	*rand.Rand
	b     strings.Builder
	loops int
}

func (w *writer) pick(s ...string) string { return s[w.IntN(len(s))] }

func (w *writer) long(d int) string {
	if d <= 0 {
		return w.pick("i1", "i2", "gi", "0", "1", "7", "-3", "255", "4294967296", "9223372036854775807", "ai[i1]",
			"as[t1]", "am[i1, t1]")
	}
	switch w.IntN(12) {
	case 0:
		return fmt.Sprintf("(%s %s %s)", w.long(d-1), w.pick("/", "%"), w.pick("3", "-7", "(i1 | 1)", "i2"))
	case 1:
		return fmt.Sprintf("(%s %s %s)", w.text(d-1), w.pick("==", "!=", "<", ">", "<=", ">="), w.text(d-1))
	case 2:
		return fmt.Sprintf("strlen(%s)", w.text(d-1))
	case 3:
		return fmt.Sprintf("(%s ? %s : %s)", w.long(d-1), w.long(d-1), w.long(d-1))
	case 4:
		return fmt.Sprintf("fl(%s, %s)", w.long(d-1), w.text(d-1))
	case 5:
		return fmt.Sprintf("(%s in ai)", w.long(d-1))
	case 6:
		return w.pick("-", "~", "!") + w.long(d-1)
	case 7:
		return fmt.Sprintf("strtol(%s, 10)", w.text(d-1))
	case 8:
		return w.pick("i1++", "++i2", "gi--", "@count(st)", "@sum(st)", "@count(sa[i1])", "isinstr(t1, t2)",
			"stringat(t1, 0)")
	default:
		return fmt.Sprintf("(%s %s %s)", w.long(d-1), w.pick("+", "-", "*", "&", "|", "^", "<<", ">>", ">>>", "<", ">",
			"==", "!=", "<=", ">=", "&&", "||"), w.long(d-1))
	}
}

func (w *writer) text(d int) string {
	if d <= 0 {
		return w.pick("t1", "t2", "gt", `"a"`, `""`, `"some text"`, `"42x"`, "ta[t1]", "tb[i1]")
	}
	switch w.IntN(7) {
	case 0:
		return fmt.Sprintf("sprintf(\"%s\", %s)", w.pick("%d", "%5d|", "%-4x", "<%08x>", "%u"), w.long(d-1))
	case 1:
		return fmt.Sprintf("substr(%s, %s, %s)", w.text(d-1), w.pick("0", "1", "i1 & 7"), w.pick("3", "100", "gi & 15"))
	case 2:
		return fmt.Sprintf("ft(%s, %s)", w.text(d-1), w.long(d-1))
	case 3:
		return fmt.Sprintf("(%s ? %s : %s)", w.long(d-1), w.text(d-1), w.text(d-1))
	case 4:
		return fmt.Sprintf("sprint(%s, %s)", w.long(d-1), w.text(d-1))
	default:
		return fmt.Sprintf("(%s . %s)", w.text(d-1), w.text(d-1))
	}
}

func (w *writer) stmt(d int) {
	switch n := w.IntN(20); {
	case n < 3:
		fmt.Fprintf(&w.b, "%s %s %s\n", w.pick("i1", "i2", "gi", "ai[i1 & 7]", "as[t1]", "am[i2 & 3, t2]"),
			w.pick("=", "+=", "-=", "*=", "^=", "|="), w.long(2))
	case n < 6:
		fmt.Fprintf(&w.b, "%s %s %s\n", w.pick("t1", "t2", "gt", "ta[t1]", "tb[i1 & 7]"), w.pick("=", "=", ".="),
			w.text(2))
	case n < 8:
		fmt.Fprintf(&w.b, "printf(\"%%d %%s\\n\", %s, %s)\n", w.long(2), w.text(2))
	case n == 8:
		fmt.Fprintf(&w.b, "println(%s, \" \", %s)\n", w.text(2), w.long(3))
	case n == 9:
		fmt.Fprintf(&w.b, "st <<< %s\nsa[i1 & 3] <<< %s\n", w.long(2), w.long(1))
	case n == 10:
		fmt.Fprintf(&w.b, "delete %s\n", w.pick("ai[i1]", "as[t1]", "am[i1, t1]", "ta[t1]", "gi", "gt", "tb[i2]"))
	case n < 13 && d > 0:
		fmt.Fprintf(&w.b, "if (%s) {\n", w.long(2))
		w.block(d - 1)
		w.b.WriteString("} else {\n")
		w.block(d - 1)
		w.b.WriteString("}\n")
	case n < 15 && d > 0 && w.loops < 2:
		w.loops++
		v := fmt.Sprintf("k%d", w.loops)
		fmt.Fprintf(&w.b, "for (%s = 0; %s < %d; %s++) {\n", v, v, 1+w.IntN(5), v)
		w.block(d - 1)
		if w.IntN(2) == 0 {
			fmt.Fprintf(&w.b, "if (%s) %s\n", w.long(1), w.pick("break", "continue"))
		}
		w.b.WriteString("}\n")
		w.loops--
	case n == 15 && d > 0:
		w.b.WriteString("try {\n")
		w.block(d - 1)
		if w.IntN(2) == 0 {
			fmt.Fprintf(&w.b, "if (%s) error(%s)\n", w.long(1), w.text(1))
		}
		w.b.WriteString("} catch (t2) { println(\"caught \", t2) }\n")
	case n == 16 && d > 0:
		fmt.Fprintf(&w.b, "try { i1 = %s %s i2 } catch (t1) { println(t1) }\n", w.long(1), w.pick("/", "%"))
	default:
		fmt.Fprintf(&w.b, "%s\n", w.pick("i1++", "gi += 3", "t1 .= \"z\"", "println(gi)", "println(gt)"))
	}
}

func (w *writer) block(d int) {
	for range 1 + w.IntN(3) {
		w.stmt(d)
	}
}

func (w *writer) script() string {
	w.b.Reset()
	w.b.WriteString(`global gi = 5, gt = "start", ai[100], as[100], am[100], ta[100], tb[100], st, sa
function fl:long(p:long, q:string) { if (p > 3) return p - strlen(q) return p * 2 }
function ft:string(p:string, q:long) { if (q & 1) return p . "!" return substr(p, 0, 5) }
probe test {
i1 = 3 i2 = -2 t1 = "one" t2 = "two" as["one"] = 1 am[1, "one"] = 2 ta["x"] = "y" tb[1] = "b" ai[1] = 1 st <<< 1 sa[1] <<< 2
`)
	for range 6 + w.IntN(8) {
		w.stmt(2)
	}
	w.b.WriteString("println(i1, \" \", i2, \" \", t1, \" \", t2)\nprintln(gi, gt, @count(st), \" \", @sum(st))\n}\n")
	return w.b.String()
}

// TestRandomScripts runs random scripts in the interpreter and as eBPF programs, with and
// without the optimiser: the same is printed and the same errors are told. GOSTAP_SEED and
// GOSTAP_RUNS ask for others and more.
func TestRandomScripts(t *testing.T) {
	needRoot(t)
	gostap, traced := bin(t, "gostap"), bin(t, "stap")
	seed, runs := uint64(1), 12
	fmt.Sscan(os.Getenv("GOSTAP_SEED"), &seed)
	fmt.Sscan(os.Getenv("GOSTAP_RUNS"), &runs)
	for i := range runs {
		w := &writer{Rand: rand.New(rand.NewPCG(seed, uint64(i)))}
		script := w.script()
		t.Run(fmt.Sprint(seed, "-", i), func(t *testing.T) {
			t.Parallel()
			host := outcome(t, gostap, "-w", "--no-global-var-display", "--runtime=host", "-e",
				strings.Replace(script, "probe test {", "probe begin {", 1)+"\nprobe begin(9999) { exit() }\n")
			at := strings.Replace(script, "probe test {", `probe process.function("main.traceme") {`, 1)
			for _, opt := range []string{"-w", "-uw"} {
				kernel := outcome(t, gostap, opt, "--no-global-var-display", "--runtime=bpf", "-D", "MAXACTION=10000",
					"-e", at, "-c", traced+" >/dev/null")
				if strings.Contains(kernel, "the eBPF back end cannot translate this handler") {
					t.Logf("%s is refused: too long", opt)
					continue
				}
				if kernel != host {
					t.Errorf("%s\n--- kernel (%s)\n%s--- interpreter\n%s", script, opt, kernel, host)
				}
			}
		})
	}
}

// outcome is what a run prints, its errors without their columns, and its status.
func outcome(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, _ := timed(t, cmd)
	text := ""
	for _, line := range strings.Split(errs.String(), "\n") {
		line, _, _ = strings.Cut(line, " near ")
		text += line + "\n"
	}
	return fmt.Sprintf("%s%sstatus %d\n", out, text, cmd.ProcessState.ExitCode())
}
