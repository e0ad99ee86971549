package kept

import "testing"

func TestTail(t *testing.T) {
	f := Tail{Most: 5, First: true}
	for _, s := range []string{"ab", "cdef", "g"} {
		f.Write([]byte(s))
	}
	if text, total, left := f.Text(); text != "abcde" || total != 5 || left != 2 {
		t.Errorf("%q %d %d", text, total, left)
	}
	x := Tail{Most: 10}
	for range 1000 {
		x.Write([]byte("abc"))
	}
	x.Write([]byte("12\xff4"))
	if text, total, left := x.Text(); text != "abcabc12\uFFFD4" || total != 3004 || left != 2994 || len(x.b) > 20 {
		t.Errorf("%q %d %d", text, total, left)
	}
}
