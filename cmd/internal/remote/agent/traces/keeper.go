// Package traces runs on a plain host what lies in a directory: a session for each file, as long as the file is there.
//
// In: a directory with Traces as one applies to Kubernetes, or scripts; the directory of what came of them. Out:
// processes of gostap; for each Trace its status, the end of its output and its messages in files; a line for what
// happens; the list of "gostap agent traces".
package traces

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gostap/gostap/cmd/internal/asked"
	"github.com/gostap/gostap/cmd/internal/kept"
)

// Config says what is run, and how.
type Config struct {
	// Dir has the files, State what came of them.
	Dir, State string
	// Command is gostap with its first arguments, Env its environment.
	Command, Env []string
	// Exports are the destinations that Traces can name.
	Exports asked.Exports
	// Guru allows Traces that change what they trace.
	Guru bool
	// Log takes a line.
	Log func(string)
	// Take takes a place for a session. What it gives, nil if there is none, gives the place back.
	Take func() (free func())
	// Begun is told of a session that runs, or could not begin. What it gives is told of its end, by the
	// error of its process, and how many events and hits it has said are missing.
	Begun func() (ended func(err error, lost int64))
}

const (
	tick       = 200 * time.Millisecond
	every      = 5 * time.Second  // the directory is looked at without being told
	settled    = time.Second      // so long a file has to stay as it is
	perWrite   = 2 * time.Second  // the output is written so often, and later by a second for each MB
	longChange = 10 * time.Second // a file that is written for so long is told
	mostGone   = 100              // Traces whose file is gone and whose result is kept
)

// Keeper runs the Traces of a directory.
type Keeper struct {
	Config
	state  *State
	notes  *notes
	wakes  chan struct{}
	ends   chan struct{} // closed when sessions are to end
	once   sync.Once
	done   chan struct{}
	count  atomic.Int32 // sessions
	traces map[string]*trace
	told   map[string]string
	looked time.Time
	seen   bool            // the directory has been looked at
	odd    map[string]bool // files that are not taken, and were told
}

// trace is one of them.
type trace struct {
	name, file string
	there      bool // its file is
	stamp      stamp
	since      time.Time // it is so
	changes    time.Time // its content is waited for since then
	taken      bool      // its content is known
	tried      bool      // this content was refused, or the file is not believed
	refused    string    // the reason, as long as it was not told
	digest     string
	spec       *Trace
	status     Status
	saved      bool // the status is written
	s          *session
	free       func()                      // gives its place back
	over       func(err error, lost int64) // tells of its end
	why        string                      // the session was told to end
	again      bool                        // it is to begin again with the next agent
	wrote      time.Time
	bytes      int64     // of output that are written
	messages   string    // that are written
	due, retry time.Time // of its status, of its beginning
}

// Begin opens the directory of the state and begins to run what lies in the other one.
func Begin(c Config) (*Keeper, error) {
	state, err := OpenState(c.State)
	if err != nil {
		return nil, err
	}
	k := &Keeper{Config: c, state: state, wakes: make(chan struct{}, 1), ends: make(chan struct{}),
		done: make(chan struct{}), traces: map[string]*trace{}, told: map[string]string{}}
	if k.notes, err = newNotes(c.Dir, k.wake); err != nil {
		state.dir.Close()
		return nil, err
	}
	k.load()
	go k.run()
	return k, nil
}

// End has the sessions end in order. It does not wait.
func (k *Keeper) End() { k.once.Do(func() { close(k.ends) }) }

// Running is how many sessions there are, 0 also of a nil Keeper.
func (k *Keeper) Running() int {
	if k == nil {
		return 0
	}
	return int(k.count.Load())
}

// Wait waits until all that there is to write is written, after End.
func (k *Keeper) Wait() { <-k.done }

func (k *Keeper) wake() {
	select {
	case k.wakes <- struct{}{}:
	default:
	}
}

// tell tells of something once, until it is another text. "" is that it is over.
func (k *Keeper) tell(about, text string) {
	if text != "" && k.told[about] != text {
		k.Log(text)
	}
	if k.told[about] = text; text == "" {
		delete(k.told, about)
	}
}

// trouble tells of an error that goes on.
func (k *Keeper) trouble(about string, err error) {
	if err == nil {
		k.tell(about, "")
		return
	}
	k.tell(about, "WARNING: "+about+": "+refusal(err))
}

