package oracle

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestWriter: maps, lists and rings that a program writes to at the same time, with the garbage collector after it.
// What does not change is right or an error, also where it is being moved; what does is what some moment had, or "?".
func TestWriter(t *testing.T) {
	needRoot(t)
	bin := filepath.Join(workDir, "writer")
	must(t, ".", []string{"CGO_ENABLED=0"}, "go", "build", "-o", bin, "./testdata/writer")
	rounds := 3000
	if Full() {
		rounds = 300_000
	}
	const script = `
		probe process.function("main.numbers") {
			try { printf("number %d %d\n", $k, $m[$k]) } catch (e) { printf("failed %s\n", e) }
			printf("map %s\n", $m$$)
		}
		probe process.function("main.texts") {
			try { printf("text %s %d\n", $k, $m[$k]->Val) } catch (e) { printf("failed %s\n", e) }
			printf("map %s\n", $m$$)
		}
		probe process.function("main.ring") { printf("items %s %s\n", $r$$, $list$$) }`
	out, errs, err := trace(t, t.TempDir(), nil, "-s", "128", "-D", "STP_NO_OVERLOAD", "-e", script, "-c",
		bin+" "+strconv.Itoa(rounds))
	if err != nil {
		t.Fatalf("%v\n%s", err, errs)
	}
	var f Figures
	number := func(s string) int { n, _ := strconv.Atoi(s); return n }
	holds := func(line string, key, val int) {
		if val == 3*key+1 || val == 0 && key >= 1000 {
			f.Equal(1)
		} else {
			f.Wrong("%d has %d: %.300s", key, val, line)
		}
	}
	pair := regexp.MustCompile(`[[ ](?:"key-)?(\d+)"?:(-?\d+)`)
	item := regexp.MustCompile(`\{Key:(\d+), Val:(-?\d+)`)
	known := regexp.MustCompile(`^(the program is writing the map|.* is not in .*|cannot read .*)`)
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		switch w := strings.Fields(line); {
		case len(w) == 3 && (w[0] == "number" || w[0] == "text"):
			holds(line, number(strings.TrimPrefix(w[1], "key-")), number(w[2]))
		case len(w) > 1 && w[0] == "failed":
			if f.Refused(strings.TrimPrefix(line, "failed ")); !known.MatchString(strings.TrimPrefix(line, "failed ")) {
				t.Errorf("%s", line)
			}
		case len(w) > 1:
			if strings.Contains(line, "?") {
				f.Refused("a text with ?")
			}
			for _, m := range item.FindAllStringSubmatch(line, -1) {
				if k := number(m[1]); k != 0 || m[2] != "0" { // a list's room that is not written yet
					holds(line, k, number(m[2]))
				}
			}
			if w[0] == "map" {
				for _, m := range pair.FindAllStringSubmatch(line, -1) {
					holds(line, number(m[1]), number(m[2]))
				}
			}
		}
	}
	f.Report(t, 4*rounds)
}
