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
	{"bioerr", badDisk, "/lab/loads errors 20", "reads that failed", ` nullb0 +read +\d+ +I/O error$`, "20",
		"the program"},
	{"mdflush", raid, "/lab/loads flushes 12", "flushes", ` loads +md0$`, "12", "the program"},
	{"drsnoop", fill, "/lab/loads memory 150000 >/lab/own", "waits", ` loads +\d+ +\d+ +\d+$`,
		"$(sed -n 's/^did //p' /lab/own)", "the kernel's delay accounting"},
	{"undump --name loads", "", "/lab/loads packets 20", "bytes", ` loads +(\d+) `, "20000", "the program"},
	{"oomkill", "", "sh -c \"echo 0 >/cg/small/cgroup.procs; exec dd if=/dev/zero of=/dev/null bs=64M count=1\"",
		"killed", ` dd +\d+ \d+\.`, "$(stat oom_kill /cg/small/memory.events)", "memory.events of the control group"},
	{"swapin --interval 100s", "mkswap /dev/ram1 >/dev/null; swapon /dev/ram1",
		"sh -c \"echo 0 >/cg/small/cgroup.procs; exec awk -f /lab/grow.awk\"", "pages read", `^[\d:]+ +\d+ +awk +(\d+)`,
		"$(stat pswpin /proc/vmstat)", "/proc/vmstat: pswpin"},
}

// badDisk makes a disk without a good block.
const badDisk = "insmod /lab/null_blk.ko nr_devices=0; mount -t configfs none /sys/kernel/config; " +
	"mkdir " + nullDisks + "nullb0; cd " + nullDisks + "nullb0; echo 1 >memory_backed; echo +0-999 >badblocks; " +
	"echo 1 >power; cd /lab"

// nullDisks is where disks are made by making folders.
const nullDisks = "/sys/kernel/config/nullb/"

// raid makes a mirror of one disk in memory, by the kernel's files alone.
const raid = "echo md0 >/sys/module/md_mod/parameters/new_array; cd /sys/block/md0/md; " +
	"echo none >metadata_version; echo raid1 >level; echo 1 >raid_disks; echo 65536 >component_size; " +
	"echo 1:2 >new_dev; echo 0 >dev-ram2/slot; echo active >array_state; cd /lab"

// fill leaves no memory that is free, but much that can be given up, and nobody who does that ahead of who needs it.
const fill = "mkdir " + nullDisks + "nullb1; echo 1 >" + nullDisks + "nullb1/power; " +
	"taskset -p 1 $(pidof kswapd0) >/dev/null; sysctl -q -w kernel.task_delayacct=1; exec 9</dev/nullb1; " +
	"dd if=/dev/nullb1 of=/dev/null bs=1M count=900"

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
		mods, err := k.Modules("brd?", "ext4?", "null_blk?", "raid1?")
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
				command += "insmod /lab/brd.ko rd_nr=3 rd_size=65536\n"
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
				"2>/out/%d.err' 2>/out/%d.said || echo failed: %s; set +f\n", p.ready, known(p.load),
				p.tool, i, i, i, i, p.tool)
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
			said := string(res.Out[fmt.Sprintf("%d.said", i)])
			n := proofs.Sum(text, p.line)
			if told := n + proofs.Sum(said, locksSkipped.String()); 0 < n && n < want && want <= told {
				t.Logf("gostap %s: %s is %d of %d, and skips are told", p.tool, p.what, n, want)
				continue
			}
			if n != want || n == 0 {
				t.Errorf("gostap %s: %s is %d, want %d\n%s%s%s", p.tool, p.what, n, want, text, said,
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
