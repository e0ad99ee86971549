package syscalls

import "testing"

func TestTable(t *testing.T) {
	last := -1
	for _, c := range AMD64 {
		if c.Nr <= last {
			t.Errorf("%s: number %d comes behind %d", c.Name, c.Nr, last)
		}
		last = c.Nr
		if AMD64.ByNumber(c.Nr).Name != c.Name || AMD64.ByName(c.Name).Nr != c.Nr {
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
	if c := AMD64.ByName("newfstat"); c == nil || c.Nr != 5 || c.Name != "fstat" {
		t.Errorf("newfstat: %+v", c)
	}
	if c := AMD64.ByName("openat"); len(c.Args()) != 4 || c.Args()[1] != (Arg{"filename", "const char *"}) {
		t.Errorf("openat: %+v", c.Args())
	}
	if AMD64.ByNumber(400) != nil || AMD64.ByNumber(-1) != nil || AMD64.ByName("nope") != nil || last < 469 {
		t.Error("calls that do not exist, or none that do")
	}
}
