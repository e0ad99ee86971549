package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// signalled is why a context ended that a signal has ended.
type signalled struct{ os.Signal }

func (s signalled) Error() string { return "signal " + s.String() }

// untilSignal gives a context that INT and TERM end. The command ends with it then, or the session if that runs. From
// hangs on, HUP does so too: before, it ends the process as it does any other.
func untilSignal() (ctx context.Context, hangs, done func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	sigs := make(chan os.Signal, 1)
	signal.Notify(sigs, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		select {
		case s := <-sigs:
			cancel(signalled{s})
		case <-ctx.Done():
		}
	}()
	return ctx, func() { signal.Notify(sigs, syscall.SIGHUP) }, func() {
		signal.Stop(sigs)
		cancel(nil)
	}
}
