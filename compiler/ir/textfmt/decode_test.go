package textfmt

import "testing"

func TestDecode(t *testing.T) {
	const open = "|0;3/0 O_RDONLY,3/1 O_WRONLY,3/2 O_RDWR,0x40 O_CREAT,0x410000/0x410000 O_TMPFILE,0x10000 " +
		"O_DIRECTORY,0x80000 O_CLOEXEC"
	const whence = "=%d;0 SEEK_SET,1 SEEK_CUR,2 SEEK_END"
	for _, c := range []struct {
		spec string
		v    int64
		want string
	}{
		{open, 0, "O_RDONLY"}, {open, 1, "O_WRONLY"}, {open, 0x80042, "O_RDWR|O_CREAT|O_CLOEXEC"}, {open, 3, "0x3"},
		{open, 0x1000000, "O_RDONLY|0x1000000"},
		{open, 0x410002, "O_RDWR|O_TMPFILE"}, {open, 0x10000, "O_RDONLY|O_DIRECTORY"},
		{"|0;1 PROT_READ,2 PROT_WRITE", 3, "PROT_READ|PROT_WRITE"},
		{"|PROT_NONE;1 PROT_READ,2 PROT_WRITE", 0, "PROT_NONE"}, {"|0;1 A", -1, "A|0xfffffffffffffffe"},
		{whence, 2, "SEEK_END"}, {whence, 7, "7"}, {"=%#x;-100 AT_FDCWD", -100, "AT_FDCWD"},
		{"=%#x;-100 AT_FDCWD", 16, "0x10"},
		{"r", 0, "0"}, {"r", -2, "-2 (ENOENT)"}, {"r", -512, "-512 (ERESTARTSYS)"}, {"r", -5000, "-5000"},
		{"r", -4000, "-4000"}, {"x", 255, "0xff"}, {"x", -12, "-12 (ENOMEM)"},
		{"x", -8192, "0xffffffffffffe000"}, {"o", 18, "022"},
		{"?, %#o", 0644, ", 0644"}, {"?, %#o", -1, ""}, {"?, %#o", 0, ", 0"}, {"?x%", 1, "x%"}, {"?plain", 1, "plain"},
		{"", 5, "5"}, {"nonsense", 5, "5"}, {"|none;rubbish,1,x Y,1/2/3 Z", 1, "0x1"}, {"=", 1, ""},
	} {
		if got := Decode(c.spec, c.v); got != c.want {
			t.Errorf("Decode(%q, %d) = %q, want %q", c.spec, c.v, got, c.want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("|0;3/0 O_RDONLY,1 A", int64(7))
	f.Add("=%#x;-1 A", int64(-1))
	f.Add("?%", int64(0))
	f.Fuzz(func(_ *testing.T, spec string, v int64) { Decode(spec, v) })
}
