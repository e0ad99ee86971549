package kube

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gostap/gostap/cmd/internal/kube/podprogram"
	"github.com/gostap/gostap/cmd/internal/slip"
)

// source is where the program of pods is taken from: pods on the node of an agent.
type source struct {
	agent string
	uids  []string
}

// Program gives a copy of the program that runs in the pods, kept below dir, "" for nowhere: of those of the beginning,
// later of one whose program is another build.
func (f *Fleet) Program(dir string) (string, error) {
	f.mu.Lock()
	from := f.from
	f.copies = true
	f.mu.Unlock()
	if len(from.uids) == 0 {
		return "", errors.New("none runs yet, so that it is not known")
	}
	if dir == "" {
		if f.temp == "" {
			temp, err := os.MkdirTemp("", "gostap-program-")
			if err != nil {
				return "", slip.Plain(err)
			}
			f.temp = temp
		}
		dir = f.temp
	}
	args := []string{"exec", "-i", "-q", "--namespace", f.r.agents, from.agent, "--", "gostap", podprogram.Command,
		strings.Join(from.uids, ",")}
	if f.r.program != "" {
		args = append(args, f.r.program)
	}
	path, err := fetch(exec.Command("kubectl", args...), filepath.Join(dir, "programs"), quiet)
	if err != nil {
		err = fmt.Errorf("agent %s: %w", from.agent, err)
	}
	return path, err
}

// quiet is how long an agent may send nothing of a program. It reads all of it for the digest before it begins.
const quiet = time.Minute

// fetch runs what sends a program and gives its copy below dir. The command is ended when nothing comes for so long,
// and when the copy cannot be kept: it would wait for somebody who reads.
func fetch(cmd *exec.Cmd, dir string, quiet time.Duration) (string, error) {
	var said bytes.Buffer
	cmd.Stderr = &said
	cmd.WaitDelay = time.Second // what the command has started may keep its standard error
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	var silent atomic.Bool
	late := time.AfterFunc(quiet, func() {
		silent.Store(true)
		cmd.Process.Kill()
		out.Close()
	})
	defer late.Stop()
	path, err := podprogram.Receive(&awaited{out, late, quiet}, in, dir)
	in.Close()
	if err != nil {
		cmd.Process.Kill()
	}
	cmd.Wait()
	switch text := strings.TrimSpace(said.String()); {
	case err == nil:
	case silent.Load():
		err = fmt.Errorf("nothing came for %v, so that the copy of the program was given up", quiet)
	case text != "":
		err = fmt.Errorf("%w (%s)", err, text[strings.LastIndexByte(text, '\n')+1:])
	}
	return path, err
}

// awaited puts a timer off with whatever comes.
type awaited struct {
	io.Reader
	late  *time.Timer
	quiet time.Duration
}

func (a *awaited) Read(b []byte) (int, error) {
	n, err := a.Reader.Read(b)
	if n > 0 {
		a.late.Reset(a.quiet)
	}
	return n, err
}

// Named says that the program was named, which is of use only where the script is translated here.
func (f *Fleet) Named() bool { return f.r.program != "" }

// takeFrom says whose program it is from now on.
func (f *Fleet) takeFrom(list ...*member) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(list) == 0 {
		return
	}
	f.from = source{agent: f.agents[list[0].Spec.NodeName]}
	for _, m := range list {
		if m.Spec.NodeName == list[0].Spec.NodeName {
			f.from.uids = append(f.from.uids, f.r.of(&m.pod)...)
		}
	}
}

// copied says whether a translation takes the program of pods.
func (f *Fleet) copied() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.copies
}

// Close removes what was copied and is not kept.
func (f *Fleet) Close() {
	if f.temp != "" {
		os.RemoveAll(f.temp)
	}
}
