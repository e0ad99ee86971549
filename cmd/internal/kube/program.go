package kube

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

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
	var said bytes.Buffer
	cmd := exec.Command("kubectl", args...)
	cmd.Stderr = &said
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
	path, err := podprogram.Receive(out, in, filepath.Join(dir, "programs"))
	in.Close()
	cmd.Wait()
	if text := strings.TrimSpace(said.String()); err != nil && text != "" {
		err = fmt.Errorf("%w (%s)", err, text[strings.LastIndexByte(text, '\n')+1:])
	}
	return path, err
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
			f.from.uids = append(f.from.uids, m.Metadata.UID)
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
