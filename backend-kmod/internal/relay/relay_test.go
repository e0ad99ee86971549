package relay

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/gostap/gostap/tests/patience"
)

// ring writes as gs_ring.h does.
type ring struct {
	mem  []byte
	size uint64
	page int
}

func newRing(cpus, size int) *ring {
	page := os.Getpagesize()
	return &ring{make([]byte, cpus*(size+page)), uint64(size), page}
}

func (r *ring) head(cpu int) []byte { return r.mem[cpu*(int(r.size)+r.page):] }

// reserve gives the offset of a record in the data of one CPU, false when there is no room.
func (r *ring) reserve(cpu, n int, number uint64) (int, bool) {
	le := binary.LittleEndian
	h := r.head(cpu)
	prod, cons := le.Uint64(h), le.Uint64(h[8:])
	total := uint64(recHead + (n+15)&^15)
	at := prod & (r.size - 1)
	left := r.size - at
	need := total
	if left < total {
		need += left
	}
	if r.size-(prod-cons) < need || need > r.size {
		return 0, false
	}
	data := h[r.page:]
	if left < total {
		le.PutUint32(data[at:], uint32(left-recHead))
		le.PutUint32(data[at+4:], padding)
		at = 0
	}
	le.PutUint32(data[at:], uint32(n))
	le.PutUint32(data[at+4:], busy)
	le.PutUint64(data[at+8:], number)
	le.PutUint64(h, prod+need)
	return int(at), true
}

func (r *ring) finish(cpu, at int, body []byte) {
	data := r.head(cpu)[r.page:]
	copy(data[at+recHead:], body)
	binary.LittleEndian.PutUint32(data[at+4:], 0)
}

func reader(t testing.TB, r *ring, cpus int) *Reader {
	rd, err := New(r.mem, cpus, int(r.size), -1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rd.Close() })
	return rd
}

// TestOrder writes records on several CPUs, finished out of order, with wraps, and reads them all in order.
func TestOrder(t *testing.T) {
	const cpus = 3
	rng := rand.New(rand.NewPCG(1, 2))
	r := newRing(cpus, 256)
	rd := reader(t, r, cpus)
	type open struct {
		cpu, at int
		body    []byte
	}
	var pending []open
	number, read := uint64(0), 0
	check := func() {
		for {
			n, err := rd.drain(func(rec []byte) error {
				if want := fmt.Sprintf("record %d", read); string(rec) != want {
					t.Fatalf("read %q, want %q", rec, want)
				}
				read++
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if n == 0 {
				return
			}
		}
	}
	for number < 5000 {
		body := fmt.Appendf(nil, "record %d", number)
		cpu := rng.IntN(cpus)
		if at, ok := r.reserve(cpu, len(body), number); ok {
			number++
			pending = append(pending, open{cpu, at, body})
		}
		for len(pending) > 0 && (rng.IntN(3) == 0 || len(pending) > 8) {
			i := rng.IntN(len(pending))
			r.finish(pending[i].cpu, pending[i].at, pending[i].body)
			pending = append(pending[:i], pending[i+1:]...)
		}
		check()
	}
	for _, p := range pending {
		r.finish(p.cpu, p.at, p.body)
	}
	check()
	if read != int(number) {
		t.Fatalf("read %d of %d records", read, number)
	}
}

func TestUnfinished(t *testing.T) {
	r := newRing(1, 256)
	rd := reader(t, r, 1)
	at, _ := r.reserve(0, 4, 0)
	start := patience.Now()
	if err := rd.Read(time.Time{}, func([]byte) error {
		t.Fatal("read what is being written")
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if d := patience.Now() - start; d > 10*settle {
		t.Errorf("waited for %v", d)
	}
	r.finish(0, at, []byte("done"))
	got := ""
	if err := rd.Read(time.Time{}, func(b []byte) error { got = string(b); return nil }); err != nil || got != "done" {
		t.Fatalf("%q, %v", got, err)
	}
	stop := errors.New("stop")
	at, _ = r.reserve(0, 4, 1)
	r.finish(0, at, []byte("more"))
	if err := rd.Read(time.Time{}, func([]byte) error { return stop }); err != stop {
		t.Fatalf("the function's error became %v", err)
	}
}

func TestWake(t *testing.T) {
	r := newRing(1, 256)
	rd := reader(t, r, 1)
	go func() { time.Sleep(20 * time.Millisecond); rd.Wake() }()
	start := time.Now()
	if err := rd.Read(start.Add(10*time.Minute), func([]byte) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(start); d > 5*time.Minute {
		t.Errorf("woke after %v", d)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, size := range []int{0, 8, 100} {
		if _, err := New(make([]byte, 10000), 1, size, -1); err == nil {
			t.Errorf("a buffer of %d bytes was taken", size)
		}
	}
	if _, err := New(make([]byte, 100), 1, 64, -1); err == nil {
		t.Error("too little memory was taken")
	}
}

// FuzzHead reads buffers with any content: no panic, no end that does not come.
func FuzzHead(f *testing.F) {
	f.Add(uint64(32), []byte{4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4})
	f.Add(uint64(300), []byte{0, 0, 0, 0, 2, 0, 0, 0})
	f.Add(uint64(16), []byte{255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, prod uint64, data []byte) {
		r := newRing(1, 256)
		binary.LittleEndian.PutUint64(r.mem, prod)
		copy(r.mem[r.page:], data)
		rd := reader(t, r, 1)
		n := 0
		rd.drain(func(b []byte) error { n += len(b); return nil })
		if n > 256 {
			t.Fatalf("%d bytes read from 256", n)
		}
	})
}
