package diag

import (
	"fmt"
	"strings"
)

// Few shows the first five of many names, and how many more there are.
func Few(names []string) string {
	const show = 5
	if len(names) > show {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:show], ", "), len(names)-show)
	}
	return strings.Join(names, ", ")
}
