package bench

import (
	"os/exec"
	"regexp"
	"strconv"
	"testing"
)

var average = regexp.MustCompile(`runs: [0-9]+, average: ([0-9]+)ns`)

// BenchmarkGuard: what a handler takes with the limit of the share of a CPU (STP_OVERLOAD) and without, light and
// with a loop.
func BenchmarkGuard(b *testing.B) {
	build(b)
	for _, c := range []struct{ name, handler string }{{"light", "n++"}, {"loop", "for (i = 0; i < 10; i++) n += i"}} {
		b.Run(c.name, func(b *testing.B) {
			took := map[string][]float64{}
			for range max(b.N, 3) {
				for _, o := range []string{"STP_NO_OVERLOAD", "STP_OVERLOAD"} {
					out, err := exec.Command(gostap, "-t", "--no-global-var-display", "-D", o, "-e",
						"global n probe process.syscall { "+c.handler+" }", "-c",
						"dd if=/dev/zero of=/dev/null bs=1 count=200000 2>/dev/null").CombinedOutput()
					m := average.FindSubmatch(out)
					if err != nil || m == nil {
						b.Fatalf("%v\n%s", err, out)
					}
					ns, _ := strconv.ParseFloat(string(m[1]), 64)
					took[o] = append(took[o], ns)
				}
			}
			b.ReportMetric(median(took["STP_NO_OVERLOAD"]), "ns-without")
			b.ReportMetric(median(took["STP_OVERLOAD"]), "ns-with")
		})
	}
}
