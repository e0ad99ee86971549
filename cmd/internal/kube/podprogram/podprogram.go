// Package podprogram brings the program that runs in pods to who translates a script about it, once for each content.
//
// In: UIDs of pods on the machine of an agent; the two ends of a stream between it and who asks. Out: the path of a
// copy.
package podprogram

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gostap/gostap"
)

// Command is what the agent is asked by: gostap COMMAND UIDS [NAME].
const Command = "pod-program"

// header is a line of JSON, the first of what an agent answers. If a byte comes back, the file follows, compressed.
type header struct {
	Name   string `json:"name,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
	Size   int64  `json:"size,omitempty"`
	Error  string `json:"error,omitempty"`
}

const (
	mostHeader = 64 << 10
	mostBytes  = 8 << 30
	// keptFor is how long a copy that nobody asks for stays.
	keptFor = 30 * 24 * time.Hour
)

// One is the program of pods on this machine: the one that runs there, or of several the one with a name, which is its
// path in the container or the last part of it.
func One(uids []string, name string) (p gostap.PodProgram, err error) {
	list, err := gostap.PodPrograms(uids)
	if err != nil {
		return p, err
	}
	return choose(list, name)
}

func choose(list []gostap.PodProgram, name string) (p gostap.PodProgram, err error) {
	var names []string
	for _, x := range list {
		if !slices.Contains(names, x.Name) {
			names = append(names, x.Name)
		}
	}
	slices.Sort(names)
	named := slices.DeleteFunc(slices.Clone(list), func(x gostap.PodProgram) bool {
		return name != "" && x.Name != name && filepath.Base(x.Name) != name
	})
	switch {
	case len(list) == 0:
		return p, errors.New("no program runs in the pod yet")
	case len(named) == 0:
		return p, fmt.Errorf("no program %s runs in the pod: there are %s", name, strings.Join(names, ", "))
	case name == "" && len(names) > 1:
		return p, fmt.Errorf("several programs run in the pod (%s): gostap kube --program NAME says which one is meant",
			strings.Join(names, ", "))
	}
	return named[0], nil
}

// Serve is the agent's end. It gives the exit status.
func Serve(args []string, in io.Reader, out io.Writer) int {
	err := serve(args, in, out)
	if err != nil {
		b, _ := json.Marshal(header{Error: err.Error()})
		out.Write(append(b, '\n'))
		return 1
	}
	return 0
}

func serve(args []string, in io.Reader, out io.Writer) error {
	if len(args) == 0 || len(args) > 2 {
		return fmt.Errorf("gostap %s takes the UIDs of pods and a name", Command)
	}
	p, err := One(strings.Split(args[0], ","), strings.Join(args[1:], ""))
	if err != nil {
		return err
	}
	f, err := os.Open(p.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	return send(f, p.Name, in, out)
}

func send(f io.ReadSeeker, name string, in io.Reader, out io.Writer) error {
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return err
	}
	b, err := json.Marshal(header{Name: name, SHA256: fmt.Sprintf("%x", sum.Sum(nil)), Size: n})
	if err == nil {
		_, err = out.Write(append(b, '\n'))
	}
	if err != nil {
		return err
	}
	if _, err := in.Read(make([]byte, 1)); err != nil {
		return nil // it has a copy
	}
	z, err := gzip.NewWriterLevel(out, gzip.BestSpeed)
	if err == nil {
		_, err = io.Copy(z, f)
	}
	if err == nil {
		err = z.Close()
	}
	return err
}

// Receive is the other end: it asks for the file unless dir has it, and gives the path of the copy.
func Receive(in io.Reader, out io.WriteCloser, dir string) (path string, err error) {
	r := bufio.NewReader(in)
	line, err := readLine(r)
	if err != nil {
		return "", err
	}
	var h header
	switch err := json.Unmarshal(line, &h); {
	case err != nil:
		return "", errors.New("the agent did not answer with a program: is it of the same version?")
	case h.Error != "":
		return "", errors.New(h.Error)
	case !sha.MatchString(h.SHA256) || h.Size < 0 || h.Size > mostBytes:
		return "", errors.New("the agent described no program")
	}
	name := filepath.Base(h.Name)
	if !plainName.MatchString(name) {
		name = "program"
	}
	forget(dir)
	path = filepath.Join(dir, h.SHA256, name)
	if st, err := os.Stat(path); err == nil && st.Size() == h.Size {
		out.Close()
		now := time.Now()
		os.Chtimes(filepath.Dir(path), now, now)
		return path, nil
	}
	if _, err := out.Write([]byte{'s'}); err != nil {
		return "", err
	}
	return path, receive(r, path, &h)
}

var (
	sha       = regexp.MustCompile(`^[0-9a-f]{64}$`)
	plainName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.+-]{0,200}$`)
)

func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		b, err := r.ReadSlice('\n')
		line = append(line, b...)
		switch {
		case err == nil:
			return bytes.TrimSpace(line), nil
		case !errors.Is(err, bufio.ErrBufferFull) || len(line) > mostHeader:
			return nil, errors.New("the agent did not answer with a program")
		}
	}
}

// receive writes the file, if it is what was said.
func receive(r io.Reader, path string, h *header) error {
	z, err := gzip.NewReader(r)
	if err != nil {
		return fmt.Errorf("copying %s: %w", h.Name, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "new-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, sum), io.LimitReader(z, h.Size+1))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	switch {
	case err != nil:
		return fmt.Errorf("copying %s: %w", h.Name, err)
	case n != h.Size || fmt.Sprintf("%x", sum.Sum(nil)) != h.SHA256:
		return fmt.Errorf("copying %s: what came is not what was announced", h.Name)
	}
	return os.Rename(f.Name(), path)
}

// forget removes copies that nobody has asked for.
func forget(dir string) {
	list, _ := os.ReadDir(dir)
	for _, e := range list {
		if st, err := e.Info(); err == nil && sha.MatchString(e.Name()) && time.Since(st.ModTime()) > keptFor {
			os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
}
