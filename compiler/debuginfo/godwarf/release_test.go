package godwarf

import "testing"

func TestRelease(t *testing.T) {
	for v, want := range map[string]string{
		"go1.26.8": "go1.26", "go1.26": "go1.26", "go1.20": "go1.20",
		"go1.26.8 X:boringcrypto": "go1.26", "go1.26.8 X:boringcrypto,nogreenteagc": "go1.26",
		"go1.26.8-custom X:jsonv2":        "go1.26",
		"go1.22.9 (Red Hat 1.22.9-1.el9)": "go1.22", "go1.25.1-microsoft": "go1.25", "go1.24.3+cve": "go1.24",
		// What may change the runtime, or is not a release.
		"go1.26.8 X:runtimesecret": "", "go1.26.8 X:boringcrypto,runtimesecret": "", "go1.24.1 X:synctest": "",
		"go1.21.0 X:noregabi": "",
		"go1.26.8 X:":         "", "go1.27-devel_4c1b2d9": "", "devel go1.27-4c1b2d9": "", "go1.26rc1": "",
		"go1.26rc1 X:boringcrypto": "", "": "", "go2.1": "", "go1.": "", "go1": "",
	} {
		if got := releaseOf(v); got != want {
			t.Errorf("%q: %q, want %q", v, got, want)
		}
	}
}
