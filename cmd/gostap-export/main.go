// Command gostap-export delivers what gostap --format=json writes to OpenTelemetry and Prometheus. gostap --export runs
// it; it can stand behind a pipe as well.
//
// In: JSON lines on standard input, destinations as arguments. Out: what the destinations get; messages on standard
// error.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/cmd/internal/deliver"
	"github.com/gostap/gostap/cmd/internal/deliver/otlp"
	"github.com/gostap/gostap/cmd/internal/deliver/prom"
	"github.com/gostap/gostap/runtime/export/feed"
	"github.com/gostap/gostap/runtime/export/text"
)

const usage = `gostap-export - delivers what gostap --format=json writes

usage: gostap --export DESTINATION ... SCRIPT
       gostap --format=json SCRIPT | gostap-export [options] DESTINATION...

destinations:
  otlp://HOST:4317                 an OpenTelemetry Collector by gRPC; otlps:// with TLS
  otlp+http://HOST:4318            by HTTP; otlp+https:// with TLS
  prometheus://[HOST]:PORT         an address where Prometheus asks, /metrics; the loopback one without HOST
  remote-write+http://HOST:9090    Prometheus gets it, at /api/v1/write if no path is given
  text                             standard output, as without --export

options:
      --service NAME   service.name of OpenTelemetry and job of Prometheus, gostap if not said
      --queue N        how many logs and spans wait for a destination that is away, 65536 if not said
      --drain TIME     how long it tries to deliver what is left when the lines end, 10s if not said
  -h, --help

A destination that is away is told, and what is for it waits; what is too much is counted and told. The status is 1 if
something was not delivered. See docs/export.md.
`

func main() {
	err := run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
}

// idler is a destination that is told when there is nothing to take for now.
type idler interface{ Idle() }

// breaker is a destination without which the lines are not to be read further: who wants to read it sees all or none.
type breaker interface{ Err() error }

// errBroken is that of lines that are not read further.
var errBroken = errors.New("a destination is broken")

func run(args []string, in io.Reader, out, errw io.Writer) error {
	fs := pflag.NewFlagSet("gostap-export", pflag.ContinueOnError)
	fs.SetOutput(io.Discard)
	service := fs.String("service", "", "")
	queue := fs.Int("queue", 1<<16, "")
	drain := fs.Duration("drain", 10*time.Second, "")
	help := fs.BoolP("help", "h", false, "")
	ready := fs.Bool("ready", false, "") // say so on standard output
	if err := fs.Parse(args); err != nil {
		return fmt.Errorf("%w\n  hint: gostap-export --help lists the options", err)
	}
	switch {
	case *help:
		_, err := io.WriteString(out, usage)
		return err
	case fs.NArg() == 0:
		return errors.New("no destination is named\n  hint: gostap-export --help lists them")
	case *queue < 1 || *queue > 1<<24:
		return errors.New("--queue is a number from 1 to 16777216")
	case *drain < 0:
		return errors.New("--drain is no time before now")
	}
	var mu sync.Mutex
	tell := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(errw, "gostap-export: "+format+"\n", args...)
	}
	cfg := deliver.Config{Most: *queue, Tell: tell, Service: *service}
	var to []deliver.Destination
	defer func() {
		now, stop := context.WithCancel(context.Background())
		stop()
		for _, d := range to {
			if d != nil { // not closed by finish
				d.Close(now)
			}
		}
	}()
	for _, name := range fs.Args() {
		d, err := open(name, cfg, out)
		if err != nil {
			return err
		}
		to = append(to, d)
	}
	debug.SetGCPercent(400) // little lives for long
	stepBack()
	if *ready {
		fmt.Fprintln(out, "ready")
	}
	// Ctrl-C is for gostap, whose end is to be delivered; behind a pipe both get it.
	signal.Ignore(syscall.SIGINT)
	reader := feed.New(in)
	take := func(l *feed.Line) error {
		if said := text.Message(l); said != "" {
			mu.Lock()
			fmt.Fprintln(errw, said)
			mu.Unlock()
		}
		for _, d := range to {
			d.Take(l)
			if d, ok := d.(breaker); ok && d.Err() != nil {
				return errBroken
			}
		}
		return nil
	}
	idle := func() {
		for _, d := range to {
			if d, ok := d.(idler); ok {
				d.Idle()
			}
		}
	}
	err := reader.Each(take, idle)
	if errors.Is(err, errBroken) || *ready && errors.Is(err, feed.ErrEmpty) {
		err = nil // its end says why; gostap has said why there was no session
	}
	return errors.Join(append([]error{err}, finish(to, fs.Args(), reader, *drain)...)...)
}

// stepBack has traced programs run before this one, where there are not enough processors for both: what is for each
// thread is inherited by those that they start.
func stepBack() {
	for range 2 { // a thread may have been started meanwhile
		tasks, _ := os.ReadDir("/proc/self/task")
		for _, t := range tasks {
			if tid, err := strconv.Atoi(t.Name()); err == nil {
				unix.Setpriority(unix.PRIO_PROCESS, tid, 10)
			}
		}
	}
}

// finish delivers what is left, to all destinations at once. A signal TERM ends that.
func finish(to []deliver.Destination, names []string, reader *feed.Reader, drain time.Duration) (errs []error) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	ctx, stop = context.WithTimeout(ctx, drain)
	defer stop()
	errs = make([]error, len(to)+1)
	var wg sync.WaitGroup
	for i, d := range to {
		wg.Go(func() {
			if err := d.Close(ctx); err != nil {
				errs[i] = fmt.Errorf("%s: %s", names[i], strings.ReplaceAll(err.Error(), "\n", ", "))
			}
		})
	}
	wg.Wait()
	clear(to)
	if n := reader.Late(); n > 0 {
		errs[len(to)] = fmt.Errorf("%d lines were left out: they came faster than they could be read", n)
	}
	return errs
}

// open opens a destination. out is where text goes.
func open(name string, cfg deliver.Config, out io.Writer) (deliver.Destination, error) {
	if name == text.Kind {
		return text.New(out), nil
	}
	a, err := deliver.Parse(name, append(slices.Concat(otlp.Kinds, prom.Kinds), text.Kind))
	switch {
	case err != nil:
		return nil, err
	case slices.Contains(otlp.Kinds, a.Kind):
		return otlp.New(context.Background(), a, cfg)
	case a.Kind == "prometheus":
		return prom.Listen(a, cfg)
	}
	return prom.Dial(a, cfg)
}
