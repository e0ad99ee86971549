package remote

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// What is said between the two machines are frames: a letter, the length in four bytes (big endian), that many bytes.
const (
	frameHello   = 'H' // from the session: a Hello
	frameRequest = 'R' // to the session: a Request
	frameSignal  = 'S' // to the session: a byte with the number of a signal
	frameOut     = 'O' // from the session: standard output
	frameErr     = 'E' // from the session: standard error
	frameCounted = 'M' // from the session: what Request.Counts asks for, as gostap.Session.Snapshot gives it
	framePods    = 'P' // to the session: a []Pod, those that it is kept to from now on
	frameTold    = 'T' // from the session: a Told about one of them
	frameExit    = 'X' // from the session: the exit status in a byte; nothing follows
	frameAlive   = 'A' // both: the sender is there; to the session a question of its clock, from it the answer
)

// Frames of output have at most mostOut bytes, others at most mostFrame.
const (
	mostOut   = 64 << 10
	mostFrame = 64 << 20
)

// Each side says often that it is there; who has not heard of the other for lostAfter takes it for gone.
const (
	aliveEvery = 2 * time.Second
	lostAfter  = 20 * time.Second
)

// secondLook is how long who thinks so looks whether something has come: who was stopped himself, or had to wait until
// somebody took what he wrote, has not read it yet.
const secondLook = time.Second

// patience waits for the other side.
type patience struct {
	*time.Timer
	late bool
}

func newPatience() *patience { return &patience{Timer: time.NewTimer(lostAfter)} }

// heard begins anew.
func (p *patience) heard() {
	p.late = false
	p.Reset(lostAfter)
}

// over says, when the time is over, that the other side is gone.
func (p *patience) over() bool {
	if p.late {
		return true
	}
	p.late = true
	p.Reset(secondLook)
	return false
}

// Protocol is the version of what is said here.
const Protocol = 4

// Hello is the first thing that a session says.
type Hello struct {
	Protocol int    `json:"protocol"`
	Version  string `json:"version"` // of gostap
	Kernel   string `json:"kernel"`  // release
	Machine  string `json:"machine"` // as uname -m has it
}

// Request is a command line with what it needs of the machine on which it was typed.
type Request struct {
	// Args are the options and words, with those of the user's rc file, without --remote, -o and -S.
	Args []string `json:"args"`
	// Name is what the user calls what runs: a file, a tool.
	Name string `json:"name,omitempty"`
	// Script is the text of the script whose name is in Args, nil if there is none.
	Script *File `json:"script,omitempty"`
	// Plan is what runs instead of a script (compiler/manifest), nil for one that is translated there.
	Plan []byte `json:"plan,omitempty"`
	// Counts: what the globals Shared of the plan have is told now and then, and when the session has ended.
	Counts bool  `json:"counts,omitempty"`
	Shared []int `json:"shared,omitempty"`
	// Top: of each of the arrays Ranked the so many greatest elements alone are told; 0: all are.
	Top    int   `json:"top,omitempty"`
	Ranked []int `json:"ranked,omitempty"`
	// Follow: the pods of --pod are not those of the whole session, others come by frames.
	Follow bool `json:"follow,omitempty"`
	// Include are the files under the directories of -I, by paths relative to Dirs[i].
	Include []Dir `json:"include,omitempty"`
	// ID counts the hosts of a command from 1, and URI is what stood behind --remote.
	ID  int    `json:"id"`
	URI string `json:"uri"`
	// Color says that messages are coloured.
	Color bool `json:"color,omitempty"`
}

// File is a file with its text.
type File struct {
	Name string `json:"name"`
	Text []byte `json:"text"`
}

// Dir is a directory of -I with its files.
type Dir struct {
	Path  string `json:"path"`
	Files []File `json:"files"`
}

// conn sends and receives frames. send may be called from any goroutine.
type conn struct {
	in  *bufio.Reader
	out io.Writer
	mu  sync.Mutex
}

func newConn(in io.Reader, out io.Writer) *conn {
	return &conn{in: bufio.NewReaderSize(in, mostOut), out: out}
}

func (c *conn) send(kind byte, body []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	head := [5]byte{kind}
	binary.BigEndian.PutUint32(head[1:], uint32(len(body)))
	_, err := c.out.Write(append(head[:], body...))
	return err
}

// answer answers a question of the clock. That nothing can be sent is found out elsewhere.
func (c *conn) answer(question []byte) {
	if b := answer(question); b != nil {
		c.send(frameAlive, b)
	}
}

func (c *conn) sendJSON(kind byte, v any) error {
	b, err := json.Marshal(v)
	if err == nil && len(b) > mostFrame {
		err = fmt.Errorf("the script and its library have more than %d MB", mostFrame>>20)
	}
	if err != nil {
		return err
	}
	return c.send(kind, b)
}

// errGarbage says that the other side does not say frames.
var errGarbage = errors.New("what comes from there is not from gostap")

func (c *conn) receive() (kind byte, body []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(c.in, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > mostFrame || !bytes.Contains([]byte{frameHello, frameRequest, frameSignal, frameOut, frameErr, frameExit,
		frameCounted, framePods, frameTold, frameAlive}, head[:1]) {
		return 0, nil, errGarbage
	}
	// What has not come takes no memory: a length is only a promise.
	var b bytes.Buffer
	if m, err := io.CopyN(&b, c.in, int64(n)); err != nil {
		if m < int64(n) && errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return 0, nil, err
	}
	return head[0], b.Bytes(), nil
}

// writer sends what is written to it as frames of one kind.
type writer struct {
	c    *conn
	kind byte
}

func (w writer) Write(b []byte) (int, error) {
	for n := 0; n < len(b); {
		part := b[n:min(len(b), n+mostOut)]
		if err := w.c.send(w.kind, part); err != nil {
			return n, err
		}
		n += len(part)
	}
	return len(b), nil
}

// Together has several write to one place, one at a time.
type Together struct {
	To io.Writer
	Mu *sync.Mutex
}

func (t Together) Write(b []byte) (int, error) {
	t.Mu.Lock()
	defer t.Mu.Unlock()
	return t.To.Write(b)
}
