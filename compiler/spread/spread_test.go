package spread

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/diag/diagtest"
	"github.com/gostap/gostap/compiler/ir"
)

const (
	globals = "global n long\nglobal t long\nglobal s stats\nglobal k long [long] size 10\n" +
		"global w long [long] size 10 wrap\nglobal c long init 7\nglobal x long\nglobal q stats [long] size 10\n"
	hit    = "probe \"hit\" {\n  site process.begin path=\"/bin/true\" point=\"hit\" alias=\"hit\"\n"
	headed = `"\x01gostap\x01%d%d%d%s%d\n"`
	timer  = "probe \"timer\" {\n  site timer period=9 point=\"timer\" alias=\"timer\"\n"
	end    = "probe \"end\" {\n  site end point=\"end\" alias=\"end\"\n"
)

// TestDivide: who runs what, by the globals that it uses.
func TestDivide(t *testing.T) {
	for _, c := range []struct {
		name, text string
		// want has the handlers of each machine, those that run once, and the globals of all; or the message.
		want string
	}{
		{"sums", hit + "b0:\n  gadd @n, 1\n  sadd @s, 3\n  madd @k[1], 2\n  end\n}\n" +
			end + "  long r0\nb0:\n  r0 = gget @n\n  print \"%d\\n\"(r0)\n  gset @n, 0\n  end\n}\n", "hit; end; n s k"},
		{"a result of adding", hit + "  long r0\nb0:\n  r0 = gadd @n, 1\n  end\n}\n" +
			end + "  long r0\nb0:\n  r0 = gget @n\n  print \"%d\\n\"(r0)\n  end\n}\n", "hit end; ; "},
		{"read where it is hit", hit + "  long r0\nb0:\n  gadd @n, 1\n  r0 = gget @n\n  gadd @t, r0\n  end\n}\n" +
			end + "  long r0\nb0:\n  r0 = gget @t\n  end\n}\n", "hit; end; t"},
		{"both", hit + "  long r0\nb0:\n  gset @n, 1\n  gadd @t, 1\n  end\n}\n" +
			end + "  long r0, r1\nb0:\n  r0 = gget @n\n  r1 = gget @t\n  end\n}\n",
			"n is of each machine, and t is of all: this end probe can use one of them"},
		{"forgets", hit + "b0:\n  madd @w[1], 1\n  end\n}\n" + end + "b0:\n  mclear @w\n  end\n}\n", "hit end; ; "},
		{"the same everywhere", hit + "  long r0\nb0:\n  r0 = gget @c\n  gadd @n, r0\n  end\n}\n" +
			end + "  long r0, r1\nb0:\n  r0 = gget @c\n  r1 = gget @n\n  end\n}\n", "hit; end; n"},
		{"what goes with it", hit + "  long r0\nb0:\n  r0 = gget @t\n  end\n}\n" +
			end + "b0:\n  gset @t, 1\n  gset @x, 1\n  end\n}\n" +
			end + "  long r0\nb0:\n  r0 = gget @x\n  end\n}\n", "hit end end; ; "},
		{"asks the machine", hit + "b0:\n  gadd @n, 1\n  end\n}\n" +
			end + "  long r0\nb0:\n  r0 = intr cpu()\n  end\n}\n", "hit end; ; n"},
		{"asks it about all", hit + "b0:\n  gadd @n, 1\n  end\n}\n" +
			end + "  long r0, r1\nb0:\n  r0 = intr cpu()\n  r1 = gget @n\n  end\n}\n",
			"cpu() asks the machine where it runs, and this end probe is about all of them"},
		{"asks it and adds", hit + "b0:\n  gadd @n, 1\n  end\n}\n" +
			end + "  long r0\nb0:\n  r0 = intr cpu()\n  gadd @n, r0\n  gadd @x, r0\n  end\n}\n" +
			end + "  long r0\nb0:\n  r0 = gget @n\n  r0 = gget @x\n  end\n}\n", "hit end; end; n x"},
		{"of each, added up at the end", hit + "  long r0\nb0:\n  gset @t, 1\n  sadd @s, 1\n  end\n}\n" +
			end + "  long r0\nb0:\n  r0 = gget @t\n  sadd @s, r0\n  madd @k[r0], 1\n  end\n}\n" +
			end + "  long r0\nb0:\n  r0 = sget.count @s\n  mclear @k\n  end\n}\n", "hit end; end; s k"},
		{"put into words", hit + "b0:\n  madd @k[1], 1\n  end\n}\n" +
			end + "  long r0, r1\nb0:\n  r0 = intr cpu()\n  r1 = mget @k[r0]\n  gadd @x, r1\n  end\n}\n" +
			end + "  long r0\nb0:\n  r0 = gget @x\n  end\n}\n", "hit end; end; x"},
		{"put into words, and added to by a timer", hit + "b0:\n  gadd @n, 1\n  end\n}\n" +
			timer + "b0:\n  gadd @n, 1000\n  end\n}\n" +
			end + "  long r0, r1\nb0:\n  r0 = intr cpu()\n  r1 = gget @n\n  gadd @x, r1\n  end\n}\n" +
			end + "  long r0\nb0:\n  r0 = gget @x\n  end\n}\n",
			"cpu() asks the machine where it runs, and this end probe is about all of them"},
		{"put into words, with a first value", hit + "b0:\n  gadd @c, 1\n  end\n}\n" +
			end + "  long r0, r1\nb0:\n  r0 = intr cpu()\n  r1 = gget @c\n  gadd @x, r1\n  end\n}\n" +
			end + "  long r0\nb0:\n  r0 = gget @x\n  end\n}\n",
			"cpu() asks the machine where it runs, and this end probe is about all of them"},
		{"a timer that adds what is of each", hit + "b0:\n  gset @t, 1\n  gadd @n, 1\n  end\n}\n" +
			timer + "  long r0\nb0:\n  r0 = gget @t\n  gadd @n, r0\n  end\n}\n" +
			end + "  long r0\nb0:\n  r0 = gget @n\n  end\n}\n",
			"t is of each machine, and n is of all: this timer probe can use one of them"},
		{"added up at the end, and read there", hit + "b0:\n  gset @t, 1\n  end\n}\n" +
			end + "  long r0\nb0:\n  r0 = gget @t\n  gadd @x, r0\n  end\n}\n" +
			end + "  long r0, r1\nb0:\n  r0 = gget @x\n  r1 = gget @t\n  end\n}\n", "hit end end; ; "},
		{"stacks", hit + "  long r0, r1\nb0:\n  r0 = intr ustack_kept()\n  r1 = mov r0\n  madd @k[r1], 1\n  end\n}\n" +
			end + "b0:\n  mclear @k\n  end\n}\n", "hit; end; k"},
		{"the least, emptied at the end", hit + "b0:\n  sadd @s, 3\n  end\n}\n" +
			end + "  long r0\nb0:\n  r0 = sget.min @s\n  mclear @s\n  end\n}\n", "hit; end; s"},
		{"the least since it was emptied", hit + "b0:\n  sadd @s, 3\n  end\n}\n" +
			timer + "  long r0\nb0:\n  r0 = sget.min @s\n  mclear @s\n  end\n}\n",
			"@min of s is not known of all machines, since timer empties it"},
		{"sorted by the least, since it was emptied", hit + "b0:\n  sadd @q[1], 3\n  end\n}\n" +
			timer + "b0:\n  mclear @q\n  end\n}\n" +
			end + "b0:\n  iteropen i0 @q \"@max-\" limit 3\n  end\n}\n",
			"@max of q is not known of all machines, since timer empties it"},
		{"sorted by the sum, since it was emptied", hit + "b0:\n  sadd @q[1], 3\n  end\n}\n" +
			timer + "b0:\n  mclear @q\n  end\n}\n" +
			end + "b0:\n  iteropen i0 @q \"@sum-\" limit 3\n  end\n}\n", "hit; timer end; q"},
		{"who prints it", hit + "b0:\n  gadd @n, 1\n  end\n}\n" + end + "  long r0, r1\nb0:\n  r0 = intr pid()\n" +
			"  r1 = gget @n\n  print " + headed + "(r0, r0, r0, \"end\", r1)\n  end\n}\n", "hit; end; n"},
		{"who prints it, printed", hit + "b0:\n  gadd @n, 1\n  end\n}\n" + end + "  long r0, r1\nb0:\n" +
			"  r0 = intr pid()\n  r1 = gget @n\n  print " + headed + "(r0, r0, r0, \"end\", r0)\n  end\n}\n",
			"pid() asks the machine where it runs, and this end probe is about all of them"},
		{"nothing is hit", end + "b0:\n  gset @n, 1\n  end\n}\n", "no probe is hit on a machine"},
		{"nothing but hits", hit + "b0:\n  gset @n, 1\n  end\n}\n", "hit; ; "},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := ir.ParseText(globals + c.text)
			if err != nil {
				t.Fatal(err)
			}
			p.Globals[0].Metric = `"n"`
			parts, ds := Divide(p)
			if ds.HasErrors() {
				if d := diagtest.Find(t, ds, Code); !strings.Contains(d.Message, c.want) || d.Hint == "" {
					t.Errorf("%s (%s), not %s", d.Message, d.Hint, c.want)
				}
				return
			}
			names := func(p *ir.Program) (out []string) {
				for _, pr := range p.Probes {
					out = append(out, pr.Name)
				}
				return out
			}
			var shared []string
			for _, g := range parts.Shared {
				shared = append(shared, p.Globals[g].Name)
			}
			got := fmt.Sprintf("%s; %s; %s", strings.Join(names(parts.Each), " "), strings.Join(names(parts.Once), " "),
				strings.Join(shared, " "))
			if got != c.want {
				t.Errorf("%s, not %s", got, c.want)
			}
			for i, g := range parts.Each.Globals {
				o := parts.Once.Globals[i]
				lost := o.Metric == "" && slices.Contains(parts.Shared, i)
				if i == 0 && (lost || (g.Metric == "") == (o.Metric == "")) {
					t.Errorf("%s is a metric of both parts, or of the wrong one", g.Name)
				}
				if g.Shown != slices.Contains(parts.Shared, i) {
					t.Errorf("%s is shown: %v", g.Name, g.Shown)
				}
			}
		})
	}
}

// TestSeen: what handlers that run once read before the end, and what they change then.
func TestSeen(t *testing.T) {
	p, err := ir.ParseText(globals + hit + "b0:\n  gadd @n, 1\n  gadd @t, 1\n  gadd @x, 1\n  sadd @s, 1\n  end\n}\n" +
		timer + "  long r0\nb0:\n  r0 = gget @n\n  gadd @x, 1\n  end\n}\n" +
		end + "  long r0\nb0:\n  r0 = gget @t\n  end\n}\n")
	if err != nil {
		t.Fatal(err)
	}
	parts, ds := Divide(p)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	for i, g := range p.Globals {
		if parts.Seen[i] != (g.Name == "n") || parts.Touched[i] != (g.Name == "x") {
			t.Errorf("%s: seen %v, touched %v", g.Name, parts.Seen[i], parts.Touched[i])
		}
	}
}
