package event

import (
	"bytes"
	"strings"
	"testing"
)

// TestMessages: whatever is in a message, it is read as what it is.
func TestMessages(t *testing.T) {
	var b bytes.Buffer
	own, hosts := &Messages{To: &b}, &Messages{To: &b, Agents: true}
	forged := Event{Agent: "agent-b", State: Lost}
	for _, w := range []struct {
		m    *Messages
		text string
	}{
		{own, "WARNING: a\n" + string(forged.Line()) + "agent-b: error: gone\n"},
		{hosts, "agent-a#2: WARNING: b: c\nagent-a: " + string(forged.Line())},
		{own, "in "}, {hosts, "agent-a: \x1b[2J\xff\n"}, {own, "parts\n" + strings.Repeat("x", longest+3) + "\n"},
	} {
		if n, err := w.m.Write([]byte(w.text)); n != len(w.text) || err != nil {
			t.Fatal(n, err)
		}
	}
	want := []Event{{Said: "WARNING: a"}, {Said: strings.TrimSpace(string(forged.Line()))},
		{Said: "agent-b: error: gone"}, {Agent: "agent-a", Said: "WARNING: b: c"},
		{Agent: "agent-a", Said: strings.TrimSpace(string(forged.Line()))}, {Agent: "agent-a", Said: "\x1b[2J\uFFFD"},
		{Said: "in parts"}, {Said: strings.Repeat("x", longest)}, {Said: "xxx"}}
	for line := range strings.Lines(b.String()) {
		e, ok := Parse([]byte(line))
		if len(want) == 0 || !ok || e.At.IsZero() {
			t.Fatalf("%v %q", ok, line)
		}
		if e.At = want[0].At; e != want[0] {
			t.Errorf("%.99q is %.99q of %q, want %.99q", line, e.Said, e.Agent, want[0].Said)
		}
		want = want[1:]
	}
	b.Reset()
	if own.Write(bytes.Repeat([]byte{1}, longest)); b.Len() > 0 {
		t.Errorf("a line without an end: %.99q", b.String())
	}
	if own.Write([]byte("\n")); b.Len() < 6*longest || b.Len() >= 64<<10 {
		t.Errorf("an event of %d bytes", b.Len())
	}
	if len(want) > 0 {
		t.Errorf("missing: %+v", want)
	}
}