// load takes up what the agent before has left.
func (k *Keeper) load() {
	names, err := k.state.traces()
	k.trouble("--state", err)
	for _, name := range names {
		st, err := k.state.status(name)
		if err != nil {
			k.Log(fmt.Sprintf("WARNING: trace %s: %v: it is as if it had not run", name, err))
			continue
		}
		t := &trace{name: name, status: st, saved: true, bytes: st.Result.Bytes}
		if k.traces[name] = t; !finished(st.Phase) && st.Started != nil {
			k.finish(t, Failed, "the agent was killed: the session has ended with it, and what it had counted and not "+
				"told is missing\n"+st.Message)
		}
	}
}

// run goes on until the sessions have ended, after End.
func (k *Keeper) run() {
	defer close(k.done)
	defer k.state.dir.Close()
	defer k.notes.close()
	timer := time.NewTicker(tick)
	defer timer.Stop()
	ends, ending := k.ends, false
	for {
		if !ending && time.Since(k.looked) >= every {
			k.look()
		}
		for _, name := range slices.Sorted(maps.Keys(k.traces)) {
			k.step(k.traces[name], ending)
		}
		if ending && k.Running() == 0 {
			for _, t := range k.traces {
				t.due = time.Time{}
				k.save(t)
			}
			return
		}
		select {
		case <-ends:
			ends, ending = nil, true
		case <-k.wakes:
			k.looked = time.Time{}
		case <-timer.C:
		}
	}
}

// refuse says why nothing is run. What has run before stays known.
func (k *Keeper) refuse(t *trace, text string) {
	text = short(text)
	now := time.Now().UTC()
	t.tried, t.saved, t.refused = true, false, ""
	t.status.Phase, t.status.Message, t.status.Finished, t.status.File = Refused, text, &now, t.file
	k.Log("trace " + t.name + ": refused: " + headline(text))
	k.trouble("trace "+t.name, k.state.write(t.name+logFile, []byte(text+"\n")))
}

// headline is the line of messages that says most: an error, else the first.
func headline(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSuffix(line, "\n"); kept.Breaks(line) || kept.Refuses(line) {
			return line
		}
	}
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// step brings a Trace further.
func (k *Keeper) step(t *trace, ending bool) {
	switch {
	case t.s != nil:
		k.follow(t, ending)
	case ending || !k.seen:
	case !t.there && t.status.Digest == "" && t.status.Result.Bytes == 0: // it has not run, and never will
		k.state.remove(t.name)
		delete(k.traces, t.name)
		return
	case !t.there && !finished(t.status.Phase):
		k.finish(t, Done, removed+"\n")
	case !t.there:
	case t.refused != "":
		k.refuse(t, t.refused)
	case t.taken && t.digest != "" && t.digest == t.status.Digest &&
		(t.status.Phase == Refused || t.status.Phase == Pending): // it is what it was before others came
		k.finish(t, Done, "it has run, and is not run again\n")
	case t.taken && !t.tried && t.digest != t.status.Digest && time.Now().After(t.retry):
		k.begin(t)
	}
	k.save(t)
}

