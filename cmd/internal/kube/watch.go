package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// change is a line of kubectl's watch.
type change struct {
	Type   string
	Object pod
}

// againAfter is how long it takes until a watch that ended is begun anew.
const againAfter = time.Second

// watch calls put with each change of the pods that words ask for, until ctx ends, beginning with those that are there.
// A watch that ends is begun anew: all is called with the pods that are there then, since some may have gone meanwhile,
// after broken with the reason.
func watch(ctx context.Context, words []string, put func(change), all func([]pod), broken func(error)) {
	for n := 0; ctx.Err() == nil; n++ {
		if n > 0 {
			select {
			case <-time.After(againAfter):
			case <-ctx.Done():
				return
			}
			list, err := get(append(slices.Clone(words), "--output", "json"))
			if err != nil {
				continue // it is told that the watch is broken
			}
			all(list)
		}
		if err := watchOnce(ctx, words, put); ctx.Err() == nil {
			broken(err)
		}
	}
}

func watchOnce(ctx context.Context, words []string, put func(change)) error {
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, "kubectl", append(slices.Clone(words), "--watch", "--output-watch-events",
		"--output", "json")...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C ends the sessions first
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	defer cmd.Process.Kill()
	for d := json.NewDecoder(out); ; {
		var e change
		if err = d.Decode(&e); err != nil {
			break
		}
		put(e)
	}
	cmd.Process.Kill()
	cmd.Wait()
	if text := strings.TrimSpace(said.String()); text != "" {
		return errors.New(text[strings.LastIndexByte(text, '\n')+1:])
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("kubectl ended")
	}
	return fmt.Errorf("watching pods: %w", err)
}
