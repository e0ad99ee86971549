package traced

import "testing"

func TestOverridable(t *testing.T) {
	const list = "__x64_sys_mount\tERRNO\nbtrfs_search_slot [btrfs]\tERRNO\nshould_failslab\tERRNO\n"
	for _, c := range []struct {
		symbol     string
		have, want bool
	}{
		{"__x64_sys_mount", true, true}, {"should_failslab", true, true}, {"btrfs:btrfs_search_slot", true, true},
		{"vfs_read", true, false}, {"__x64_sys_moun", true, false}, {"ERRNO", true, false},
		{"__x64_sys_getuid", false, true}, {"should_failslab", false, true}, {"vfs_read", false, false},
		{"x__x64_sys_getuid", false, false},
	} {
		if err := overridable(list, c.have, c.symbol); (err == nil) != c.want {
			t.Errorf("%s, list %v: %v", c.symbol, c.have, err)
		}
	}
}
