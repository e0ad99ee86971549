package traced

import (
	"os"
	"strings"
)

// ModulesForbidden says why the running kernel takes no module that is built here, "" if nothing is known against it.
func ModulesForbidden() string { return modulesForbidden("") }

// modulesForbidden looks under root.
func modulesForbidden(root string) string {
	if b, err := os.ReadFile(root + "/proc/sys/kernel/modules_disabled"); err == nil &&
		strings.TrimSpace(string(b)) == "1" {
		return "loading of modules is switched off until the next boot"
	}
	if b, err := os.ReadFile(root + "/sys/kernel/security/lockdown"); err == nil &&
		!strings.Contains(string(b), "[none]") {
		return "this kernel is locked down and takes signed modules only"
	}
	return ""
}

// Modules reports whether a module may be what helps where eBPF does not.
func Modules() bool {
	_, err := os.Stat("/proc/modules")
	return err == nil && ModulesForbidden() == ""
}
