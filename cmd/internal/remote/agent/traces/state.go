package traces

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/cmd/internal/slip"
)

// The phases of a Trace, as in a cluster (package api of cmd/internal/fleet). Done, Refused and Failed are last ones.
const (
	Pending = "Pending"
	Running = "Running"
	Done    = "Done"
	Refused = "Refused" // no session could begin
	Failed  = "Failed"  // a session began, and did not end well
)

// Status is what came of a Trace, as NAME.status has it.
type Status struct {
	Phase   string `json:"phase"`
	Message string `json:"message,omitempty"`
	// Lost is the sum of the counts in what was said of losses.
	Lost     int64      `json:"lost,omitempty"`
	Started  *time.Time `json:"started,omitempty"`
	Finished *time.Time `json:"finished,omitempty"`
	// File is the one that it is from, Digest that of the content that has run, which is not run again.
	File   string `json:"file,omitempty"`
	Digest string `json:"digest,omitempty"`
	Result Result `json:"result"`
}

// Result is what was printed: Bytes of it, of which Left are not in NAME.out.
type Result struct {
	Bytes int64 `json:"bytes"`
	Left  int64 `json:"left"`
}

func finished(phase string) bool { return phase == Done || phase == Refused || phase == Failed }

// What is kept of a Trace: NAME and one of these.
const (
	statusFile = ".status"
	outFile    = ".out"
	logFile    = ".log"
	beforeFile = ".before" // the output of the session before
)

// fresh is the ending of a file that is being written, whose name begins with a dot.
const fresh = ".new"

// mostStatus is how long a status is at most: its message has twice mostMessage, of which JSON makes up to six of each.
const mostStatus = 128 << 10

// State is a directory with what came of Traces.
type State struct{ dir *os.File }

// OpenState opens a directory for one agent, and makes it if it is not there.
func OpenState(path string) (*State, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("--state: %w", slip.Plain(err))
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("--state: %w", slip.Plain(err))
	}
	f, err := openDir(path)
	var w *wrong
	if errors.As(err, &w) {
		return nil, slip.New("--state: "+w.text, w.hint)
	}
	if err != nil {
		return nil, fmt.Errorf("--state: %w", slip.Plain(err))
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if err == unix.EWOULDBLOCK {
			return nil, slip.New("--state: another agent has "+path, "each agent has one of its own")
		}
		return nil, fmt.Errorf("--state: %s: %w", path, err)
	}
	s := &State{f}
	names, err := s.names()
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("--state: %w", slip.Plain(err))
	}
	for _, n := range names {
		if n[0] == '.' && strings.HasSuffix(n, fresh) { // of an agent that was killed
			unix.Unlinkat(int(f.Fd()), n, 0)
		}
	}
	return s, nil
}

// names are those of all files.
func (s *State) names() ([]string, error) {
	if _, err := s.dir.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return s.dir.Readdirnames(-1)
}

// traces are the names of those that there is a status of.
func (s *State) traces() (out []string, err error) {
	names, err := s.names()
	for _, n := range names {
		if name, ok := strings.CutSuffix(n, statusFile); ok && named.MatchString(name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out, err
}

// write puts a file in the place of the one that is there, which is whole at any moment.
func (s *State) write(name string, b []byte) error {
	at, tmp := int(s.dir.Fd()), "."+name+fresh
	unix.Unlinkat(at, tmp, 0)
	fd, err := unix.Openat(at, tmp, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err == nil {
		f := os.NewFile(uintptr(fd), filepath.Join(s.dir.Name(), name))
		_, err = f.Write(b)
		if err == nil && strings.HasSuffix(name, statusFile) {
			err = f.Sync() // it says that the Trace has run
		}
		if err == nil {
			err = f.Close()
		} else {
			f.Close()
		}
		if err == nil {
			err = unix.Renameat(at, tmp, at, name)
		}
		if err != nil {
			unix.Unlinkat(at, tmp, 0)
		}
	}
	var pe *os.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	if err != nil {
		return &os.PathError{Op: "write", Path: filepath.Join(s.dir.Name(), name), Err: err}
	}
	return nil
}

// read reads a file of at most so many bytes.
func (s *State) read(name string, most int64) ([]byte, error) {
	path := filepath.Join(s.dir.Name(), name)
	fd, err := unix.Openat(int(s.dir.Fd()), name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	if err := regular(path, &st); err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(b)) > most {
		err = fmt.Errorf("%s has more than %d bytes", path, most)
	}
	return b, err
}

// status reads that of a name.
func (s *State) status(name string) (st Status, err error) {
	b, err := s.read(name+statusFile, mostStatus)
	if err != nil {
		return st, err
	}
	if err := json.Unmarshal(b, &st); err != nil {
		return st, fmt.Errorf("%s: it is no status: %w", filepath.Join(s.dir.Name(), name+statusFile), err)
	}
	return st, nil
}

func (s *State) writeStatus(name string, st *Status) error {
	b, err := json.MarshalIndent(st, "", "  ")
	if err != nil {
		return err
	}
	return s.write(name+statusFile, append(b, '\n'))
}

// clear makes room for a session: the output of the one before gets another name, its messages go.
func (s *State) clear(name string) error {
	at := int(s.dir.Fd())
	if err := unix.Renameat(at, name+outFile, at, name+beforeFile); err != nil && err != unix.ENOENT {
		return &os.PathError{Op: "rename", Path: filepath.Join(s.dir.Name(), name+outFile), Err: err}
	}
	if err := unix.Unlinkat(at, name+logFile, 0); err != nil && err != unix.ENOENT {
		return &os.PathError{Op: "remove", Path: filepath.Join(s.dir.Name(), name+logFile), Err: err}
	}
	return nil
}

// remove takes away all that is kept of a name.
func (s *State) remove(name string) {
	for _, end := range []string{statusFile, outFile, logFile, beforeFile} {
		unix.Unlinkat(int(s.dir.Fd()), name+end, 0)
	}
}
