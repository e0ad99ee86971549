package remote

import (
	"encoding/binary"
	"fmt"
	"time"
)

// Clock is what is known of the clock of a host: how far it is ahead of the one here, and how wrong that may be.
type Clock struct{ Ahead, Error time.Duration }

// String says it in words.
func (c Clock) String() string {
	return fmt.Sprintf("%s, within %v", ahead(c.Ahead), rounded(c.Error))
}

func ahead(d time.Duration) string {
	switch d = rounded(d); {
	case d < 0:
		return fmt.Sprintf("%v behind", -d)
	case d > 0:
		return fmt.Sprintf("%v ahead", d)
	}
	return "the same"
}

// rounded leaves two digits or three.
func rounded(d time.Duration) time.Duration {
	to := time.Duration(1)
	for d/to > 1000 || d/to < -1000 {
		to *= 10
	}
	return d.Round(to)
}

// Off reports whether the clock is surely another one than that here: its times mislead.
func (c Clock) Off() bool { return max(c.Ahead, -c.Ahead)-c.Error > time.Second }

// Within reports whether c can be what other says.
func (c Clock) Within(other Clock) bool {
	d := c.Ahead - other.Ahead
	return max(d, -d) <= c.Error+other.Error
}

// comparison compares a host's clock with that here, as NTP does (RFC 5905, section 8): what is asked has the time, and
// comes back with that of the host. Of several answers the one counts that took the shortest time, as long as the two
// clocks can not have drifted apart by more than another one's error.
type comparison struct {
	begun time.Time
	best  Clock
	at    time.Time // of best
	asked int
}

// atOnce is how often is asked at the beginning, one question behind the answer to the other.
const atOnce = 8

// drift is by how much two clocks may come apart: 100 parts in a million, twice what quartz does.
const drift = 10_000

// question is the body of a frame that asks.
func (c *comparison) question() []byte {
	if c.begun.IsZero() {
		c.begun = time.Now()
	}
	c.asked++
	return binary.BigEndian.AppendUint64(nil, uint64(time.Since(c.begun)))
}

// answer is that of a host to a question, nil to what is none.
func answer(question []byte) []byte {
	if len(question) != 8 {
		return nil
	}
	return binary.BigEndian.AppendUint64(append([]byte(nil), question...), uint64(time.Now().UnixNano()))
}

// take takes an answer, and says whether more is known by it.
func (c *comparison) take(body []byte) (news bool) {
	if len(body) != 16 || c.begun.IsZero() {
		return false
	}
	asked, now := time.Duration(binary.BigEndian.Uint64(body)), time.Now()
	took := now.Sub(c.begun) - asked
	there := time.Unix(0, int64(binary.BigEndian.Uint64(body[8:])))
	if took < 0 || took > lostAfter {
		return false // nothing that was asked
	}
	next := Clock{Ahead: there.Sub(now.Add(-took / 2)), Error: took / 2}
	if !c.at.IsZero() && next.Error > c.best.Error+now.Sub(c.at)/drift {
		return false
	}
	c.best, c.at = next, now
	return true
}

// compared takes an answer and tells of it, when the first questions have been answered.
func (s *client) compared(l *link, body []byte) (err error) {
	news := s.clock.take(body)
	if s.clock.asked < atOnce {
		return l.send(frameAlive, s.clock.question())
	}
	if !news && s.clock.asked > atOnce {
		return nil
	}
	c := s.clock.best
	if s.rec != nil {
		s.rec.Clock(c.Ahead, c.Error)
	}
	if f := s.host.Follow; f != nil && f.Clock != nil {
		f.Clock(c)
	}
	if c.Off() && !s.misled {
		s.misled = true
		s.say("", fmt.Sprintf("WARNING: its clock is %s, compared with the one here: times that it tells are "+
			"its own", ahead(c.Ahead)))
	}
	return nil
}
