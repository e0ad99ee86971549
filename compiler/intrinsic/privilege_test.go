package intrinsic

import "testing"

// TestUnprivileged: the list names functions that are there, and none that reads the kernel.
func TestUnprivileged(t *testing.T) {
	for name := range unprivileged {
		if Lookup(name) == nil {
			t.Errorf("there is no function %s", name)
		}
	}
	for _, name := range []string{"kernel_string", "backtrace", "symname", "task_current", "register", "ftrace", "env_var"} {
		if f := Lookup(name); f != nil && Unprivileged(f) {
			t.Errorf("%s tells about the kernel", name)
		}
	}
}
