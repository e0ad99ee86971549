package syscalls

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestTable(t *testing.T) {
	last := -1
	for _, c := range All() {
		if c.Nr <= last {
			t.Errorf("%s: number %d comes behind %d", c.Name, c.Nr, last)
		}
		last = c.Nr
		if ByNumber(c.Nr).Name != c.Name || ByName(c.Name).Nr != c.Nr {
			t.Errorf("%s is not found", c.Name)
		}
		if n := len(c.Args()); n > 6 {
			t.Errorf("%s has %d arguments", c.Name, n)
		}
		for _, a := range c.Args() {
			if a.Name == "" || a.Type == "" {
				t.Errorf("%s: argument %+v", c.Name, a)
			}
		}
	}
	if c := ByName("newfstat"); c == nil || c.Nr != unix.SYS_FSTAT || c.Name != "fstat" {
		t.Errorf("newfstat: %+v", c)
	}
	if c := ByName("openat"); len(c.Args()) != 4 || c.Args()[1] != (Arg{"filename", "const char *"}) {
		t.Errorf("openat: %+v", c.Args())
	}
	if ByNumber(400) != nil || ByNumber(-1) != nil || ByName("nope") != nil || last < unix.SYS_FILE_SETATTR {
		t.Error("calls that do not exist, or none that do")
	}
}
