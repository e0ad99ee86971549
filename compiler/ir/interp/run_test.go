package interp_test

import (
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/irgen"
)

// globals stand before every program of TestRun.
const globals = `locks 1
global n long init 5
global s string 4 init "abcd"
global a long [string 3] size 3
global w long [long] size 2 wrap
global k string 8 [long, string 8] size 10
global st stats variance hist_log hist_linear(0, 10, 5)
global sa stats [string 4] size 3
func fact(r0) long recursive {
  long r0, r1, r2, r3
b0:
  r1 = le r0, 1
  branch r1, b1, b2
b1:
  return 1
b2:
  r2 = sub r0, 1
  r3 = call fact(r2)
  r3 = mul r3, r0
  return r3
}
func cut(r0) string 3 {
  string r0 4
b0:
  return r0
}
func boom(r0) long {
  long r0
b0:
  branch r0, b1, b2
b1:
  fail user("boom")
b2:
  return 7
}
func forever(r0) recursive {
  long r0
b0:
  r0 = add r0, 1
  call forever(r0)
  return
}
probe "p" {
  site uprobe path="/bin/x" pc=0x1139 at="return" point="the point" func="main.f" alias="al"
  long r0, r1, r2, r3, r4
  string r5 4, r6 20, r7 31, r8 511
`

