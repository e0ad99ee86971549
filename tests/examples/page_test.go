package examples

import (
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/tests/pages"
)

var update = flag.Bool("update", false, "write the tables of docs/compat.md")

const pageFile = "../../docs/compat.md"

// between gives the two lines that a table stands between.
func between(what string) (begin, end string) {
	return "<!-- " + what + ": made by " + asked + "=full go test ./tests/examples -update -->\n",
		"<!-- end of " + what + " -->\n"
}

// writeOrCompare puts a table into the page, or says how the page differs.
func writeOrCompare(t *testing.T, what, text string) {
	t.Helper()
	begin, end := between(what)
	old, err := pages.Table(pageFile, begin, end)
	if err == nil && *update {
		err = pages.Write(pageFile, begin, end, text)
	}
	switch {
	case err != nil:
		t.Fatal(err)
	case *update:
	case old != text:
		t.Errorf("docs/compat.md says something else of %s; -update writes this:\n%s", what, text)
	}
}

// row is what came of an example: for each target "", or what the first error says.
type row struct {
	example
	said []string
}

// beyond are the examples that ask for what Debian does not have, or kernels from 6.1 on, with what that is.
var beyond = map[string]string{
	"apps/gmalloc_watch":            "Debian's glib comes without its tapset",
	"apps/stap_time":                "Debian's stap comes without types",
	"general/badname":               "vfs_rename has other parameters since 5.12",
	"general/floatingpoint":         "Debian's stap comes without symbols",
	"general/py2example":            "Debian has no module of Python for it",
	"general/py3example":            "Debian has no module of Python for it",
	"general/tcl-funtop":            "Debian's Tcl has no marks",
	"general/tcl-trace":             "Debian's Tcl has no marks",
	"io/capture_ssl_master_secrets": "Debian's libssl comes without symbols of its own functions",
	"io/eatmydata":                  "the function is only inlined, so that its return is no place",
	"locks/bkl":                     "gone since 2.6.39",
	"locks/bkl_stats":               "gone since 2.6.39",
	"lwtools/fslatency-nd":          "__vfs_read is gone since 5.8; stap probes a function that is not there",
	"lwtools/fsslower-nd":           "__vfs_read is gone since 5.8; stap probes a function that is not there",
	"memory/cachestat":              "the function is only inlined, so that its return is no place",
	"memory/glibc-malloc":           "Debian's libc has no marks",
	"memory/mmanonpage":             "tracepoints of Red Hat's kernels",
	"memory/mmwriteback":            "tracepoints of Red Hat's kernels",
	"network/autofs4":               "the functions have other names since 4.18",
	"process/futexes2":              "the member is gone since 5.9",
	"process/mutex-contention":      "libc has the functions since 2.34, and libpthread none",
	"process/pfiles":                "its C calls fcheck_files, which is gone since 5.11",
}

// tableOf writes the table of translated examples.
func tableOf(targets []target, rows []row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "This kernel is %s, the other one Debian's %s with its debug information.\n\n", kernelHere(),
		release)
	cells := func(first string, count func(i int) int, all, able int) {
		fmt.Fprintf(&b, "| %s | %d |", first, all)
		for i := range targets {
			fmt.Fprintf(&b, " %d |", count(i))
		}
		fmt.Fprintf(&b, " %d |\n", able)
	}
	b.WriteString("| | examples |")
	for _, to := range targets {
		fmt.Fprintf(&b, " %s |", to.name)
	}
	b.WriteString(" can pass |\n|---|---|" + strings.Repeat("---|", len(targets)+1) + "\n")
	var dirs []string
	for _, r := range rows {
		if !slices.Contains(dirs, r.dir()) {
			dirs = append(dirs, r.dir())
		}
	}
	for _, d := range append(dirs, "") {
		of, able := 0, 0
		for _, r := range rows {
			if d == "" || r.dir() == d {
				of++
				if beyond[r.name] == "" {
					able++
				}
			}
		}
		name := d
		if d == "" {
			name = "all"
		}
		cells(name, func(i int) (n int) {
			for _, r := range rows {
				if (d == "" || r.dir() == d) && r.said[i] == "" {
					n++
				}
			}
			return n
		}, of, able)
	}
	b.WriteString("\nThose that do not pass everywhere:\n\n| |")
	for _, to := range targets {
		fmt.Fprintf(&b, " %s |", to.name)
	}
	b.WriteString(" cannot, because |\n|---|" + strings.Repeat("---|", len(targets)+1) + "\n")
	var well []string
	for _, r := range rows {
		if !slices.ContainsFunc(r.said, func(s string) bool { return s != "" }) {
			well = append(well, "`"+r.name+"`")
			continue
		}
		fmt.Fprintf(&b, "| `%s` |", r.name)
		for i, s := range r.said {
			switch {
			case s == "":
				s = "passes"
			case i > 0 && s == r.said[i-1]:
				s = "the same"
			}
			fmt.Fprintf(&b, " %s |", strings.ReplaceAll(s, "|", "\\|"))
		}
		fmt.Fprintf(&b, " %s |\n", beyond[r.name])
	}
	b.WriteString("\nThose that do:\n" + strings.Join(well, ",\n") + ".\n")
	return b.String()
}

// page is what docs/compat.md says of examples.
type page struct {
	kernel string
	said   map[string][]string // of an example, as in row
}

var (
	kernelLine = regexp.MustCompile(`(?m)^This kernel is (\S+),`)
	failLine   = regexp.MustCompile("(?m)^\\| `([a-z-]+/[^`]+)` \\| (.*) \\|$")
	wellName   = regexp.MustCompile("(?m)^`([a-z-]+/[^`]+)`[,.]$")
	cellEnd    = regexp.MustCompile(` \| ?`)
)

func readPage(t *testing.T) *page {
	t.Helper()
	begin, end := between("examples")
	rest, err := pages.Table(pageFile, begin, end)
	if err != nil {
		t.Fatal(err)
	}
	p := &page{said: map[string][]string{}}
	if m := kernelLine.FindStringSubmatch(rest); m != nil {
		p.kernel = m[1]
	}
	for _, m := range wellName.FindAllStringSubmatch(rest, -1) {
		p.said[m[1]] = make([]string, 3)
	}
	for _, m := range failLine.FindAllStringSubmatch(rest, -1) {
		var said []string
		for _, s := range cellEnd.Split(m[2], -1)[:3] {
			switch s = strings.ReplaceAll(s, "\\|", "|"); s {
			case "passes":
				s = ""
			case "the same":
				s = said[len(said)-1]
			}
			said = append(said, s)
		}
		p.said[m[1]] = said
	}
	return p
}

// passes says whether an example is translated for the running kernel.
func (p *page) passes(name string) bool {
	said := p.said[name]
	return len(said) > 0 && said[0] == ""
}

// kernelHere is the running kernel's release.
func kernelHere() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}

// checkOf gives the command of a .meta file, which may be compressed, "" if there is none.
func checkOf(t *testing.T, meta string) string {
	t.Helper()
	f, err := os.Open(meta)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(meta, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	_, check, _ := strings.Cut(string(text), "\ntest_check")
	_, check, _ = strings.Cut(check, ":") // test_check_bpf: is one of them
	check, _, _ = strings.Cut(check, "\n")
	return strings.TrimSpace(check)
}
