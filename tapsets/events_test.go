package tapsets_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/grammar"
	"github.com/gostap/gostap/tapsets"
)

// eventFiles hold aliases for what happens in the kernel.
var eventFiles = []string{"interrupts", "ioblock", "ioscheduler", "kprocess", "mib", "netdev", "netfilter", "scheduler",
	"signal_events", "socket_events", "tcp", "tty", "udp", "vfs", "vm", "generic", "pagecache"}

// event is an alias with the variables that it sets.
type event struct {
	name, file string
	vars       []string
}

var setting = regexp.MustCompile(`(?m)^\t(\w+) = `)
var word = regexp.MustCompile(`[A-Za-z_]\w*(?:\.\w+)*`)

// events lists the aliases of eventFiles. A comment that says "as NAME" takes over what that alias' comment says.
func events(t *testing.T) []event {
	t.Helper()
	var out []event
	for _, f := range tapsets.Files {
		if !slices.Contains(eventFiles, strings.TrimSuffix(f.Name, ".stp")) {
			continue
		}
		text, err := tapsets.FS.ReadFile(f.Name)
		if err != nil {
			t.Fatal(err)
		}
		docs, have := map[string][]string{}, map[string][]string{}
		for _, e := range f.Entries {
			if e.Kind != grammar.AliasEntry {
				continue
			}
			var doc []string
			lines := strings.Split(strings.TrimSuffix(string(text[:e.Off]), "\n"), "\n")
			for i := len(lines) - 1; i >= 0 && strings.HasPrefix(lines[i], "//"); i-- {
				doc = append(word.FindAllString(lines[i], -1), doc...)
			}
			if len(doc) == 0 && !strings.HasPrefix(e.Names[0], "__") {
				t.Errorf("%s:%d: %s has no comment", f.Name, e.Line, e.Names[0])
			}
			for i, w := range doc {
				if w == "as" && i+1 < len(doc) {
					doc = append(doc, docs[doc[i+1]]...)
					doc = append(doc, docs[e.Names[0][:strings.IndexByte(e.Names[0], '.')+1]+doc[i+1]]...)
				}
			}
			// An alias for others has their variables.
			var vars []string
			for i, w := range doc {
				if w == "as" && i+1 < len(doc) && !setting.Match(text[e.Off:e.End]) {
					vars = append(vars, have[doc[i+1]]...)
				}
			}
			for _, m := range setting.FindAllStringSubmatch(string(text[e.Off:e.End]), -1) {
				if !strings.HasPrefix(m[1], "__") && !slices.Contains(vars, m[1]) {
					vars = append(vars, m[1])
				}
			}
			for _, n := range e.Names {
				docs[n], have[n] = doc, vars
				out = append(out, event{n, f.Name, vars})
			}
		}
	}
	return out
}

// TestEvents: every alias for what happens in the kernel stands for something in the one that runs here, and all
// variables that it sets can be read. Points that some kernels lack may be missing; what is said then is the
// point's name.
func TestEvents(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/btf/vmlinux"); err != nil {
		t.Skip("this kernel does not publish its types")
	}
	may := []string{"scheduler.balance", "scheduler.tick", "scheduler.cpu_on", "signal.send_sig_queue",
		"signal.send_sig_queue.return", "workqueue.create", "workqueue.destroy", "vm.write_shared",
		"vm.write_shared_copy", "vm.brk", "ioblock_trace.bounce", "ioscheduler_trace.elv_abort_request",
		"ioscheduler_trace.unplug_timer",
		"netdev.change_rx_flag"}
	may = append(may, "socket.send", "socket.receive", "socket.sendmsg.return", "socket.recvmsg.return")
	all := events(t)
	if len(all) < 100 {
		t.Errorf("only %d aliases were found", len(all))
	}
	var script strings.Builder
	for _, e := range all {
		optional := ""
		if slices.Contains(may, e.name) {
			optional = " ?"
		}
		if strings.HasPrefix(e.name, "__") {
			continue // what others stand on
		}
		if len(e.vars) > 0 {
			fmt.Fprintf(&script, "probe %s%s { println(%s) }\n", e.name, optional, strings.Join(e.vars, `, " ", `))
			continue
		}
		fmt.Fprintf(&script, "probe %s%s { println(pid()) }\n", e.name, optional)
		if e.name != "kprocess.start" && !strings.HasPrefix(e.name, "socket.") {
			t.Errorf("%s: the comment of %s names no variables", e.file, e.name)
		}
	}
	r, ds := compiler.Compile(context.Background(), compiler.Options{
		Scripts: []compiler.Script{{Name: "t.stp", Text: []byte(script.String())}}, Limits: layout.Default(),
		Verify: true,
	})
	defer r.Close()
	if ds.HasErrors() {
		var b strings.Builder
		(&diag.Printer{W: &b, Files: r.Files}).Print(ds)
		t.Error(b.String())
	}
}

// TestUnusedVariables: what an alias offers and a kernel does not have is told to those who ask for it, and to nobody
// else.
func TestUnusedVariables(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/btf/vmlinux"); err != nil {
		t.Skip("this kernel does not publish its types")
	}
	for script, want := range map[string]string{
		`probe ioblock.request { println(sector, hw_segments) }`:                                                         "",
		`probe json_data { $value = "" }`:                                                                                "",
		`probe json_data { @json_output_data_start @json_output_data_end }`:                                              "",
		`probe own = begin { a = $nosuch b = a + 1 c = 5 } probe own { println(c) }`:                                     "",
		`probe own = begin { a = $nosuch b = a + 1 c = 5 } probe own { println(b) }`:                                     "$nosuch",
		`global a probe own = begin { a = $nosuch c = 5 } probe own { println(c) }`:                                      "$nosuch",
		`probe own = begin { if (1 < pid()) a = $nosuch c = 5 } probe own { println(c) }`:                                "$nosuch",
		`probe own = begin { a = $nosuch } probe own { a++ }`:                                                            "$nosuch",
		`global n function f() { return n++ } probe own = begin { a = f() } probe own { exit() } probe end {println(n)}`: "",
	} {
		r, ds := compiler.Compile(context.Background(), compiler.Options{
			Scripts: []compiler.Script{{Name: "t.stp", Text: []byte(script)}}, Limits: layout.Default(), Verify: true,
		})
		var b strings.Builder
		(&diag.Printer{W: &b, Files: r.Files}).Print(ds)
		if want == "" && ds.HasErrors() || want != "" && !strings.Contains(b.String(), want) {
			t.Errorf("%s\nwant %q, got\n%s", script, want, b.String())
		}
		if strings.HasPrefix(script, "global n") && r.Program != nil && !strings.Contains(r.Program.Dump(), "gadd @n") {
			t.Errorf("a call in an alias of the script was taken away:\n%s", r.Program.Dump())
		}
		r.Close()
	}
}