// begin begins its session, if it is time and there is room for one.
func (k *Keeper) begin(t *trace) {
	for _, o := range k.traces {
		if t.status.Digest != "" || o == t || o.there || o.status.Digest != t.digest {
			continue
		}
		if o.s == nil { // a file that is renamed is the same Trace
			t.status, t.saved, t.bytes = o.status, false, o.bytes
			t.status.File, t.status.Message = t.file, "it has run as "+o.name+", and is not run again: gostap agent "+
				"traces "+o.name+" has its output\n"
			k.Log("trace " + t.name + ": not run: it has run as " + o.name)
		}
		return
	}
	if time.Until(t.spec.Begin) > 0 {
		k.wait(t, "begins at "+t.spec.Begin.UTC().Format(time.RFC3339))
		return
	}
	if t.free = k.Take(); t.free == nil {
		k.wait(t, "waits until another session has ended (--sessions)")
		return
	}
	now := time.Now().UTC()
	st := Status{Phase: Pending, Message: "its probes are being set", Started: &now, File: t.file, Digest: t.digest}
	err := k.state.clear(t.name)
	if err == nil {
		// It is known to have begun before it does: so it never runs twice.
		err = k.state.writeStatus(t.name, &st)
	}
	if k.trouble("trace "+t.name, err); err != nil {
		t.free()
		t.retry = now.Add(every)
		return
	}
	before := t.status
	t.status, t.saved, t.wrote, t.bytes, t.messages, t.why, t.again = st, true, now, 0, "", "", false
	s, err := k.start(t.spec, t.name, t.file, k.notes.address, k.notes.know)
	var no *asked.Refusal
	switch {
	case errors.As(err, &no):
		t.free()
		k.Begun()(err, 0)
		t.status.Digest = ""
		k.refuse(t, t.file+": error: "+no.Text)
		return
	case err != nil: // there are too many processes or files, say, which is not for ever
		t.free()
		t.status, t.saved, t.retry = before, false, now.Add(every)
		k.wait(t, "no session can be begun, which is tried again: "+err.Error())
		return
	}
	k.count.Add(1)
	t.s, t.over = s, k.Begun()
	k.Log("trace " + t.name + ": begins, for " + (time.Duration(t.spec.Seconds) * time.Second).String() + " at most")
}

// wait says why it has not begun.
func (k *Keeper) wait(t *trace, why string) {
	if t.status.Phase != Pending || t.status.Message != why {
		t.status, t.saved = Status{Phase: Pending, Message: why, File: t.file, Digest: t.status.Digest}, false
		k.Log("trace " + t.name + ": " + why)
	}
}

// Why a session is ended.
const (
	removed = "its file was removed"
	changed = "its file was changed"
	stopped = "the agent was stopped"
	overdue = "it had not ended in its time"
)

// notWhole begins the message of a Trace whose output could not be written.
const notWhole = "WARNING: its output is not there as a whole: "

// follow looks after a session.
func (k *Keeper) follow(t *trace, ending bool) {
	s := t.s
	why := ""
	switch {
	case ending:
		why = stopped
		t.again = t.again || t.why == "" && t.there
	case !t.there && k.seen:
		why = removed
	case t.taken && t.digest != t.status.Digest:
		why = changed
	case s.late():
		why = overdue
	}
	if t.why == "" {
		t.why = why
	}
	if t.why != "" {
		s.child.Stop()
	}
	s.child.Lock()
	ended, err, ran, refuses := s.child.Ended, s.child.Err, !s.ran.IsZero(), s.refuses
	said, _, _ := s.said.Text()
	total, left := s.out.Size()
	st := t.status
	if st.Lost, st.Result = s.lost, (Result{total, left}); s.out.First {
		st.Result.Bytes += left // total is where the text ends
	}
	text := ""
	pause := perWrite + time.Duration(min(total, int64(s.out.Most))>>20)*time.Second
	due := ended || time.Since(t.wrote) >= pause
	if due && t.bytes != st.Result.Bytes {
		text, _, _ = s.out.Text() // up to 48 MB: not at each look
	}
	s.child.Unlock()
	if !ended {
		if st.Phase == Pending && ran {
			st.Phase = Running
			k.Log("trace " + t.name + ": runs")
		}
		if st.Phase == Running {
			st.Message = tail(said)
		}
		t.put(st)
		if due {
			k.write(t, text, said, st.Result.Bytes)
		}
		return
	}
	k.count.Add(-1)
	if !ran && t.why != "" && t.why != overdue { // what it says of being stopped before it began is no error
		err, said = nil, ""
	}
	t.free()
	t.over(err, st.Lost)
	k.notes.forget(s)
	t.s, t.due = nil, time.Time{}
	t.put(st)
	message := tail(said)
	if t.why != "" {
		message = t.why + "\n" + message
	}
	if err := k.write(t, text, said, st.Result.Bytes); err != nil { // first, as what the list has
		message = notWhole + refusal(err) + "\n" + message
	}
	switch {
	case t.again && err == nil:
		t.status.Phase, t.status.Digest, t.status.Started = Pending, "", nil
		t.status.Message = "the agent was stopped, and the session with it: it begins again with the next one\n" +
			tail(said)
		t.saved = false
		k.Log("trace " + t.name + ": ended with the agent" + k.size(t))
	case err != nil && !ran && refuses:
		text := said
		if text == "" {
			text = "gostap ended: " + err.Error()
		}
		if t.digest == t.status.Digest { // the file is as it was
			t.tried = true
		}
		t.status.Digest = ""
		k.finish(t, Refused, strings.TrimSuffix(text, "\n"))
	case err != nil:
		if said == "" {
			message += "gostap ended: " + err.Error() + "\n"
		}
		k.finish(t, Failed, message)
	default:
		k.finish(t, Done, message)
	}
}