func TestRun(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"arithmetic wraps", `b0:
 r0 = add 9223372036854775807, 1
 r1 = mul 4611686018427387904, 2
 r2 = div -9223372036854775808, -1
 r3 = mod -9223372036854775808, -1
 r4 = neg -9223372036854775808
 print "%d %d %d %d %d\n"(r0, r1, r2, r3, r4)
 r0 = div -7, 2
 r1 = mod -7, 2
 r2 = sub 3, 5
 r3 = not 0
 r4 = xor 6, 3
 print "%d %d %d %d %d\n"(r0, r1, r2, r3, r4)
 end
`, "-9223372036854775808 -9223372036854775808 -9223372036854775808 0 -9223372036854775808\n-3 -1 -2 -1 5\n"},
		{"shifts take counts modulo 64", `b0:
 r0 = shl 1, 65
 r1 = shr -1, 60
 r2 = sar -16, 2
 r3 = shr -1, -1
 r4 = ult -1, 1
 print "%d %d %d %d %d\n"(r0, r1, r2, r3, r4)
 end
`, "2 15 -4 1 0\n"},
		{"comparisons", `b0:
 r0 = lt -1, 1
 r1 = ge 1, 1
 r2 = scmp "a", "b"
 r3 = scmp "b", "a"
 r4 = scmp "ab", "ab"
 print "%d %d %d %d %d\n"(r0, r1, r2, r3, r4)
 end
`, "1 1 -1 1 0\n"},
		{"strings are cut", `b0:
 r5 = mov "abcdef"
 r6 = cat "0123456789", "0123456789abc"
 gset @s, "wxyz1"
 r7 = gget @s
 print "%s %s %s\n"(r5, r6, r7)
 r7 = call cut("abcdef")
 r8 = sprint "%c%s"(0, "lost")
 print "%s|%s|\n"(r7, r8)
 end
`, "abcd 01234567890123456789 wxyz\nabc||\n"},
		{"first values and scalars", `b0:
 r0 = gadd @n, 3
 r1 = gget @n
 gadd @n, -10
 r2 = gget @n
 mclear @n
 r3 = gget @n
 r7 = gget @s
 mclear @s
 r8 = gget @s
 print "%d %d %d %d [%s] [%s]\n"(r0, r1, r2, r3, r7, r8)
 end
`, "5 8 -2 0 [abcd] []\n"},
		{"a missing element reads 0 and is not made", `b0:
 r0 = mget @a["x"]
 r1 = mhas @a["x"]
 r2 = madd @a["x"], 4
 r3 = mhas @a["x"]
 r7 = mget @k[1, "y"]
 print "%d %d %d %d [%s]\n"(r0, r1, r2, r3, r7)
 end
`, "0 0 0 1 []\n"},
		{"keys are cut", `b0:
 mset @a["abcdef"], 1
 r0 = mget @a["abcxyz"]
 print "%d\n"(r0)
 end
`, "1\n"},
		{"a full array fails", `b0:
 mset @a["a"], 1
 mset @a["b"], 1
 mset @a["c"], 1
 mset @a["a"], 2
 mset @a["d"], 1 !b1
 end
b1:
 r8 = errmsg
 print "caught %s\n"(r8)
 madd @a["e"], 1
 end
`, "caught Array overflow, check size limit (3)\nERROR: Array overflow, check size limit (3)\n"},
		{"a wrapping array forgets the oldest", `b0:
 mset @w[1], 10
 mset @w[2], 20
 mset @w[1], 11
 mset @w[3], 30
 iteropen i0 @w
 jump b1
b1:
 r0 = iternext i0 @w
 branch r0, b2, b3
b2:
 r1 = iterkey i0 @w 0
 r2 = iterval i0 @w
 print "%d=%d "(r1, r2)
 jump b1
b3:
 end
`, "2=20 3=30 "},
		{"stars", `b0:
 mset @k[1, "a"], "x"
 mset @k[2, "a"], "y"
 mset @k[1, "b"], "z"
 r0 = mhas @k[*, "b"]
 r1 = mhas @k[3, *]
 mdel @k[1, *]
 r2 = mhas @k[*, *]
 r3 = mhas @k[1, *]
 print "%d %d %d %d\n"(r0, r1, r2, r3)
 end
`, "1 0 1 0\n"},
		{"loops: order, slice, limit, elements fixed at the start", `b0:
 mset @k[3, "a"], "one"
 mset @k[1, "b"], "two"
 mset @k[2, "a"], "three"
 iteropen i0 @k "k0-"
 jump b1
b1:
 r0 = iternext i0 @k
 branch r0, b2, b3
b2:
 r1 = iterkey i0 @k 0
 r7 = iterval i0 @k
 mset @k[r1, "new"], "changed"
 print "%d=%s "(r1, r7)
 jump b1
b3:
 mclear @k
 mset @k[3, "a"], "c"
 mset @k[1, "b"], "a"
 mset @k[2, "a"], "b"
 iteropen i1 @k[*, "a"] "v+" limit 5
 jump b4
b4:
 r0 = iternext i1 @k
 branch r0, b5, b6
b5:
 r7 = iterval i1 @k
 print "%s "(r7)
 jump b4
b6:
 r2 = mov -1
 iteropen i1 @k limit r2
 r0 = iternext i1 @k
 r3 = iternext i1 @k
 print "%d %d\n"(r0, r3)
 end
`, "3=one 2=three 1=two b c 0 0\n"},
		{"loops over aggregates", `b0:
 sadd @sa["x"], 5
 sadd @sa["y"], 100
 sadd @sa["x"], 6
 iteropen i0 @sa "v-"
 r0 = iternext i0 @sa
 r7 = iterkey i0 @sa 0
 iteropen i1 @sa "@max-"
 r0 = iternext i1 @sa
 r8 = iterkey i1 @sa 0
 print "%s %s\n"(r7, r8)
 end
`, "x y\n"},
		{"equal elements keep their order", `b0:
 mset @a["b"], 1
 mset @a["a"], 1
 mset @a["c"], 0
 iteropen i0 @a "v-"
 jump b1
b1:
 r0 = iternext i0 @a
 branch r0, b2, b3
b2:
 r7 = iterkey i0 @a 0
 print "%s"(r7)
 jump b1
b3:
 end
`, "bac"},
		{"statistics", `b0:
 sadd @st, 3
 sadd @st, -1
 sadd @st, 10
 r0 = sget.count @st
 r1 = sget.sum @st
 r2 = sget.min @st
 r3 = sget.max @st
 r4 = sget.avg @st
 print "%d %d %d %d %d "(r0, r1, r2, r3, r4)
 r0 = sget.variance @st, 0
 r1 = sget.bucket 0 @st, 66
 r2 = sget.bucket 1 @st, 0
 print "%d %d %d\n"(r0, r1, r2)
 end
`, "3 12 -1 10 4 31 1 1\n"},
		{"an empty aggregate", `b0:
 r0 = sget.count @st
 r1 = sget.sum @sa["none"]
 print "%d %d "(r0, r1)
 r0 = sget.avg @st !b1
 end
b1:
 r8 = errmsg
 print "%s\n"(r8)
 printhist 0 @st !b2
 end
b2:
 r0 = sget.min @sa["none"]
 end
`, "0 0 empty aggregate\n"},
		{"a bucket outside", `b0:
 sadd @st, 1
 r0 = sget.bucket 1 @st, 99
 end
`, "ERROR: index 99 is out of range, length 5\n"},
		{"aggregates merged over stars", `b0:
 sadd @sa["x"], 5
 sadd @sa["y"], 7
 r0 = sget.sum @sa[*]
 r1 = sget.min @sa[*]
 print "%d %d\n"(r0, r1)
 end
`, "12 5\n"},
		{"histogram as a string", `b0:
 sadd @st, 1
 r8 = sprinthist 1 @st
 printhist 1 @st
 r0 = intr strlen(r8)
 print "%d\n"(r0)
 end
`, `value |-------------------------------------------------- count
    0 |@                                                  1
    5 |                                                   0
   10 |                                                   0

245
`},
		{"recursion", `b0:
 r0 = call fact(10)
 print "%d\n"(r0)
 end
`, "3628800\n"},
		{"nesting", `b0:
 call forever(0) !b1
 end
b1:
 r8 = errmsg
 print "%s\n"(r8)
 end
`, "MAXNESTING exceeded\n"},
		{"errors leave functions for the caller's catch", `b0:
 r0 = call boom(0) !b1
 print "%d "(r0)
 r0 = call boom(1) !b1
 print "not here"()
 end
b1:
 r8 = errmsg
 print "caught %s\n"(r8)
 r0 = call boom(1)
 print "nor here"()
 end
`, "7 caught boom\nERROR: boom\n"},
		{"a report goes on", `b0:
 r0 = call boom(1) !b1
 end
b1:
 report
 print "after\n"()
 end
`, "ERROR: boom\nafter\n"},
		{"budget", `b0:
 r0 = mov 0
 jump b1
b1:
 budget 1
 r0 = add r0, 1
 print "."()
 jump b1
`, strings.Repeat(".", 1000) + "ERROR: MAXACTION exceeded\n"},
		{"skip", "b0:\n skip noentry\n", "SKIPPED noentry\n"},
		{"lock", `b0:
 lock 0
 gadd @n, 1
 unlock 0
 lock 0
 budget 100000
 unlock 0
 end
`, "ERROR: MAXACTION exceeded\n"},
		{"the probed place", `b0:
 r0 = reg 7
 r1 = tls
 r2 = bias
 r3 = load1 80
 r4 = load2s 4095 !b1
 end
b1:
 r8 = errmsg
 print "%d %d %d %d %s\n"(r0, r1, r2, r3, r8)
 r7 = site pp
 r6 = site ppfunc
 r8 = site pn
 r0 = site pc
 r1 = intr is_return()
 print "%s %s %s %x %d\n"(r7, r6, r8, r0, r1)
 r4 = load4 9999
 end
`, "107 7000 20480 42 read fault at 0x0000000000000fff\nthe point main.f al 6139 1\nERROR: read fault at " +
			"0x000000000000270f\n"},
		{"memory by format", `b0:
 print "%.3m|%#.2M|%m|\n"(520, 521, 5000)
 end
`, "a  |2020||\n"},
		{"exit, warn, log, error, abort", `b0:
 intr warn("careful")
 intr log("noted")
 intr exit()
 print "still here\n"()
 intr error("enough") !b1
 end
b1:
 intr abort()
 print "not here\n"()
 end
`, "WARNING: careful\nnoted\nEXIT\nstill here\nEXIT\n"},
		{"raised errors", `b0:
 fail indexrange(9, 3) !b1
b1:
 r8 = errmsg
 print "%s\n"(r8)
 fail exhausted()
`, "index 9 is out of range, length 3\nERROR: all functions exhausted\n"},
	} {
		p, err := ir.ParseText(globals + c.body + "}\n")
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		said, err := irgen.Run(p, 1, irgen.Context{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if out := strings.TrimPrefix(said.Text, "--- uprobe 0\n"); out != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, out, c.want)
		}
	}
}
