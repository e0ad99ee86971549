package patch

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/compiler/diag"
)

// fresh writes a description of functions as they are.
func fresh(ctx context.Context, w io.Writer, path string, functions []string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	f, im, err := opened(path)
	if err != nil {
		return err
	}
	defer im.Close()
	if im.BuildID() == "" {
		return slip.New(path+" has no build id, by which it is known again", "link it with -Wl,--build-id")
	}
	if !named.MatchString(path) {
		return slip.New(fmt.Sprintf("%q cannot be named in a description", path), "")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# What gostap patch changes. Bodies have statements of the language; docs/guru.md tells "+
		"which.\n\nprogram %s\nbuild-id %s\n", path, im.BuildID())
	for _, name := range functions {
		fn, copies, err := found(im, name)
		if err != nil {
			return err
		}
		code, err := code(f, fn)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "\nfunction %s\n", name)
		for _, line := range signature(ctx, path, name) {
			fmt.Fprintf(&b, "  # %s\n", diag.Visible(line))
		}
		fmt.Fprintf(&b, "  size %d\n  sha256 %x\n", len(code), sha256.Sum256(code))
		if copies > 0 {
			fmt.Fprintf(&b, "  inlined %d # copies, which are not changed\n", copies)
		}
		fmt.Fprint(&b, "  entry {\n    # skip_function() leaves the function out: its results are 0, nil or \"\"; "+
			"$x = 1 assigns\n  }\n")
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// signature is what can be read and assigned to at the entry, as -L has it; nothing if that is not known.
func signature(ctx context.Context, path, name string) (out []string) {
	lines, _, err := gostap.List(ctx, "process("+quoted(path)+").function("+quoted(name)+").call", gostap.Options{},
		gostap.ListOptions{Vars: true})
	if err != nil {
		return nil
	}
	for _, l := range lines {
		if _, point, ok := strings.Cut(l, ").function("); ok {
			at, vars, _ := strings.Cut(point, "\").call")
			out = append(out, strings.TrimSpace(strings.TrimPrefix(at, `"`)+" "+strings.TrimSpace(vars)))
		}
	}
	return out
}
