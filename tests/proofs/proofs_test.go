package proofs

import (
	"os"
	"testing"
)

func TestSum(t *testing.T) {
	const text = "a 1\nb 20\na 3\nname a\n"
	for pattern, want := range map[string]int{`^a (\d+)`: 4, ` (\d+)$`: 24, `^a`: 2, `a|b`: 4, `none`: 0,
		`^(a) (\d+)`: 2} {
		if n := Sum(text, pattern); n != want {
			t.Errorf("%s: %d, not %d", pattern, n, want)
		}
	}
}

func TestWrite(t *testing.T) {
	table := t.TempDir() + "/table"
	os.WriteFile(table, []byte("b\t6.1\tl\tw\t1\t1\ts\na\t6.18\tl\tw\t2\t2\ts\nno row\n"), 0o644)
	err := Write(table, []string{"c\t6.18\tl\tw\t3\t3\ts"}, func(row []string) bool { return row[1] != "6.18" })
	got, _ := os.ReadFile(table)
	if want := "b\t6.1\tl\tw\t1\t1\ts\nc\t6.18\tl\tw\t3\t3\ts\n"; err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
	if Write(t.TempDir()+"/none", nil, nil) == nil {
		t.Error("a table was made where there is none")
	}
}