// put takes a status that may be a new one.
func (t *trace) put(st Status) {
	if st.Phase != t.status.Phase || st.Message != t.status.Message || st.Lost != t.status.Lost ||
		st.Result != t.status.Result {
		t.status, t.saved = st, false
	}
}

// tail is as much of messages as a status has.
func tail(said string) string {
	if len(said) > mostMessage {
		said = strings.ToValidUTF8(said[len(said)-mostMessage:], "")
	}
	return said
}

// short is a message that a status has room for: what a file has is in it, perhaps.
func short(message string) string {
	if len(message) > 2*mostMessage {
		message = strings.ToValidUTF8(message[:2*mostMessage], "") + "...\n"
	}
	return message
}

// finish takes a last status.
func (k *Keeper) finish(t *trace, phase, message string) {
	now := time.Now().UTC()
	message = short(message)
	t.status.Phase, t.status.Message, t.status.Finished, t.saved = phase, message, &now, false
	line := "trace " + t.name + ": " + strings.ToLower(phase)
	if text := headline(message); text != "" {
		line += ": " + text
	}
	if phase != Refused {
		line += k.size(t)
	}
	k.Log(line)
}

// size says how much was printed, and where it is.
func (k *Keeper) size(t *trace) string {
	if t.status.Result.Bytes == 0 {
		return ""
	}
	in := "in"
	if t.bytes != t.status.Result.Bytes { // they could not be written
		in = "that are not all in"
	}
	return fmt.Sprintf(" (%d bytes %s %s)", t.status.Result.Bytes, in, filepath.Join(k.State, t.name+outFile))
}

// write writes the output, text, if there is more of it than before, and the messages, if there are new ones. The error
// is that of the output.
func (k *Keeper) write(t *trace, text, said string, bytes int64) (err error) {
	if t.wrote = time.Now(); t.bytes != bytes {
		err = k.state.write(t.name+outFile, []byte(text))
		if k.trouble("trace "+t.name+": its output", err); err == nil {
			t.bytes = bytes
		}
	}
	if t.messages != said {
		err := k.state.write(t.name+logFile, []byte(said))
		if k.trouble("trace "+t.name+": its messages", err); err == nil {
			t.messages = said
		}
	}
	return err
}

// save writes the status, if there is a new one.
func (k *Keeper) save(t *trace) {
	now := time.Now()
	if t.saved || t.status.Phase == "" || now.Before(t.due) {
		return
	}
	err := k.state.writeStatus(t.name, &t.status)
	if k.trouble("trace "+t.name+": its status", err); err != nil {
		t.due = now.Add(every)
		return
	}
	if t.saved = true; t.s != nil {
		t.due = now.Add(time.Second)
	}
}

// forgotten looks for statuses that were deleted, by which one has a Trace run again, and deletes those of files that
// are long gone.
func (k *Keeper) forgotten() {
	names, err := k.state.traces()
	if err != nil {
		k.trouble("--state", err)
		return
	}
	var gone []*trace
	for name, t := range k.traces {
		if t.s != nil || !t.saved || !finished(t.status.Phase) {
			continue
		}
		if _, there := slices.BinarySearch(names, name); !there {
			k.state.remove(name)
			// Its file is read anew: of one that was refused nothing is known.
			if t.status, t.taken, t.digest = (Status{}), false, ""; !t.there {
				delete(k.traces, name)
			}
			continue
		}
		if !t.there && k.seen {
			gone = append(gone, t)
		}
	}
	slices.SortFunc(gone, func(a, b *trace) int { return b.status.ended().Compare(a.status.ended()) })
	for _, t := range gone[min(mostGone, len(gone)):] {
		k.state.remove(t.name)
		delete(k.traces, t.name)
	}
}

func (s *Status) ended() time.Time {
	if s.Finished == nil {
		return time.Time{}
	}
	return *s.Finished
}
