package chart

import (
	"regexp"
	"strings"
)

var (
	tagged   = regexp.MustCompile(`^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-((?:alpha|beta|rc)[\w.]*))?(?:-(\d+)-g([0-9a-f]+))?(-dirty)?$`)
	untagged = regexp.MustCompile(`^([0-9a-f]{7,40})(-dirty)?$`)
	parts    = regexp.MustCompile(`[0-9A-Za-z-]+`)
)

// Semver is a version as semver.org has it, made of what git describe says. Commits behind a tag are told from it by
// what does not count in comparisons; commits without a tag come before all tags.
func Semver(described string) string {
	if m := untagged.FindStringSubmatch(described); m != nil { // perhaps of digits alone
		return "0.0.0-g" + m[1] + strings.Replace(m[2], "-", "+", 1)
	}
	m := tagged.FindStringSubmatch(described)
	if m == nil {
		return "0.0.0-unknown"
	}
	var numbers []string
	for _, n := range m[1:4] {
		if n = strings.TrimLeft(n, "0"); n == "" {
			n = "0"
		}
		numbers = append(numbers, n)
	}
	version := strings.Join(numbers, ".")
	if m[4] != "" {
		pre := parts.FindAllString(strings.ReplaceAll(m[4], "_", "-"), -1)
		for i, p := range pre {
			if short := strings.TrimLeft(p, "0"); strings.Trim(p, "0123456789") == "" && short != p {
				pre[i] = "0"[min(len(short), 1):] + short
			}
		}
		version += "-" + strings.Join(pre, ".")
	}
	var more []string
	if m[5] != "" {
		more = append(more, m[5], "g"+m[6])
	}
	if m[7] != "" {
		more = append(more, "dirty")
	}
	if len(more) > 0 {
		version += "+" + strings.Join(more, ".")
	}
	return version
}
