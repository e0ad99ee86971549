package pp

import "testing"

// The expected signs are those of glibc's strverscmp.
func TestCompareVersions(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"2.6.32", "2.6.32", 0},
		{"2.6.9", "2.6.32", -1},
		{"6.10", "6.9", 1},
		{"6.1", "6.1.0", -1},
		{"6.1.0-13-amd64", "6.1.0", 1},
		{"4.18.0-rc1", "4.18.0", 1},
		{"000", "00", -1},
		{"00", "01", -1},
		{"01", "010", -1},
		{"010", "09", -1},
		{"09", "0", -1},
		{"0", "1", -1},
		{"9", "10", -1},
		{"a9", "a10", -1},
		{"1.01", "1.1", -1},
		{"1.1", "1.01", 1},
		{"1.a", "1.1", 1},
		{"1", "a", -1},
	} {
		got := CompareVersions(c.a, c.b)
		if sign(got) != c.want {
			t.Errorf("CompareVersions(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
		if back := CompareVersions(c.b, c.a); sign(back) != -c.want {
			t.Errorf("CompareVersions(%q, %q) = %d, want %d", c.b, c.a, back, -c.want)
		}
	}
}

func sign(n int) int { return cmp(int64(n), 0) }

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{
		{"", "", true}, {"", "a", false}, {"*", "", true}, {"a*b", "ab", true}, {"a*b", "axxb", true},
		{"a*b", "abc", false},
		{"*a*b*", "xaybz", true}, {"?", "a", true}, {"?", "", false}, {"i?86", "i686", true}, {"[ym]", "m", true},
		{"[ym]", "n", false},
		{"[!y]", "n", true}, {"[^y]", "y", false}, {"[a-c]x", "bx", true}, {"[]a]", "]", true}, {"[a-]", "-", true},
		{"[a", "[a", true},
		{"x86*", "x86_64", true}, {"*/*", "a/b", true}, {"**c", "abc", true}, {"*[", "a[", true},
	} {
		if got := Glob(c.pattern, c.s); got != c.want {
			t.Errorf("Glob(%q, %q) = %v", c.pattern, c.s, got)
		}
	}
}

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		text string
		n    uint64
		msg  string
	}{
		{"0", 0, ""}, {"00", 0, ""}, {"7", 7, ""}, {"017", 15, ""}, {"0x1f", 31, ""}, {"0XFF", 255, ""},
		{"18446744073709551615", 1<<64 - 1, ""}, {"0xffffffffffffffff", 1<<64 - 1, ""},
		{"01777777777777777777777", 1<<64 - 1, ""},
		{"18446744073709551616", 0, "number 18446744073709551616 does not fit in 64 bits"},
		{"08", 0, "'8' is not a digit of an octal number; a leading 0 makes it octal"},
		{"1a", 0, "'a' is not a digit of a decimal number"},
		{"0b1", 0, "'b' is not a digit of an octal number; a leading 0 makes it octal"},
		{"0x", 0, "number 0x has no digits"},
		{"0xg", 0, "'g' is not a digit of a hexadecimal number"},
	} {
		if n, msg := Number(c.text); n != c.n || msg != c.msg {
			t.Errorf("Number(%q) = %d, %q", c.text, n, msg)
		}
	}
}

func TestUnquote(t *testing.T) {
	for _, c := range []struct{ text, want, msg string }{
		{`""`, "", ""}, {`"a b"`, "a b", ""}, {`"\a\b\t\n\v\f\r\\\""`, "\a\b\t\n\v\f\r\\\"", ""}, {`"\q\z"`, "qz", ""},
		{`"\0\12\1234\377"`, "\x00\n" + "S4\xff", ""}, {`"\x41g\x7"`, "Ag\x07", ""}, {`"\x0041"`, "A", ""},
		{`"\x100"`, "", `escape \x100 is larger than one byte`}, {`"\400"`, "", `escape \400 is larger than one byte`},
		{`"\xg"`, "", `escape \x needs hexadecimal digits`},
	} {
		if s, _, msg := Unquote(c.text); s != c.want || msg != c.msg {
			t.Errorf("Unquote(%s) = %q, %q", c.text, s, msg)
		}
	}
}
