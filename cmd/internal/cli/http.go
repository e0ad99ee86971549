package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/cmd/internal/page"
	"github.com/gostap/gostap/cmd/internal/page/state"
	"github.com/gostap/gostap/cmd/internal/slip"
)

// openPage takes the address of --http.
func (c *command) openPage() (err error) {
	switch {
	case c.http == "":
		return nil
	case c.behind:
		return slip.New("--http shows a session that is looked at, and -F runs in the background", "")
	case c.module != "":
		return slip.New("--http shows scripts, and a module was built without what it needs", "")
	case c.monitor > 0 || c.format != "" || c.pass < 5:
		return slip.New("--http goes with running a script, and neither with --monitor nor with --format", "")
	}
	c.page, err = page.Listen(c.http)
	return err
}

// shownAt runs a session with its page.
func (c *command) shownAt(ctx context.Context, s *gostap.Session, out, errw io.Writer, started func() error) error {
	cfg := page.Config{Session: s, Name: cmp.Or(c.name, c.file, fmt.Sprintf("gostap_%d", os.Getpid())), Out: out,
		Err: errw, Started: started}
	if name, text, err := c.text(); c.plan == "" && c.file != "-" && err == nil {
		cfg.Sources = append(cfg.Sources, state.Source{Name: name, Text: text})
	}
	for _, e := range c.extra {
		cfg.Sources = append(cfg.Sources, state.Source{Name: "-E", Text: e})
	}
	if c.fleet == nil || !c.fleet.Shown(c.page.URL()) {
		c.logf("the session is at %s", c.page.URL())
	}
	return c.page.Run(ctx, cfg)
}
