package vm

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// standIn answers as a qemu does: CPU 0 enters the breakpoint's handler, CPU 1 waits in a loop.
type standIn struct {
	out  chan []byte
	code byte // what memory has where CPU 0 met the breakpoint
}

const (
	standInIDT     = 0xfffffe0000000000
	standInHandler = 0xffffffff81c00ba0
	standInBreak   = 0xffffffff810e190a
)

func (s *standIn) Write(b []byte) (int, error) {
	var asked struct {
		ID        string
		Arguments struct {
			Line string `json:"command-line"`
		}
	}
	if err := json.Unmarshal(b, &asked); err != nil {
		return 0, err
	}
	text := ""
	var n int
	var addr uint64
	if asked.Arguments.Line == "info registers -a" {
		for cpu, ip := range []uint64{standInHandler, 0xffffffff81a18710} {
			text += fmt.Sprintf("\r\nCPU#%d\r\nRAX=0000000000000001 RBX=ff11000004620080 RCX=0 RDX=0\r\nRSI=0 RDI=0 "+
				"RBP=ff1100003d631a00 RSP=ffa000000008be0%d\r\n"+
				"RIP=%016x RFL=00000002 [-------] CPL=0 II=0 A20=1 SMM=0 HLT=0\r\nIDT=     %x 00000fff\r\n", cpu, cpu*8,
				ip, uint64(standInIDT))
		}
	} else if k, _ := fmt.Sscanf(asked.Arguments.Line, "x /%dgx 0x%x", &n, &addr); k == 2 {
		word := []uint64{1, 2}
		switch addr {
		case standInIDT + 3*16:
			word = []uint64{0x81c0ee0000100ba0, 0xffffffff}
		case 0xffa000000008be00:
			word = []uint64{standInBreak + 1, 0x10}
		case standInBreak:
			word = []uint64{0x9066906690669000 | uint64(s.code), 0}
		}
		text = fmt.Sprintf("%016x: 0x%016x 0x%016x\r\n", addr, word[0], word[1])
		if n == 1 {
			text = fmt.Sprintf("%016x: 0x%016x\r\n", addr, word[0])
		}
	}
	s.out <- []byte(`{"timestamp": {}, "event": "RESUME"}`)
	answer, err := json.Marshal(map[string]any{"return": text, "id": asked.ID})
	s.out <- answer
	return len(b), err
}

// TestState: what is told of a guest that stands still, and when qemu is to blame.
func TestState(t *testing.T) {
	for _, c := range []struct {
		code  byte
		stale string
	}{
		{0x66, "CPU 0 runs into a breakpoint at 0xffffffff810e190a, where there is none any more"},
		{0xcc, ""},
	} {
		out := make(chan []byte, 10)
		m := &monitor{&standIn{out, c.code}, out}
		text, stale := m.state(&Kernel{})
		if stale != c.stale {
			t.Errorf("with code %x: %q", c.code, stale)
		}
		for _, w := range []string{"CPU 0 at 0xffffffff81c00ba0: RIP=", "\t0xffffffff810e190b\n",
			"CPU 1 at 0xffffffff81a18710: RIP="} {
			if !strings.Contains(text, w) {
				t.Errorf("no %q in\n%s", w, text)
			}
		}
	}
}

func TestQemuVersion(t *testing.T) {
	for said, want := range map[string]bool{
		"QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)": true, "QEMU emulator version 8.0.4": true,
		"QEMU emulator version 8.1.0": false, "QEMU emulator version 10.0.13 (Debian 1:10.0.13+ds-0+deb13u1)": false,
		"": false,
	} {
		if got := versionLosesCode(said); got != want {
			t.Errorf("%q: %v", said, got)
		}
	}
}
