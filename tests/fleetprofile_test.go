package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// profiles makes one profile of what runs in pods on both nodes, by a Trace: as a table, for flame graphs, as lines.
func (c *realCluster) profiles(space string) {
	c.t.Helper()
	spin := buildSpin(c.t)
	c.run(c.lab, "load-image", "gostapspin", spin)
	spinners := space + "-spin"
	c.t.Cleanup(func() { c.try("kubectl", "delete", "namespace", "--wait=false", spinners) })
	c.run("kubectl", "create", "namespace", spinners)
	c.run("kubectl", "apply", "-f", c.write("spin.yaml", strings.ReplaceAll(fmt.Sprintf(fleetGo, "spin", spinners, 0),
		`gostapfails:lab", imagePullPolicy: Never, args: ["0", /gostapfails, /never]`,
		`gostapspin:lab", imagePullPolicy: Never`)))
	c.run("kubectl", "-n", spinners, "rollout", "status", "deploy/spin", "--timeout=60s")

	profile := []string{bin(c.t, "gostap"), "kube", "profile", "-n", spinners, "-l", "app=cart", "--for", "4s"}
	table := c.run(profile...)
	// Go's runtime has a sighandler, which is met where the processors are busy.
	if !strings.Contains(table, "main.often") || regexp.MustCompile(`\bhandle\b`).MatchString(table) {
		c.t.Errorf("%s", table)
	}
	svg, lines := filepath.Join(c.dir, "fleet.svg"), filepath.Join(c.dir, "fleet.folded")
	c.run(append(profile, "-o", svg)...)
	c.run(append(profile, "-o", lines)...)
	if b, err := os.ReadFile(svg); err != nil || !strings.Contains(string(b), "2 pods on 2 nodes") ||
		!strings.Contains(string(b), "main.seldom") {
		c.t.Errorf("%v: %.2000s", err, b)
	}
	b, err := os.ReadFile(lines)
	if err != nil {
		c.t.Fatal(err)
	}
	// Both nodes share the processors here: of the 40 ms of each turn three parts of four are in often.
	if often, seldom, all := spun(string(b)); often < 2*seldom || often > 4*seldom || often+seldom < all*3/4 {
		c.t.Errorf("often %d, seldom %d of %d\n%s", often, seldom, all, b)
	}
}
