package vm

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gostap/gostap/tests/proofs"
)

// toolSetup makes what a guest does not have: disks in memory, a file system, swap, a control group with a limit.
const toolSetup = `mknod /dev/ram0 b 1 0; mknod /dev/ram1 b 1 1
mke2fs -b 4096 /dev/ram0 >/dev/null; mkdir /mnt; mount -t ext4 /dev/ram0 /mnt
dd if=/dev/zero of=/mnt/file bs=4k count=200
mkdir -p /cg; mount -t cgroup2 none /cg; echo +memory >/cg/cgroup.subtree_control
mkdir /cg/small; echo 16M >/cg/small/memory.max
stat() { grep -w "$1" $2 | sed 's/.* //'; }
`

// setupProofs are tools that need such a thing: what makes it ready, the load, and the shell's expression for the
// number, from after less from before.
var setupProofs = []struct{ tool, ready, load, what, line, number, source string }{
	{"fsdist ext4", "", "dd if=/mnt/file of=/dev/null bs=4k count=100", "reads", `^ext4_file_read_iter: (\d+) calls`,
		"${N:-0}", "dd"},
	{"fsslower ext4 --min 0", "", "dd if=/mnt/file of=/dev/null bs=4k count=100", "reads",
		` ext4_file_read_iter .* file$`, "${N:-0}", "dd"},
	// The first run says how many it takes to begin.
	{"dcstat --interval 100s", "printf '/lab/loads names 0\\nexit 0\\n' >/lab/base0; " +
		"./gostap dcstat --interval 100s -o /base.txt -c 'sh /lab/base0 >/dev/null'", "/lab/loads names 300",
		"names that are not there", `^[\d:]+ +\d+ +\d+ +(\d+)`, "$((300 + $(tail -n1 /base.txt | awk '{ print $4 }')))",
		"the program"},
	{"dcstat --interval 100s", "", "/lab/loads names 300", "lookups", `^[\d:]+ +(\d+)`,
		"$((600 + $(tail -n1 /base.txt | awk '{ print $2 }')))", "the program"},
	{"dcsnoop --missed --name loads", "", "/lab/loads names 40", "names that are not there", ` M absent40-\d+$`, "40",
		"the program"},
	{"cachestat --interval 100s", "sh -c '/lab/loads pages 0; cat /lab/load*' >/dev/null", "/lab/loads pages 40",
		"pages that are not there", `^[\d:]+ +\d+ +(\d+)`, "40", "the program"},
	{"modsnoop", "", "insmod /lab/null_blk.ko nr_devices=0; rmmod null_blk", "loaded", ` load +null_blk$`, "1",
		"insmod"},
	{"undump --name loads", "", "/lab/loads packets 20", "bytes", ` loads +(\d+) `, "20000", "the program"},
	{"oomkill", "", "sh -c \"echo 0 >/cg/small/cgroup.procs; exec dd if=/dev/zero of=/dev/null bs=64M count=1\"",
		"killed", ` dd +\d+ \d+\.`, "$(stat oom_kill /cg/small/memory.events)", "memory.events of the control group"},
	{"swapin --interval 100s", "mkswap /dev/ram1 >/dev/null; swapon /dev/ram1",
		"sh -c \"echo 0 >/cg/small/cgroup.procs; exec awk -f /lab/grow.awk\"", "pages read", `^[\d:]+ +\d+ +awk +(\d+)`,
		"$(stat pswpin /proc/vmstat)", "/proc/vmstat: pswpin"},
}

// grow fills an array that has no room, and reads it.
const grow = "BEGIN { for (i = 0; i < 300000; i++) a[i] = i; for (i = 0; i < 300000; i++) s += a[i]; print s }\n"

