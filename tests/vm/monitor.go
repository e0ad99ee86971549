package vm

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

// losesCode says that the installed qemu may lose a change of code. Before 8.1 a CPU that translates code while another
// one writes it can keep what it has read; the kernel changes its code all the time (probes, tracepoints, switches), by
// way of a breakpoint. A CPU that keeps the breakpoint dies of it, or goes round and round between it and a handler
// that finds nothing there: the guest stands still, with or without a word about RCU. No module is needed for it: of
// twelve guests that only turned /proc/sys/kernel/sched_schedstats on and off, on a busy machine, nine ended so before
// the 4000th time. With one thread for all CPUs nobody writes while another one translates.
var losesCode = sync.OnceValue(func() bool {
	out, err := exec.Command("qemu-system-x86_64", "--version").Output()
	return err == nil && versionLosesCode(string(out))
})

var qemuVersion = regexp.MustCompile(`version (\d+)\.(\d+)`)

func versionLosesCode(said string) bool {
	m := qemuVersion.FindStringSubmatch(said)
	if m == nil {
		return false
	}
	major, minor := decimal(m[1]), decimal(m[2])
	return major < 8 || major == 8 && minor < 1
}

// monitor asks a running qemu about the guest, by QMP on its standard input and output.
type monitor struct {
	in  io.Writer
	out chan []byte // the lines that it says
}

func monitorOf(cmd *exec.Cmd) (*monitor, error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	r, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	m := &monitor{in, make(chan []byte, 1000)}
	go func() {
		defer close(m.out)
		for s := bufio.NewReader(r); ; {
			line, err := s.ReadBytes('\n')
			if err != nil {
				return
			}
			select {
			case m.out <- line:
			default: // nobody asks
			}
		}
	}()
	return m, nil
}

// do runs a command and gives what it returns.
func (m *monitor) do(command string, arguments any) (string, error) {
	b, err := json.Marshal(map[string]any{"execute": command, "arguments": arguments, "id": command})
	if err != nil {
		return "", err
	}
	if _, err := m.in.Write(append(b, '\n')); err != nil {
		return "", err
	}
	late := time.After(10 * time.Second)
	for {
		select {
		case line, ok := <-m.out:
			if !ok {
				return "", io.EOF
			}
			var answer struct {
				ID     string
				Return json.RawMessage
				Error  *struct{ Desc string }
			}
			if json.Unmarshal(line, &answer) != nil || answer.ID != command {
				continue // a greeting, an event
			}
			if answer.Error != nil {
				return "", fmt.Errorf("%s: %s", command, answer.Error.Desc)
			}
			var text string
			json.Unmarshal(answer.Return, &text)
			return text, nil
		case <-late:
			return "", fmt.Errorf("%s: no answer", command)
		}
	}
}

// human runs a command of the monitor for people.
func (m *monitor) human(line string) (string, error) {
	return m.do("human-monitor-command", map[string]any{"command-line": line})
}

// words reads n 8-byte words of the guest's memory as CPU number cpu sees it.
func (m *monitor) words(cpu int, addr uint64, n int) []uint64 {
	text, err := m.do("human-monitor-command", map[string]any{"command-line": fmt.Sprintf("x /%dgx 0x%x", n, addr),
		"cpu-index": cpu})
	if err != nil {
		return nil
	}
	var out []uint64
	for _, l := range strings.Split(text, "\n") {
		_, l, _ = strings.Cut(l, ":")
		for _, f := range strings.Fields(l) {
			if v, err := strconv.ParseUint(strings.TrimPrefix(f, "0x"), 16, 64); err == nil {
				out = append(out, v)
			}
		}
	}
	return out
}

// cpuState is what the registers of a CPU say.
type cpuState struct {
	ip, sp, idt uint64
	line        string
}

var cpuFields = regexp.MustCompile(`(?m)^(?:RIP=([0-9a-f]+) .*|.*RSP=([0-9a-f]+).*|IDT= *([0-9a-f]+) .*)$`)

func (m *monitor) registers() []cpuState {
	text, err := m.human("info registers -a")
	if err != nil {
		return nil
	}
	var out []cpuState
	for _, part := range strings.Split(text, "CPU#")[1:] {
		var c cpuState
		for _, f := range cpuFields.FindAllStringSubmatch(part, -1) {
			for i, to := range []*uint64{&c.ip, &c.sp, &c.idt} {
				if f[i+1] != "" {
					*to, _ = strconv.ParseUint(f[i+1], 16, 64)
				}
			}
			if f[1] != "" {
				c.line = strings.TrimSpace(f[0])
			}
		}
		out = append(out, c)
	}
	return out
}

// state tells where each CPU of a guest is that does not go on, and what lies on its stack. The second result is
// not empty where a CPU runs into a breakpoint, over and over, where the guest's memory has none.
func (m *monitor) state(k *Kernel) (text, stale string) {
	if _, err := m.do("qmp_capabilities", struct{}{}); err != nil {
		return "the emulator does not answer: " + err.Error(), ""
	}
	name := k.names()
	var out bytes.Buffer
	for range 2 {
		m.human("stop")
		for i, c := range m.registers() {
			fmt.Fprintf(&out, "CPU %d at %s: %s\n", i, name(c.ip), c.line)
			for _, w := range m.words(i, c.sp, 160) {
				if w>>31 == 1<<33-1 { // the kernel's code, and modules
					fmt.Fprintf(&out, "\t%s\n", name(w))
				}
			}
		}
		m.human("cont")
		time.Sleep(300 * time.Millisecond)
	}
	found := map[uint64]int{}
	for late := time.Now().Add(15 * time.Second); time.Now().Before(late); {
		m.human("stop")
		for i, c := range m.registers() {
			gate := m.words(i, c.idt+3*16, 2)
			if len(gate) != 2 || c.ip != gate[0]&0xffff|gate[0]>>32&0xffff0000|gate[1]<<32 {
				continue
			}
			back := m.words(i, c.sp, 1)
			if len(back) != 1 {
				continue
			}
			if code := m.words(i, back[0]-1, 1); len(code) == 1 && byte(code[0]) != 0xcc {
				if found[back[0]-1]++; found[back[0]-1] == 3 {
					stale = fmt.Sprintf("CPU %d runs into a breakpoint at %s, where there is none any more", i,
						name(back[0]-1))
				}
			}
		}
		m.human("cont")
		if stale != "" {
			break
		}
	}
	return out.String(), stale
}

// names gives names to addresses, if the kernel's symbols were fetched before (Facts).
func (k *Kernel) names() func(uint64) string {
	type symbol struct {
		addr uint64
		name string
	}
	var all []symbol
	b, _ := os.ReadFile(filepath.Join(k.dir, "facts", "kallsyms"))
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) >= 3 {
			addr, err := strconv.ParseUint(f[0], 16, 64)
			if err == nil && addr>>63 != 0 {
				all = append(all, symbol{addr, f[2]})
			}
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].addr < all[j].addr })
	return func(addr uint64) string {
		i := sort.Search(len(all), func(i int) bool { return all[i].addr > addr })
		if i == 0 || addr-all[i-1].addr > 1<<20 {
			return fmt.Sprintf("0x%x", addr)
		}
		return fmt.Sprintf("0x%x %s+0x%x", addr, all[i-1].name, addr-all[i-1].addr)
	}
}

func decimal(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}
