package symbols

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// backlog is what the buffers of Events had in them when they filled, until somebody asks.
type backlog struct {
	mu      sync.Mutex
	recs    []byte // length, kind, time, and the record
	room    int    // of recs, before the older processes that have ended are left out
	stop    int    // an eventfd
	done    sync.WaitGroup
	started bool
}

// leastRoom is some 8,000 programs that were run.
const leastRoom = 8 << 20

// follow empties the buffers from now on whenever they fill.
func (e *Events) follow() (err error) {
	k := &e.kept
	k.room = leastRoom
	if k.stop, err = unix.Eventfd(0, unix.EFD_CLOEXEC); err != nil {
		return fmt.Errorf("watch processes: %w", err)
	}
	polls := []unix.PollFd{{Fd: int32(k.stop), Events: unix.POLLIN}}
	for _, fd := range e.FDs() {
		polls = append(polls, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	}
	k.started = true
	k.done.Go(func() {
		for {
			if _, err := unix.Poll(polls, -1); err != nil && err != unix.EINTR || polls[0].Revents != 0 {
				return
			}
			k.mu.Lock()
			e.drain(k.add)
			k.mu.Unlock()
			for i := range polls { // its CPU is gone
				if polls[i].Revents&(unix.POLLHUP|unix.POLLERR) != 0 {
					polls[i].Fd = -1
				}
			}
		}
	})
	return nil
}

// unfollow ends that.
func (e *Events) unfollow() {
	if !e.kept.started {
		return
	}
	e.kept.started = false
	unix.Write(e.kept.stop, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	e.kept.done.Wait()
	unix.Close(e.kept.stop)
}

// headSize is the bytes in recs before a record.
const headSize = 16

// add keeps a record of a kind that Table.event knows.
func (k *backlog) add(kind uint32, body []byte, time uint64) {
	switch kind {
	case unix.PERF_RECORD_MMAP2, unix.PERF_RECORD_LOST:
	case unix.PERF_RECORD_FORK, unix.PERF_RECORD_EXIT:
		if !ofProcess(body) {
			return
		}
	default:
		return
	}
	if len(k.recs) > k.room {
		k.shrink()
		k.room = max(leastRoom, 2*len(k.recs))
	}
	le := binary.LittleEndian
	k.recs = le.AppendUint32(k.recs, uint32(len(body)))
	k.recs = le.AppendUint32(k.recs, kind)
	k.recs = le.AppendUint64(k.recs, time)
	k.recs = append(k.recs, body...)
}

// ofProcess reports whether a FORK or EXIT is that of a process, not of one of its threads.
func ofProcess(body []byte) bool {
	le := binary.LittleEndian
	return len(body) >= 16 && le.Uint32(body) == le.Uint32(body[8:])
}

// take passes on what is kept, and keeps it no more.
func (k *backlog) take(fn func(kind uint32, body []byte, time uint64)) {
	k.walk(fn)
	if k.recs = k.recs[:0]; cap(k.recs) > leastRoom {
		k.recs = nil
	}
	k.room = leastRoom
}

func (k *backlog) walk(fn func(kind uint32, body []byte, time uint64)) {
	le := binary.LittleEndian
	for at := 0; at < len(k.recs); {
		n := int(le.Uint32(k.recs[at:]))
		fn(le.Uint32(k.recs[at+4:]), k.recs[at+headSize:at+headSize+n], le.Uint64(k.recs[at+8:]))
		at += headSize + n
	}
}

// shrink leaves out the processes that have ended, but the newest of them, which a table remembers too.
func (k *backlog) shrink() {
	var ended []uint32
	pid := binary.LittleEndian.Uint32
	k.walk(func(kind uint32, body []byte, _ uint64) {
		if kind == unix.PERF_RECORD_EXIT {
			ended = append(ended, pid(body))
		}
	})
	old := map[uint32]bool{}
	for _, p := range ended[:max(len(ended)-maxEnded, 0)] {
		old[p] = true
	}
	for _, p := range ended[len(ended)-min(len(ended), maxEnded):] { // the number was used again
		delete(old, p)
	}
	was := backlog{recs: slices.Clone(k.recs)}
	k.recs, k.room = k.recs[:0], 1<<62
	was.walk(func(kind uint32, body []byte, time uint64) {
		if kind == unix.PERF_RECORD_LOST || !old[pid(body)] {
			k.add(kind, body, time)
		}
	})
}
