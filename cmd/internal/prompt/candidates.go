package prompt

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Fitting gives the words that begin so, in order, each once.
func Fitting(words []string, begin string) (out []string) {
	for _, w := range words {
		if strings.HasPrefix(w, begin) {
			out = append(out, w)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Files are folders, which end with a slash, and files whose names end so, with paths that begin so. Hidden ones are
// among them where a name begins with a dot.
func Files(begin, end string) (words []string) {
	dir, base := filepath.Split(begin)
	list := dir
	if list == "" {
		list = "."
	}
	entries, _ := os.ReadDir(list)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), base) || base == "" && strings.HasPrefix(e.Name(), ".") {
			continue
		}
		name := dir + e.Name()
		if st, err := os.Stat(name); err == nil && st.IsDir() {
			words = append(words, name+"/")
		} else if strings.HasSuffix(name, end) {
			words = append(words, name)
		}
	}
	return Fitting(words, begin)
}
