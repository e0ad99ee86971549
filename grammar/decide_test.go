package grammar

import "testing"

// TestDecide: a test is told as in a script, and nothing else is one.
func TestDecide(t *testing.T) {
	c := Conditions{Kernel: "6.12.3-1", Config: func(name string) (string, bool) { return "250", name == "CONFIG_HZ" }}
	for test, want := range map[string]string{
		`kernel_v >= "6.1"`: "true", `kernel_v < "6.12"`: "false", `CONFIG_HZ == 250`: "true",
		`kernel_v == "6.1*"`: "true", ``: "error", `kernel_v`: "error", `1 == 1 %? probe begin { } %: global x`: "error",
		`nosuch == 1`: "error", `1 == 1 %? global yes, b %: global x %) %( 1 == 1`: "error",
	} {
		got := "error"
		if holds, err := Decide(test, c); err == nil {
			got = map[bool]string{true: "true", false: "false"}[holds]
		}
		if got != want {
			t.Errorf("%s: %s, want %s", test, got, want)
		}
	}
}
