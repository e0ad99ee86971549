// Package relay reads the records that a module puts into one buffer for each CPU, and
// gives them in the order in which they were made.
//
// In: the mapped buffers (gs_ring.h). Out: wire records. Every record carries a number
// from one counter without gaps: the next one is at the head of some buffer, or is
// still being written.
package relay

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	recHead = 16
	busy    = 1
	padding = 2
)

// Reader reads all buffers. Read is for one goroutine; Wake is for any.
type Reader struct {
	bufs  []buffer
	fd    int // to poll for records
	event int // to wake a Read
	next  uint64
}

// buffer is one CPU's.
type buffer struct {
	prod, cons *atomic.Uint64
	data       []byte
	pos        uint64 // what has been read
}

// New makes a Reader over mem, the mapped buffers of cpus processors with size bytes of data each.
func New(mem []byte, cpus, size, fd int) (*Reader, error) {
	page := os.Getpagesize()
	if size < recHead || size&(size-1) != 0 || len(mem) < cpus*(size+page) {
		return nil, fmt.Errorf("output buffers of %d bytes for %d CPUs in %d bytes", size, cpus, len(mem))
	}
	event, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, err
	}
	r := &Reader{fd: fd, event: event}
	for i := range cpus {
		b := mem[i*(size+page):]
		r.bufs = append(r.bufs, buffer{
			prod: (*atomic.Uint64)(unsafe.Pointer(&b[0])), cons: (*atomic.Uint64)(unsafe.Pointer(&b[8])),
			data: b[page : page+size],
		})
	}
	return r, nil
}

// ErrCorrupt says that a buffer holds what the module does not write.
var ErrCorrupt = errors.New("output buffer is damaged")

// head gives the first record of a buffer: its number and bytes. ok is false when there is none that is finished.
func (b *buffer) head() (number uint64, rec []byte, size uint64, ok bool, err error) {
	size = uint64(len(b.data))
	for {
		prod := b.prod.Load()
		if b.pos == prod {
			return 0, nil, 0, false, nil
		}
		at := b.pos & (size - 1)
		if prod-b.pos > size || size-at < recHead {
			return 0, nil, 0, false, ErrCorrupt
		}
		h := b.data[at:]
		flags := (*atomic.Uint32)(unsafe.Pointer(&h[4])).Load()
		n := uint64(*(*uint32)(unsafe.Pointer(&h[0])))
		if flags&padding != 0 {
			b.pos += size - at
			b.cons.Store(b.pos)
			continue
		}
		if flags&busy != 0 {
			return 0, nil, 0, false, nil
		}
		total := recHead + (n+15)&^15
		if total > size-at || total > prod-b.pos {
			return 0, nil, 0, false, ErrCorrupt
		}
		return *(*uint64)(unsafe.Pointer(&h[8])), h[recHead : recHead+n], total, true, nil
	}
}

// drain passes on what is there, in order, until the next record is not finished. It gives how many.
func (r *Reader) drain(fn func([]byte) error) (int, error) {
	n := 0
	last := 0
	for {
		found := false
		for i := range r.bufs {
			b := &r.bufs[(last+i)%len(r.bufs)]
			number, rec, size, ok, err := b.head()
			if err != nil {
				return n, err
			}
			if !ok || number != r.next {
				continue
			}
			found = true
			last = (last + i) % len(r.bufs)
			r.next++
			n++
			err = fn(rec)
			b.pos += size
			b.cons.Store(b.pos)
			if err != nil {
				return n, err
			}
			break
		}
		if !found {
			return n, nil
		}
	}
}

// waiting reports whether any buffer holds something, finished or not.
func (r *Reader) waiting() bool {
	for i := range r.bufs {
		if r.bufs[i].prod.Load() != r.bufs[i].pos {
			return true
		}
	}
	return false
}

// settle is how long a record may take from its number to its end before this call of Read leaves it to the next one.
const settle = 20 * time.Millisecond

// Read passes on the records that wait; when there are none it waits for one until the deadline, for the end of the
// session or for Wake.
func (r *Reader) Read(deadline time.Time, fn func([]byte) error) error {
	n, err := r.drain(fn)
	if n > 0 || err != nil {
		return err
	}
	// Somebody is writing the next record now.
	for until := time.Now().Add(settle); r.waiting() && time.Now().Before(until); {
		if n, err := r.drain(fn); n > 0 || err != nil {
			return err
		}
		time.Sleep(20 * time.Microsecond)
	}
	wait := time.Until(deadline)
	if wait <= 0 {
		return nil
	}
	fds := []unix.PollFd{{Fd: int32(r.fd), Events: unix.POLLIN}, {Fd: int32(r.event), Events: unix.POLLIN}}
	ts := unix.NsecToTimespec(int64(wait))
	if _, err := unix.Ppoll(fds, &ts, nil); err != nil && err != unix.EINTR {
		return err
	}
	if fds[1].Revents != 0 {
		var b [8]byte
		unix.Read(r.event, b[:])
	}
	_, err = r.drain(fn)
	return err
}

// Wake makes a Read that waits return.
func (r *Reader) Wake() {
	b := [8]byte{1}
	unix.Write(r.event, b[:])
}

// Close gives back what New took.
func (r *Reader) Close() error { return unix.Close(r.event) }
