// Package ring reads the kernel's BPF ring buffer where it lies in memory: a record is
// handed on as a slice of the shared pages, without a copy and without an allocation.
//
// In: the descriptor of a BPF_MAP_TYPE_RINGBUF map and its size. Out: the records in
// the order in which the kernel reserved them.
//
// The kernel wakes a reader only when the record that it finishes is the first one that
// the reader has not consumed. The wake-up is paid by the traced thread (about 2 us on
// the reference machine), so the reader avoids asking for it: while records keep coming
// it leaves the last one unreleased, looks again by itself every Nap, and only when a
// look found nothing does it release everything and sleep until the kernel wakes it.
package ring

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Nap is the time between two looks while records keep coming, and so the most that a
// record is late after the first of a burst.
const Nap = time.Millisecond

const (
	busy    = 1 << 31 // BPF_RINGBUF_BUSY_BIT: reserved, not yet written
	discard = 1 << 30 // BPF_RINGBUF_DISCARD_BIT: given back
	header  = 8
)

// Reader reads one ring buffer. Read is for one goroutine; Wake is for any.
type Reader struct {
	fd, event int
	consumer  []byte // one page, shared for writing
	producer  []byte // one page, then the data twice
	data      []byte // the data twice: no record is split
	mask      uint64
	cons      *atomic.Uint64
	prod      *atomic.Uint64
	// pos is how far the reader is; *cons is how far it has told the kernel.
	pos uint64
	// last is where the last consumed record began.
	last   uint64
	active bool // records came lately: look again without being woken
	woken  atomic.Bool
	closed bool
	mu     sync.Mutex // Wake against Close
	polls  []unix.PollFd
	stats  Stats
}

// Stats counts what a reader did.
type Stats struct {
	Records, Bytes, Discarded uint64
	// Naps and Sleeps are the waits that ended by themselves and those that the kernel had to end.
	Naps, Sleeps uint64
}

// Open maps the ring buffer fd of size bytes (a power of two and a multiple of the page size).
// The caller keeps fd open.
func Open(fd, size int) (*Reader, error) {
	page := os.Getpagesize()
	if size < page || size&(size-1) != 0 {
		return nil, fmt.Errorf("ring buffer of %d bytes: not a power of two of at least a page", size)
	}
	r := &Reader{fd: fd, event: -1, mask: uint64(size - 1)}
	var err error
	if r.consumer, err = unix.Mmap(fd, 0, page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		return nil, fmt.Errorf("map the ring buffer's consumer page: %w", err)
	}
	if r.producer, err = unix.Mmap(fd, int64(page), page+2*size, unix.PROT_READ, unix.MAP_SHARED); err != nil {
		r.Close()
		return nil, fmt.Errorf("map the ring buffer's %d bytes: %w", size, err)
	}
	if r.event, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		r.Close()
		return nil, fmt.Errorf("make an event descriptor: %w", err)
	}
	r.data = r.producer[page:]
	r.cons = (*atomic.Uint64)(unsafe.Pointer(&r.consumer[0]))
	r.prod = (*atomic.Uint64)(unsafe.Pointer(&r.producer[0]))
	r.pos = r.cons.Load()
	r.last = r.pos
	r.polls = []unix.PollFd{{Fd: int32(r.event), Events: unix.POLLIN}, {Fd: int32(fd), Events: unix.POLLIN}}
	return r, nil
}

// ErrClosed is returned by Read after Close.
var ErrClosed = errors.New("ring buffer is closed")

