package main

import (
	"fmt"
	"regexp"
	"time"
)

var (
	tagged   = regexp.MustCompile(`^v?(\d+(?:\.\d+)*)(?:-((?:alpha|beta|rc)[\w.]*))?(?:-(\d+)-g([0-9a-f]+))?(-dirty)?$`)
	untagged = regexp.MustCompile(`^([0-9a-f]{7,40})(-dirty)?$`)
)

// packageVersion is what package managers compare, made of what git describe says: v1.2-rc1 comes before v1.2, commits
// behind a tag after it, and commits without any before all.
func packageVersion(described string, at time.Time) (string, error) {
	version, dirty := "", ""
	if m := untagged.FindStringSubmatch(described); m != nil { // perhaps of digits alone
		version, dirty = "0~git"+at.Format("20060102")+"."+m[1], m[2]
	} else if m := tagged.FindStringSubmatch(described); m != nil {
		version, dirty = m[1], m[5]
		if m[2] != "" {
			version += "~" + m[2]
		}
		if m[3] != "" {
			version += "+" + m[3] + ".g" + m[4]
		}
	} else {
		return "", fmt.Errorf("%q is no version: git describe --tags --always says vN.N.N, vN.N.N-N-gCOMMIT or COMMIT",
			described)
	}
	if dirty != "" {
		version += "+dirty"
	}
	return version, nil
}
