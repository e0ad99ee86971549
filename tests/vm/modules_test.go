package vm

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gostap/gostap/tapsets"
)

// inModules are the files of the library whose aliases are about modules of the kernel.
var inModules = []string{"scsi.stp", "sunrpc.stp", "nfsd.stp", "nfsd_proc.stp", "nfsd_proc2.stp", "nfsd_proc3.stp",
	"nfsd_proc4.stp", "nfs.stp", "nfs_proc.stp", "nfs_proc2.stp", "nfs_proc3.stp", "nfs_proc4.stp"}

var (
	aliasText = regexp.MustCompile(`(?ms)^probe ([\w.]+) =[^{]*\{\n(.*?)^\}`)
	aliasVar  = regexp.MustCompile(`(?m)^\t([a-z]\w*) = `)
)

// TestModuleEvents: the library's aliases for what happens in modules of the kernel stand for something, with all of
// their variables, and programs for them are loaded; what they say of a disk and of calls is right.
func TestModuleEvents(t *testing.T) {
	if _, err := exec.LookPath("/sbin/modinfo"); err != nil {
		t.Skip("not installed: kmod")
	}
	each(t, func(t *testing.T, k *Kernel, b *bench) {
		mods, err := k.Modules("scsi_debug", "sd_mod", "nfsv3", "nfsv4", "nfsd")
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		gostap := filepath.Join(dir, "gostap")
		if err := goBuild(gostap, "../../cmd/gostap"); err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		n := 0
		for _, f := range inModules {
			text, err := tapsets.FS.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range aliasText.FindAllStringSubmatch(string(text), -1) {
				var vars []string
				for _, v := range aliasVar.FindAllStringSubmatch(m[2], -1) {
					vars = append(vars, v[1])
				}
				may := ""
				if strings.Contains(m[1], ".proc2.") {
					may = " ?" // not in all kernels
				}
				fmt.Fprintf(&all, "probe %s%s { println(%s) }\n", m[1], may, strings.Join(vars, `, " ", `))
				n++
			}
		}
		if n < 65 {
			t.Errorf("only %d aliases were found", n)
		}
		files := map[string]string{"/lab/gostap": gostap}
		script := func(name, text string) {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			files["/lab/"+name] = path
		}
		all.WriteString("probe nfsd.entries, nfsd.proc.entries { println(name, client_ip, fh, argstr) }\n" +
			"probe nfsd.return, nfsd.proc.return, nfs.proc.return, nfs.fop.return, nfs.aop.return, sunrpc.return " +
			"{ println(name, retstr) }\n" +
			"probe nfs.proc.entries, nfs.fop.entries, nfs.aop.entries, sunrpc.entry { println(name, argstr) }\n")
		script("all.stp", all.String()+"probe begin { println(\"all are there\") exit() }\n")
		script("disk.stp", `global n, good
			probe scsi.ioentry { if (disk_major == 8) n["entry", device_state_str]++ }
			probe scsi.iodispatching { n["dispatch", data_direction_str . sprint(" ", request_bufflen, " ", dev_id, " ", req_addr < 0)]++ }
			probe scsi.iodone { n["done", data_direction_str]++ }
			probe scsi.iocompleted { good += goodbytes }
			probe end { foreach ([a, b] in n) printf("%s %s: %d\n", a, b, n[a, b]) println("good ", good) }`)
		script("calls.stp", `probe sunrpc.clnt.create_client { println(name, " ", servername, " ", progname, " ", prog, " ", vers, " ", prot, " ", port) }
			probe sunrpc.sched.new_task { println(name, " ", prog, " ", vers) }
			probe sunrpc.sched.release_task { println(name, " ", prog) }
			probe sunrpc.clnt.shutdown_client { println(name, " ", progname, " ", rpccnt) }`)
		var load strings.Builder
		for _, m := range mods {
			files["/lab/m/"+filepath.Base(m)] = m
			fmt.Fprintf(&load, "insmod m/%s\n", filepath.Base(m))
		}
		res := guest(t, k, Options{Files: files, Timeout: 6 * time.Minute, MemoryMB: 1500, Command: load.String() +
			`mkdir -p /mnt
echo "== all"; ./gostap all.stp 2>&1
for i in $(seq 300); do [ -e /dev/sda ] && break; sleep 0.5; done
echo "== disk"; ./gostap disk.stp -c 'dd if=/dev/sda of=/dev/null bs=4096 count=16 iflag=direct' 2>&1
echo "== calls"; ./gostap calls.stp -c 'mount -t nfs -o nolock,vers=3,proto=tcp,mountport=2049,soft,retrans=1,timeo=5,addr=127.0.0.1,mountaddr=127.0.0.1 127.0.0.1:/x /mnt' 2>&1
echo "== end"`})
		for name, want := range map[string][]string{
			"all": {"all are there\n"},
			"disk": {"entry RUNNING: 16\n", "dispatch FROM_DEVICE 4096 0 1: 16\n", "done FROM_DEVICE: 16\n",
				"good 65536\n"},
			"calls": {"create_client 127.0.0.1 mount 100005 3 6 2049\n", "new_task 100005 3\n", "release_task 100005\n",
				"shutdown_client mount "},
		} {
			for _, w := range want {
				if !strings.Contains(part(res, name), w) {
					t.Errorf("%s: no %q in\n%s", name, w, part(res, name))
				}
			}
		}
		if t.Failed() {
			t.Logf("console: %s", res.Console)
		}
	})
}
