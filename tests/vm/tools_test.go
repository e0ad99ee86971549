package vm

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gostap/gostap/tests/proofs"
)

// toolLoad is what all tools see here, and what they are asked for are numbers that it makes known.
const toolLoad = `dd if=/dev/zero of=/tmp/blob bs=4k count=50
dd if=/tmp/blob of=/dev/null bs=4k
mkdir /tmp/newdir
rmdir /tmp/newdir
rm /tmp/blob
cat /nowhere
touch /tmp/own
chown 1:1 /tmp/own
mkdir -p /tmp/m
mount -t tmpfs none /tmp/m
umount /tmp/m
echo typed >/dev/console
rm /tmp/own
`

// toolProofs are tools with a pattern whose numbers, or whose lines if it has no number, add up to what is known.
var toolProofs = []struct {
	tool, what, line string
	want             int
}{
	{"execsnoop", "starts of cat", ` cat /nowhere$`, 1},
	{"exitsnoop", "sum of the statuses of cat", ` cat .* status (\d+)$`, 1},
	{"opensnoop --failed", "opens of /nowhere", ` ENOENT +/nowhere$`, 1},
	{"unlinksnoop", "removed", ` (unlink|rmdir)(at)? `, 3},
	{"mountsnoop", "calls", ` u?mount2? `, 2},
	{"syscount --call rmdir", "calls of rmdir", `^rmdir +(\d+)`, 1},
	{"capable --unique", "processes of chown that need CHOWN", ` chown +0 CHOWN `, 1},
	{"filetop --interval 100s", "KB written to blob", ` +\d+ +\d+ +\d+ +(\d+) blob$`, 200},
	{"filetop --interval 100s", "KB read from blob", ` +\d+ +\d+ +(\d+) +\d+ blob$`, 200},
	{"fileslower --min 0", "reads and writes of blob", ` (R|W) .* blob$`, 101},
	{"filelife", "files", ` (blob|own)$`, 2},
	{"vfsstat --interval 100s", "files made", `^[\d:]+ +\d+ +\d+ +\d+ +\d+ +(\d+) `, 2},
	{"vfsstat --interval 100s", "directories made", `^[\d:]+ .* (\d+)$`, 1},
	{"vfscount", "calls of vfs_unlink", `^vfs_unlink +(\d+)`, 2},
	{"dcsnoop --missed", "newdir asked for", ` M newdir$`, 1},
	{"funccount k:vfs_rmdir", "calls", `^vfs_rmdir +(\d+)`, 1},
	{"funclatency k:vfs_unlink", "calls", `^vfs_unlink: (\d+) calls`, 2},
	{"funcslower k:vfs_rmdir --min 1ns", "calls", ` vfs_rmdir$`, 1},
	{"trace k:vfs_unlink", "calls by rm", ` rm +vfs_unlink `, 2},
	{"stackcount k:vfs_unlink", "calls", `^(\d+) times`, 2},
	{"kfuncs rmdir --match vfs_*", "vfs_rmdir entered", `-> vfs_rmdir$`, 1},
	{"ttysnoop", "lines to the console", ` sh +\S+ +"typed`, 1},
}

// TestToolProofs holds numbers of tools that need functions of the kernel against what the load does. It is asked for
// by GOSTAP_TOOLS=1; with GOSTAP_TOOLS=update it writes the table that docs/tools.md has.
func TestToolProofs(t *testing.T) {
	asked := os.Getenv("GOSTAP_TOOLS")
	if asked == "" {
		t.Skip("GOSTAP_TOOLS=1 asks for it; it takes minutes")
	}
	each(t, func(t *testing.T, k *Kernel, b *bench) {
		dir := t.TempDir()
		if err := goBuild(filepath.Join(dir, "gostap"), "../../cmd/gostap"); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "load.sh"), []byte(toolLoad), 0o644); err != nil {
			t.Fatal(err)
		}
		ran := map[string]string{} // the files of what tools printed
		command := ""
		for _, p := range toolProofs {
			if ran[p.tool] != "" {
				continue
			}
			ran[p.tool] = fmt.Sprintf("%d.txt", len(ran))
			command += fmt.Sprintf("set -f; ./gostap %s -o /out/%s -c 'sh /lab/load.sh >/dev/null 2>&1' || "+
				"echo failed: %s\n", p.tool, ran[p.tool], p.tool)
		}
		res := guest(t, k, Options{Command: command, Timeout: 20 * time.Minute, Files: map[string]string{
			"/lab/gostap": filepath.Join(dir, "gostap"), "/lab/load.sh": filepath.Join(dir, "load.sh")}})
		if strings.Contains(res.Output, "failed: ") {
			t.Errorf("%s", res.Output)
		}
		short := regexp.MustCompile(`^\d+\.\d+`).FindString(k.Release)
		var rows []string
		for _, p := range toolProofs {
			text := string(res.Out[ran[p.tool]])
			if n := proofs.Sum(text, p.line); n != p.want {
				t.Errorf("gostap %s: %s is %d, want %d\n%s", p.tool, p.what, n, p.want, text)
			} else if n > 0 {
				rows = append(rows, strings.Join([]string{p.tool, short, "dd, mkdir, rm, chown, mount", p.what,
					fmt.Sprint(n), fmt.Sprint(p.want), "what the load does"}, "\t"))
			}
		}
		if asked == "update" {
			if err := proofs.Write("../../cmd/internal/toolbox/proofs.tsv", rows, func(row []string) bool {
				return row[1] != short || ran[row[0]] == "" // that of TestToolSetups
			}); err != nil {
				t.Fatal(err)
			}
		}
	})
}
