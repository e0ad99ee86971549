package traced

import (
	"os"
	"strings"
)

// blacklistFile lists the functions that the kernel does not allow probes in.
const blacklistFile = "/sys/kernel/debug/kprobes/blacklist"

// OnBlacklist is the reason why the kernel refuses what Blacklisted finds, BlacklistHint what can be done.
const (
	OnBlacklist   = "it is on the kernel's blacklist of functions that must not be probed"
	BlacklistHint = "functions that probes themselves need are on that list (" + blacklistFile +
		"); probe one of its callers"
)

// Blacklisted reports whether the kernel's list has the function ("vfs_read", "module:function"), and whether the list
// could be read.
func Blacklisted(symbol string) (on, known bool) {
	b, err := os.ReadFile(blacklistFile)
	if err != nil {
		return false, false
	}
	return listed(string(b), symbol), true
}

// listed looks for the function in lines of "0xffffffff81000000-0xffffffff81000010	name".
func listed(text, symbol string) bool {
	name := symbol[strings.IndexByte(symbol, ':')+1:]
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) == 2 && f[1] == name {
			return true
		}
	}
	return false
}
