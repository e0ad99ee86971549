package sel_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gostap/gostap/backend-bpf/internal/sel"
	"github.com/gostap/gostap/compiler/ir/irtest"
)

// formatValues are at the ends of ranges, of numbers of digits and of signs.
var formatValues = []string{"0", "1", "-1", "7", "-8", "9", "10", "-10", "15", "16", "255", "-999", "12345678",
	"-2147483648", "4294967295", "999999999999999999", "1000000000000000000", "-1000000000000000000",
	"9223372036854775807", "-9223372036854775808"}

// numbers is a program whose handler writes the next of formatValues in each of some forms, whole and cut off after 7
// bytes.
func numbers(forms []string) string {
	var b strings.Builder
	b.WriteString("limits MAXERRORS=100\nglobal at long\nglobal vals long [long] size 64\n\nprobe \"values\" {\n  " +
		"site uprobe\nb0:\n")
	for i, v := range formatValues {
		fmt.Fprintf(&b, "  mset @vals[%d], %s\n", i+1, v)
	}
	b.WriteString("  end\n}\n\nprobe \"write\" {\n  site uprobe\n  long r0, r1, r4\n  string r2 100, r3 7\nb0:\n  r4 " +
		"= gget @at\n  r4 = add r4, 1\n  gset @at, r4\n  r0 = mget @vals[r4]\n  r1 = add r4, 5\n")
	for _, f := range forms {
		args := strings.Repeat("r1, ", strings.Count(f, "*")) + "r0"
		for _, dst := range []string{"r2", "r3"} {
			fmt.Fprintf(&b, "  %s = sprint \"<%s>\"(%s)\n  print \"%%s\\n\"(%s)\n", dst, f, args, dst)
		}
	}
	b.WriteString("  end\n}\n")
	return b.String()
}

// TestNumbersAsText: numbers that handlers write as text are those that the interpreter writes, with all flags, widths
// and precisions.
func TestNumbersAsText(t *testing.T) {
	flags := map[string][]string{"d": {"", "+", " ", "-", "0", "+0", " 0", "-+", "- "}, "u": {"", "-", "0"},
		"x": {"", "#", "0", "#0", "-#"}, "X": {"", "#", "0"}, "o": {"", "#", "0", "-#"}, "p": {"", "-"}}
	for conv, fs := range flags {
		for _, flag := range fs {
			t.Run(flag+conv, func(t *testing.T) {
				var all []string
				for _, field := range []string{"", "5", ".3", "12.4", "*", ".*", "30.25"} {
					all = append(all, "%"+flag+field+conv)
				}
				p := irtest.Parse(t, numbers(all))
				for _, may := range forms() {
					same(t, p, len(formatValues), sel.Features{MayGoto: may})
				}
			})
		}
	}
}
