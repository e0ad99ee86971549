package agent

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/cmd/internal/remote"
	"github.com/gostap/gostap/cmd/internal/remote/ledger"
	"github.com/gostap/gostap/cmd/internal/remote/mtls"
)

// session is a process that serves a client.
type session struct {
	number int
	link   *net.UnixConn // to the process
	hung   bool          // under agent.mu: the agent ends, and the session with it
}

// hangUp has the session see the end of its link, and end by that. What it still says goes to its client.
func (s *session) hangUp() {
	s.hung = true
	s.link.CloseWrite()
}

// serve has a process serve a client, to its end.
func (a *agent) serve(p *mtls.Peer) {
	defer p.Close()
	who := fmt.Sprintf("%s (certificate %s)", p.Name, p.Serial)
	select {
	case a.slots <- struct{}{}:
	default:
		p.Refuse(fmt.Sprintf("%d sessions run there already, and no more are taken (--sessions)", cap(a.slots)))
		a.refused(p.From, fmt.Sprintf("%s: %d sessions run already", who, cap(a.slots)))
		return
	}
	free := func() { <-a.slots }
	s, cmd, reports, err := a.begin()
	if err != nil {
		free()
		p.Refuse("no session can be begun there: " + err.Error())
		a.ledger.Begin().End(ledger.Failed)
		a.log.line(fmt.Sprintf("WARNING: no session for %s from %s: %v", who, p.From, err))
		return
	}
	began, entry := time.Now(), a.ledger.Begin()
	told := make(chan remote.Report, 1)
	go a.listen(s, reports, entry, who, p.From, told)
	said := make(chan struct{})
	if p.Welcome() == nil {
		go func() {
			defer close(said)
			io.Copy(s.link, p)
			// Who is gone takes nothing any more: the session must not wait for him.
			s.link.Close()
			io.Copy(io.Discard, p) // where it was the session that ended first
		}()
		io.Copy(p, s.link)
	} else {
		close(said)
	}
	s.link.Close()
	err = cmd.Wait()
	report, lasted := <-told, time.Since(began).Round(time.Millisecond)
	a.mu.Lock()
	report.Lost = report.Lost && !s.hung
	a.mu.Unlock()
	entry.End(ledger.Of(report, signalled(err)))
	a.log.line(fmt.Sprintf("session %d: %s after %v", s.number, outcome(report, err), lasted))
	free()
	// Bytes that were not read would have the kernel throw away what the client has not got yet.
	p.Done()
	<-said
	a.mu.Lock()
	delete(a.running, s)
	a.mu.Unlock()
}

// begin starts a process for a session.
func (a *agent) begin() (s *session, cmd *exec.Cmd, reports *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, nil, err
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "link"), os.NewFile(uintptr(fds[1]), "link")
	defer ours.Close()
	defer theirs.Close()
	c, err := net.FileConn(ours)
	if err != nil {
		return nil, nil, nil, err
	}
	link, ok := c.(*net.UnixConn)
	if !ok {
		c.Close()
		return nil, nil, nil, errors.New("a socket is no socket")
	}
	reports, tells, err := os.Pipe()
	if err != nil {
		link.Close()
		return nil, nil, nil, err
	}
	defer tells.Close()
	cmd = exec.Command(a.command[0], a.command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = theirs, theirs, os.Stderr, []*os.File{tells}
	cmd.Env = a.env
	cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ending {
		err = errors.New("the agent is being stopped")
	} else {
		err = cmd.Start()
	}
	if err != nil {
		link.Close()
		reports.Close()
		return nil, nil, nil, err
	}
	a.count++
	s = &session{number: a.count, link: link}
	a.running[s] = true
	return s, cmd, reports, nil
}

// listen notes and logs what a session reports, and gives the last report.
func (a *agent) listen(s *session, reports *os.File, entry *ledger.Session, who, from string,
	told chan<- remote.Report) {
	defer reports.Close()
	var last remote.Report
	logged := false
	remote.ReadReports(reports, func(r remote.Report) {
		entry.Told(r)
		if last = r; !logged {
			logged = true
			a.log.line(fmt.Sprintf("session %d: %s from %s runs %s", s.number, who, from, r.Script))
		}
	})
	io.Copy(io.Discard, reports) // where it was no report
	if !logged {
		a.log.line(fmt.Sprintf("session %d: %s from %s asked for nothing", s.number, who, from))
	}
	told <- last
}

// signalled says that a signal has ended a process.
func signalled(err error) bool {
	exit, ok := errors.AsType[*exec.ExitError](err)
	return ok && !exit.Exited()
}

// outcome says how a session ended.
func outcome(r remote.Report, err error) string {
	var exit *exec.ExitError
	switch {
	case signalled(err):
		return "its process was ended by a signal (" + err.Error() + ")"
	case r.Lost:
		return "its client went away; it ended"
	case r.Ended:
		return fmt.Sprintf("ended with status %d", r.Status)
	case errors.As(err, &exit):
		return fmt.Sprintf("ended with status %d", exit.ExitCode())
	case err != nil:
		return "ended: " + err.Error()
	}
	return "ended"
}
