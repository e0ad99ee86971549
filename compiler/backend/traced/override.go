package traced

import (
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/gostap/gostap/compiler/lateregexp"
)

// overrideFile lists the functions that may be left out, where the kernel was built to keep such a list.
const overrideFile = "/sys/kernel/debug/error_injection/list"

// marked are functions that kernels have on their list wherever they keep one: their callers take any error.
var marked = lateregexp.New(`^(__(x64|ia32|x32|ia32_compat|x64_compat)_sys_\w+|should_failslab|should_fail_alloc_page|` +
	`should_fail_bio|__filemap_add_folio|open_ctree|btrfs_cow_block|btrfs_search_slot|btrfs_should_cancel_balance|` +
	`btrfs_check_leaf_full|btrfs_check_node)$`)

var overrides = sync.OnceValues(func() (string, error) {
	b, err := os.ReadFile(overrideFile)
	return string(b), err
})

// Overridable says why the kernel function symbol must not be left out in favour of an error, nil if it may be.
func Overridable(symbol string) error {
	list, err := overrides()
	return overridable(list, err == nil, symbol)
}

// overridable is Overridable for the kernel's list, of lines "name	kind of error", or without one.
func overridable(list string, have bool, symbol string) error {
	if !have {
		if marked().MatchString(symbol) {
			return nil
		}
		return fmt.Errorf("%s is none of the functions whose callers take any error: system calls (__x64_sys_NAME), "+
			"should_failslab, should_fail_alloc_page, should_fail_bio (this kernel keeps no list of its own)", symbol)
	}
	name := symbol[strings.IndexByte(symbol, ':')+1:]
	for line := range strings.Lines(list) {
		if f := strings.Fields(line); len(f) > 0 && f[0] == name {
			return nil
		}
	}
	return fmt.Errorf("%s is not on the kernel's error injection list (%s)", symbol, overrideFile)
}

// OverrideHint is what can be done about a function that must not be left out.
const OverrideHint = "in a module, set_returnval() in a probe of its .return changes what it returns after it has run"