// Read passes on the records that are there and returns how many. If there are none it waits for
// the first until the deadline, or until Wake. The slice is valid during the call of fn only. An
// error from fn ends Read and is returned; that record counts as consumed.
func (r *Reader) Read(deadline time.Time, fn func(rec []byte) error) (int, error) {
	if r.closed {
		return 0, ErrClosed
	}
	for {
		n, blocked, err := r.drain(fn)
		if n > 0 || err != nil {
			r.active = true
			return n, err
		}
		left := time.Until(deadline)
		if left <= 0 {
			return 0, nil
		}
		if r.clear() {
			return 0, nil
		}
		switch {
		case blocked:
			// A record is reserved and its writer is not done (preempted, or on its way). The
			// kernel calls the buffer readable all the while, so waiting for that would spin.
			err = r.wait(min(left, Nap/4), false)
			r.stats.Naps++
		case r.active:
			r.active = false
			err = r.wait(min(left, Nap), false)
			r.stats.Naps++
		default:
			// Release everything, then look once more: a record that was finished before the
			// release did not wake anybody.
			if r.cons.Load() != r.pos {
				r.cons.Store(r.pos)
				continue
			}
			err = r.wait(left, true)
			r.stats.Sleeps++
		}
		if err != nil {
			return 0, err
		}
	}
}

// drain consumes what is finished. blocked says that it stopped at a record that is not.
func (r *Reader) drain(fn func(rec []byte) error) (n int, blocked bool, err error) {
	size := r.mask + 1
	told := r.cons.Load()
	prod := r.prod.Load()
	for r.pos < prod {
		if prod-r.pos > size {
			return n, false, fmt.Errorf("ring buffer is broken: producer at %d, consumer at %d", prod, r.pos)
		}
		at := r.pos & r.mask
		h := (*atomic.Uint32)(unsafe.Pointer(&r.data[at])).Load()
		if h&busy != 0 {
			blocked = true
			break
		}
		length := uint64(h &^ (busy | discard))
		span := (length + header + 7) &^ 7
		if length > size || r.pos+span > prod {
			return n, false, fmt.Errorf("ring buffer is broken: record of %d bytes at %d of %d", length, r.pos, prod)
		}
		r.last = r.pos
		r.pos += span
		if h&discard != 0 {
			r.stats.Discarded++
		} else {
			r.stats.Records++
			r.stats.Bytes += length
			n++
			err = fn(r.data[at+header : at+header+length : at+header+length])
		}
		// Give room back in time for a busy producer, but keep the last record.
		if r.last-told > size/8 {
			told = r.last
			r.cons.Store(told)
		}
		if err != nil {
			break
		}
		if r.pos == prod {
			prod = r.prod.Load()
		}
		if n >= batch {
			break
		}
	}
	if r.last > told {
		r.cons.Store(r.last)
	}
	return n, blocked, err
}

// batch bounds one Read, so that its caller gets a word in under a stream that never ends.
const batch = 1 << 16

// wait sleeps until Wake, until d is over, or with data until the kernel has a record.
func (r *Reader) wait(d time.Duration, data bool) error {
	p := r.polls[:1]
	if data {
		p = r.polls
	}
	ts := unix.NsecToTimespec(int64(d))
	_, err := unix.Ppoll(p, &ts, nil)
	if err != nil && err != unix.EINTR {
		return fmt.Errorf("wait for the ring buffer: %w", err)
	}
	return nil
}

// Wake makes a waiting Read return, or the next one that would wait.
func (r *Reader) Wake() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.event >= 0 && r.woken.CompareAndSwap(false, true) {
		one := [8]byte{1}
		unix.Write(r.event, one[:])
	}
}

// clear takes note of a Wake, and says whether there was one.
func (r *Reader) clear() bool {
	if !r.woken.Load() {
		return false
	}
	r.mu.Lock() // whoever has set woken has written the event, too: else it would stay readable
	defer r.mu.Unlock()
	var b [8]byte
	unix.Read(r.event, b[:])
	r.woken.Store(false)
	return true
}

// Waiting gives the bytes that the kernel has reserved and the reader has not consumed.
func (r *Reader) Waiting() uint64 {
	if r.closed {
		return 0
	}
	return r.prod.Load() - r.pos
}

// Stats gives the counts so far.
func (r *Reader) Stats() Stats { return r.stats }

// Close unmaps the buffer. No Read may be running. Wake does nothing afterwards.
func (r *Reader) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	if r.consumer != nil {
		unix.Munmap(r.consumer)
	}
	if r.producer != nil {
		unix.Munmap(r.producer)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.event >= 0 {
		unix.Close(r.event)
		r.event = -1
	}
	return nil
}
