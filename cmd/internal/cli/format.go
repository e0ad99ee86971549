package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/cmd/internal/companion"
	"github.com/gostap/gostap/cmd/internal/records"
	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/cmd/internal/tty"
	"github.com/gostap/gostap/runtime/export/ctf"
	"github.com/gostap/gostap/runtime/export/jsonlines"
	"github.com/gostap/gostap/runtime/export/perfetto"
	"github.com/gostap/gostap/runtime/export/record"
)

// The values of --format; "" is text.
const (
	formatJSON     = "json"
	formatCSV      = "csv"
	formatPerfetto = "perfetto"
	formatCTF      = "ctf"
	formatSchema   = "json-schema"
)

// notFormat are the options that do not go with --format, with the reason.
var notFormat = map[string]string{
	"interactive":        "its lines are for people",
	"monitor":            "its window is for people",
	"folded":             "what it prints has a form of its own",
	"flight-recorder":    "its messages go to the file of the output",
	"list":               "it lists probe points",
	"list-vars":          "it lists probe points",
	"emit":               "it writes a script for others",
	"dump-functions":     "it lists the library",
	"dump-probe-types":   "it lists the library",
	"dump-probe-aliases": "it lists the library",
}

// notExport are those that do not go with --export beside these.
var notExport = map[string]string{
	"format":  "what is delivered has the form of its destination",
	"output":  "what the session says goes to its destinations",
	"rotate":  "what the session says goes to its destinations",
	"summary": "it prints a table",
}

// checkFormat looks at --format, and at what needs lines of a format.
func (o *options) checkFormat(fs *pflag.FlagSet) error {
	if fs.Changed("in-order") && (o.inOrder < time.Millisecond || o.inOrder > time.Minute) {
		return slip.New(fmt.Sprintf("--in-order takes a time from 1ms to 1m, such as 500ms, not %v", o.inOrder), "")
	}
	if o.inOrder != 0 && len(o.exports) == 0 {
		switch {
		case o.format == "" || o.format == "text":
			o.format, o.printed = formatJSON, true // by whose times text is put in order
			return refuses(fs, notFormat, "--in-order")
		case o.format != formatJSON:
			return slip.New("--in-order goes with text and --format=json, not with --format="+o.format, "")
		}
	}
	if len(o.exports) > 0 {
		if err := refuses(fs, notExport, "--export"); err != nil {
			return err
		}
		o.format = formatJSON
		return refuses(fs, notFormat, "--export")
	}
	if !fs.Changed("format") {
		return nil
	}
	switch o.format {
	case "text":
		o.format = ""
		return nil
	case formatJSON, formatCSV, formatSchema:
	case formatPerfetto, formatCTF:
		if o.format == formatCTF && o.output == "" {
			return slip.New("--format=ctf writes a folder, and there is no -o FOLDER", "")
		}
		if len(o.remotes) > 0 {
			return slip.New(fmt.Sprintf("--format=%s does not go with --remote: a time line is of one machine's clock "+
				"and threads", o.format), "--format=json tells machines apart")
		}
		if fs.Changed("rotate") {
			return slip.New(fmt.Sprintf("-S does not go with --format=%s, which is one trace", o.format), "")
		}
	default:
		return slip.New(fmt.Sprintf("--format takes text, json, csv, perfetto, ctf or json-schema, not %q", o.format),
			"--format=json writes an object a line, which --format=json-schema describes")
	}
	return refuses(fs, notFormat, "--format="+o.format)
}

// checkValues refuses programs that were translated without --format: nothing tells their prints apart.
func (c *command) checkValues(p *gostap.Program) error {
	if c.format == "" || p.Values() {
		return nil
	}
	name := c.plan + c.module
	return slip.New(fmt.Sprintf("%s was made for text: what its prints print cannot be told apart", name),
		"give --format="+c.format+" when it is made, too")
}

// openExport starts what delivers to the destinations of --export, before anything is traced.
func (c *command) openExport() (err error) {
	if len(c.exports) > 0 && c.pass == 5 {
		c.delivery, err = companion.Start(c.exports, c.Out, c.hostsErr())
	}
	return err
}

// export runs a session to its end and writes what it says in the form of --format.
func (c *command) export(ctx context.Context, p *gostap.Program, s *gostap.Session, out io.Writer,
	started func() error) error {
	defer lessCollecting(400)()
	if c.delivery != nil {
		out = c.delivery
	}
	cfg := c.recorded(out)
	switch c.format {
	case formatPerfetto:
		if c.output == "" && tty.Is(c.Out) {
			return slip.New("--format=perfetto writes bytes that no terminal shows", "give -o FILE, or a pipe")
		}
		cfg.Encoder = &perfetto.Encoder{}
	case formatCTF:
		// The stream is beside its description, which readers look for under this name.
		cfg.Encoder = &ctf.Encoder{Describe: func(b []byte) error {
			return os.WriteFile(filepath.Join(c.folder, "metadata"), b, 0o666)
		}}
	}
	err := records.Run(ctx, p, s, started, cfg)
	if c.delivery != nil {
		if left := c.delivery.Close(); err == nil {
			err = left
		}
	}
	return err
}

// recorded is how what a session says is written to out: as JSON lines, or as a table.
func (c *command) recorded(out io.Writer) records.Config {
	cfg := records.Config{Out: out, Err: c.Err, Whole: c.format == formatPerfetto || c.format == formatCTF,
		NoWarnings: c.noWarn, Session: c.begin(), Every: c.every, Words: words}
	if c.format == formatJSON {
		cfg.Encoder = &jsonlines.Encoder{}
	}
	return cfg
}

// begin says what runs where.
func (c *command) begin() *record.Session {
	s := &record.Session{Version: Version, Time: time.Now()}
	s.Host, _ = os.Hostname()
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		s.Kernel = unix.ByteSliceToString(u.Release[:])
	}
	switch {
	case c.plan != "" || c.module != "":
		s.Script = filepath.Base(c.plan + c.module)
	case c.hasText:
		s.Script = "<input>"
	case c.tool != nil:
		s.Script = c.tool.name
	case c.file == "-":
		s.Script = "<stdin>"
	default:
		s.Script = c.file
	}
	return s
}
