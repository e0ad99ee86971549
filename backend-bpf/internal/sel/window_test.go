package sel_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/gostap/gostap/backend-bpf/internal/sel"
)

// TestWindow: what is read at once is what is read piece by piece, inside it, over its ends and where it is not all
// there.
func TestWindow(t *testing.T) {
	modes(t, func(t *testing.T, feat sel.Features) {
		b := newBench(t, `
limits MAXERRORS=10
probe "inside" {
  site uprobe func="first"
  long r0, r1, r2, r3, r4, r5, r6, r7
b0:
  r0 = reg 1
  r1 = intr near_uint8(r0)
  intr user_window(r0, 8)
  r2 = add r0, 1
  r3 = intr near_uint32(r2)
  r4 = intr near_uint16(r2)
  r2 = add r0, 5
  r5 = intr near_uint64(r2)
  r2 = sub r0, 1
  r6 = intr near_uint64(r2)
  r7 = intr user_uint64(r2)
  r6 = sub r6, r7
  r2 = add r0, 7
  r7 = intr near_uint8(r2)
  print "%d %d %d %d %d %d\n"(r1, r3, r4, r5, r6, r7)
  end
}
probe "edge" {
  site uprobe func="second"
  long r0, r1, r2, r3
b0:
  r0 = reg 1
  intr user_window(r0, 8)
  r1 = intr near_uint32(r0)
  r2 = add r0, 4
  r3 = intr near_uint8(r2)
  print "%d %d\n"(r1, r3)
  r1 = intr near_uint64(r0)
  end
}
probe "is" {
  site uprobe func="first"
  site uprobe func="second"
  long r0, r1, r2, r3, r4, r5, r6
  string r7 15, r8 200
b0:
  r0 = reg 1
  r1 = intr user_is(r0, "")
  r7 = mov "hello"
  r2 = intr user_is(r0, r7)
  r3 = intr user_is(r0, "edge!")
  r7 = mov "hellO"
  r4 = intr user_is(r0, r7)
  r8 = mov "hello, world"
  r5 = intr user_is(r0, r8) !b1
  r8 = mov "a long text that needs more room than a small string has, so that it lies in scratch memorY"
  r6 = intr user_is(r0, r8) !b1
  print "%d %d %d %d %d %d\n"(r1, r2, r3, r4, r5, r6)
  r8 = mov "a long text that needs more room than a small string has, so that it lies in scratch memory"
  r6 = intr user_is(r0, r8) !b1
  print "%d\n"(r6)
  end
b1:
  print "gone %d\n"(r3)
  end
}
`, feat)
		_, _, _, page := b.hit()
		first := func(s string) []string {
			n := func(at, size int) string {
				var w [8]byte
				copy(w[:size], s[at:])
				return fmt.Sprint(int64(binary.LittleEndian.Uint64(w[:])))
			}
			return []string{n(0, 1), n(1, 4), n(1, 2), n(5, 8), "0", n(7, 1)}
		}
		long := "a long text that needs more room than a small string has, so that it lies in scratch memory"
		want := [][]string{
			first("hello, world\x00"), {"1", "1", "0", "0", "1", "0"}, {"0"},
			{fmt.Sprint(binary.LittleEndian.Uint32([]byte("edge"))), "33"},
			{fmt.Sprintf("error memory %d", page+4096-5)}, {"1"},
			{"error memory 32"}, {"error memory 32"},
			first(long), {"1", "0", "0", "0", "0", "0"}, {"1"},
		}
		// Which handler of a place is first is left open.
		slices.SortFunc(want, slices.Compare)
		slices.SortFunc(b.args, slices.Compare)
		b.want(want)
	})
}
