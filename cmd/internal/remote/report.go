package remote

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Report is what a session says to the agent of its machine, in lines of JSON. Each line says all that is known then.
type Report struct {
	Script string `json:"script"`
	// Pods are the UIDs of those that are traced now, mostPods at most.
	Pods []string `json:"pods,omitempty"`
	// Missing are the events and hits that are missing in what it has printed, as its warnings count them at its end.
	Missing uint64 `json:"missing,omitempty"`
	// Ended says that the session has, with Status. Lost says that it did so since nobody was there any more.
	Ended  bool `json:"ended"`
	Lost   bool `json:"lost,omitempty"`
	Status int  `json:"status"`
}

const (
	mostPods = 1024 // that a report names
	// mostReport is how long a line is: names of pods have 36 bytes and one of a script up to 200, perhaps escaped.
	mostReport = 64 << 10
)

// ReadReports gives the reports of a session to each, until it ends: by nil if it was the session that ended, else by
// an error: a line that is no report, or what r says.
func ReadReports(r io.Reader, each func(Report)) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 4<<10), mostReport)
	for lines.Scan() {
		var report Report
		if err := json.Unmarshal(lines.Bytes(), &report); err != nil {
			return fmt.Errorf("no report of a session: %w", err)
		}
		each(report)
	}
	return lines.Err()
}

// teller tells an agent what becomes of a session. A nil one tells nobody.
type teller struct {
	started bool   // the agent has started the session, and is told by to
	socket  string // else where it listens, if there is one

	mu     sync.Mutex
	report Report
	to     io.Writer
	mute   bool // there is none, or it went away
}

// tell changes what is known of the session, and tells it. It waits for nobody, and nothing can go wrong by it.
func (t *teller) tell(change func(*Report)) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if change(&t.report); t.mute {
		return
	}
	if t.to == nil {
		c, err := dialAgent(t.socket)
		if err != nil {
			t.mute = true
			return
		}
		t.to = c
	}
	b, err := json.Marshal(t.report)
	if err == nil {
		_, err = t.to.Write(append(b, '\n'))
	}
	t.mute = err != nil
}

// pods are the UIDs among words as --pod has them.
func pods(words []string) (out []string) {
	for _, w := range words {
		uid, _, _ := strings.Cut(w, "/")
		if len(out) < mostPods && len(uid) <= 36 && !slices.Contains(out, uid) {
			out = append(out, uid)
		}
	}
	return out
}

// running are the UIDs of those pods of a set that are traced.
func running(set []Pod) []string {
	var words []string
	for _, p := range set {
		if p.Runs {
			words = append(words, p.UID)
		}
	}
	return pods(words)
}

// podArgs are the values of --pod among arguments.
func podArgs(args []string) (out []string) {
	for _, a := range args {
		if a == "--" {
			break
		}
		if p, ok := strings.CutPrefix(a, "--pod="); ok {
			out = append(out, p)
		}
	}
	return out
}

// agentWithin is how long a session waits until an agent that is busy takes what it is told, once.
const agentWithin = 200 * time.Millisecond

// impatient is a connection that is given up rather than waited for.
type impatient struct{ net.Conn }

func (c impatient) Write(b []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(agentWithin)); err != nil {
		return 0, err
	}
	n, err := c.Conn.Write(b)
	if err != nil {
		c.Close()
	}
	return n, err
}

// dialAgent connects to the agent that listens at a socket, if it is one of the same user.
func dialAgent(path string) (io.Writer, error) {
	if path == "" {
		return nil, os.ErrNotExist
	}
	c, err := (&net.Dialer{Timeout: agentWithin}).Dial("unix", path)
	if err != nil {
		return nil, err
	}
	u, ok := c.(*net.UnixConn)
	if !ok || !SameUser(u) {
		c.Close()
		return nil, errors.New("the agent there is somebody else's")
	}
	return impatient{c}, nil
}

// SameUser says whether the user of this process is at the other end of a socket.
func SameUser(c *net.UnixConn) bool {
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	same := false
	err = raw.Control(func(fd uintptr) {
		who, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
		same = err == nil && int(who.Uid) == os.Getuid()
	})
	return err == nil && same
}