// TestToolSetups holds numbers of tools against what the load or the kernel says, where a guest has to be made ready
// for them. It is asked for as TestToolProofs is.
func TestToolSetups(t *testing.T) {
	asked := os.Getenv("GOSTAP_TOOLS")
	if asked == "" {
		t.Skip("GOSTAP_TOOLS=1 asks for it; it takes minutes")
	}
	each(t, func(t *testing.T, k *Kernel, b *bench) {
		dir := t.TempDir()
		if err := goBuild(filepath.Join(dir, "gostap"), "../../cmd/gostap"); err != nil {
			t.Fatal(err)
		}
		files := map[string]string{"/lab/gostap": filepath.Join(dir, "gostap"),
			"/lab/grow.awk": filepath.Join(dir, "grow")}
		if err := os.WriteFile(filepath.Join(dir, "grow"), []byte(grow), 0o644); err != nil {
			t.Fatal(err)
		}
		files["/lab/loads"] = buildLoads(t, dir)
		mods, err := k.Modules("brd?", "ext4?", "null_blk?")
		if err != nil {
			t.Fatal(err)
		}
		command := ""
		for _, m := range mods {
			name := filepath.Base(m)
			files["/lab/"+name] = m
			switch name {
			case "null_blk.ko":
			case "brd.ko":
				command += "insmod /lab/brd.ko rd_nr=2 rd_size=65536\n"
			default:
				command += "insmod /lab/" + name + "\n"
			}
		}
		command += toolSetup
		for i, p := range setupProofs {
			load := filepath.Join(dir, fmt.Sprintf("load%d", i))
			if err := os.WriteFile(load, []byte(p.load+"\nexit 0\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			files[fmt.Sprintf("/lab/load%d", i)] = load
			command += fmt.Sprintf("%s\nN=%s\nset -f; ./gostap %s -o /out/%d.txt -c 'sh /lab/load%d >/dev/null "+
				"2>/out/%d.err' || echo failed: %s; set +f\n", p.ready, known(p.load), p.tool, i, i, i, p.tool)
			command += fmt.Sprintf("echo \"want %d %s\"\n", i, p.number)
		}
		res, err := k.Run(t.Context(), Options{Command: command, Timeout: 20 * time.Minute, Files: files, Log: t.Logf})
		if err != nil {
			t.Fatal(err)
		}
		killed := strings.Count(res.Console, "Memory cgroup out of memory")
		if said := Complaints(res.Console); len(said) > killed {
			t.Errorf("the kernel complains %d times, %d for a process that it killed:\n%s", len(said), killed,
				Excerpt(res.Console))
		}
		if strings.Contains(res.Output, "failed: ") {
			t.Errorf("%s", res.Output)
		}
		short := regexp.MustCompile(`^\d+\.\d+`).FindString(k.Release)
		var rows []string
		for i, p := range setupProofs {
			want := -1
			if m := regexp.MustCompile(fmt.Sprintf(`(?m)^want %d (\d+)$`, i)).FindStringSubmatch(res.Output); m != nil {
				want, _ = strconv.Atoi(m[1])
			}
			text := string(res.Out[fmt.Sprintf("%d.txt", i)])
			if n := proofs.Sum(text, p.line); n != want || n == 0 {
				t.Errorf("gostap %s: %s is %d, want %d\n%s%s", p.tool, p.what, n, want, text,
					res.Out[fmt.Sprintf("%d.err", i)])
				continue
			}
			rows = append(rows, strings.Join([]string{p.tool, short, strings.ReplaceAll(p.load, "/lab/", ""), p.what,
				fmt.Sprint(want), fmt.Sprint(want), p.source}, "\t"))
		}
		if asked == "update" {
			tools := map[string]bool{}
			for _, p := range setupProofs {
				tools[p.tool] = true
			}
			if err := proofs.Write("../../cmd/internal/toolbox/proofs.tsv", rows, func(row []string) bool {
				return row[1] != short || !tools[row[0]]
			}); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// known is how many blocks a load of dd reads.
func known(load string) string {
	if m := regexp.MustCompile(`^dd .* count=(\d+)$`).FindStringSubmatch(load); m != nil {
		return m[1]
	}
	return "0"
}
