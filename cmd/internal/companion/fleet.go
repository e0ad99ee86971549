package companion

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"syscall"
	"time"

	"github.com/gostap/gostap/cmd/internal/slip"
)

// fleet is the program behind "gostap fleet".
const fleet = "gostap-fleet"

// Fleet runs gostap-fleet with arguments, and gives its exit status. The end of the context is told to it, and what it
// does then is waited for.
func Fleet(ctx context.Context, args []string, out, errw io.Writer) (status int, err error) {
	path := find(fleet)
	if path == "" {
		return 1, slip.New("gostap fleet needs the program "+fleet+", which is neither beside gostap nor in $PATH",
			"it is the package "+fleet+" (apt install, dnf install), and in images of the controller; in the sources "+
				"of gostap make bin/"+fleet+" makes it")
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdout, cmd.Stderr = out, errw
	// Ctrl-C comes by the context, once.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 30 * time.Second
	err = cmd.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); ended || ctx.Err() != nil {
		return max(1, cmd.ProcessState.ExitCode()), nil
	}
	if err != nil {
		return 1, fmt.Errorf("%s: %w", path, err)
	}
	return 0, nil
}
