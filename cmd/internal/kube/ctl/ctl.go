// Package ctl runs kubectl, which speaks with clusters.
//
// In: its arguments, what it reads. Out: what it prints, or the objects of a watch one after the other; what it says of
// a failure.
package ctl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"syscall"

	"github.com/gostap/gostap/cmd/internal/slip"
)

// Run runs it and gives what it prints, and what it says on standard error.
func Run(ctx context.Context, in []byte, args ...string) (out []byte, said string, err error) {
	path, err := exec.LookPath("kubectl")
	if err != nil {
		return nil, "", slip.New("kube: there is no command kubectl here, which speaks with clusters", "")
	}
	var printed, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &printed, &errs
	err = cmd.Run()
	return printed.Bytes(), errs.String(), err
}

// Watch calls each with what "kubectl get" with these arguments tells of objects, beginning with those that are there,
// until each gives false, ctx ends or kubectl does. In that case there is an error, and what kubectl has said. It has a
// process group of its own: Ctrl-C is for who watches.
func Watch[T any](ctx context.Context, args []string, each func(kind string, object T) bool) (said string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var errs bytes.Buffer
	cmd := exec.CommandContext(ctx, "kubectl", append(append([]string{"get"}, args...), "--watch",
		"--output-watch-events", "--output", "json")...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return "", err
	}
	for d := json.NewDecoder(out); ; {
		var e struct {
			Type   string
			Object T
		}
		if err = d.Decode(&e); err != nil {
			break
		}
		if !each(e.Type, e.Object) {
			cancel()
			cmd.Wait()
			return "", nil
		}
	}
	cancel()
	cmd.Wait()
	if errors.Is(err, io.EOF) {
		err = errors.New("kubectl ended")
	}
	return strings.TrimSpace(errs.String()), err
}

// Last is the last line of what was said.
func Last(said string) string {
	said = strings.TrimSpace(said)
	return said[strings.LastIndexByte(said, '\n')+1:]
}
