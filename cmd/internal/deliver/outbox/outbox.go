// Package outbox keeps what is to be delivered until it is: a bounded queue before a receiver that can be away.
//
// In: items, one after the other; Put never waits. Out: batches, given to a function that delivers them, again and
// again while that fails; the numbers of what was delivered and of what was not.
package outbox

import (
	"context"
	"sync"
	"time"
)

// Config says how.
type Config[T any] struct {
	// What names the items in messages ("logs"), To the receiver.
	What, To string
	// Send delivers a batch. An error for which Final holds is not tried again.
	Send func(ctx context.Context, batch []T) error
	// Final reports whether an error stays the same however often the batch is sent; nil: none does.
	Final func(error) bool
	// Most is how many items wait at most, Batch how many are sent at once, Linger how long the first of a batch waits
	// for others.
	Most, Batch int
	Linger      time.Duration
	// Tell prints a warning.
	Tell func(format string, args ...any)
}

// Box is a queue with a sender.
type Box[T any] struct {
	cfg  Config[T]
	mu   sync.Mutex
	wait []T
	wake chan bool // there is something, or enough for a batch
	last context.Context
	stop context.CancelCauseFunc
	end  chan bool // closed by Close: nothing comes any more
	done chan bool
	// sent and lost count items; full tells that those that came were lost.
	sent, lost uint64
	full       bool
}

// The times between attempts.
const (
	firstPause = 200 * time.Millisecond
	lastPause  = 10 * time.Second
)

// New makes a box and starts its sender.
func New[T any](cfg Config[T]) *Box[T] {
	b := &Box[T]{cfg: cfg, wake: make(chan bool, 1), end: make(chan bool), done: make(chan bool)}
	b.last, b.stop = context.WithCancelCause(context.Background())
	go b.run()
	return b
}

// Room has so many items wait from now on, if that is more than before.
func (b *Box[T]) Room(most int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cfg.Most = max(b.cfg.Most, most)
}

// Full reports whether Put would lose an item.
func (b *Box[T]) Full() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.wait) >= b.cfg.Most
}

// Lose counts an item that there was no room for.
func (b *Box[T]) Lose() {
	b.mu.Lock()
	b.lost++
	first, most := !b.full, b.cfg.Most
	b.full = true
	b.mu.Unlock()
	if first {
		b.cfg.Tell("%s: %d %s wait, and those that come now are lost", b.cfg.To, most, b.cfg.What)
	}
}

// Put adds an item, or counts it as lost if there are too many.
func (b *Box[T]) Put(item T) {
	b.mu.Lock()
	if len(b.wait) >= b.cfg.Most {
		b.mu.Unlock()
		b.Lose()
		return
	}
	b.wait = append(b.wait, item)
	n := len(b.wait)
	b.mu.Unlock()
	if n == 1 || n == b.cfg.Batch {
		select {
		case b.wake <- true:
		default:
		}
	}
}

// Counts are how many items were delivered and how many were lost so far.
func (b *Box[T]) Counts() (sent, lost uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sent, b.lost
}

// Close delivers what waits, as long as ctx lasts, and says how many items were lost in all.
func (b *Box[T]) Close(ctx context.Context) (lost uint64) {
	close(b.end)
	select {
	case <-b.done:
	case <-ctx.Done():
		b.stop(context.Cause(ctx))
		<-b.done
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lost
}

// run sends batches until the box is closed and empty, or has to stop.
func (b *Box[T]) run() {
	defer close(b.done)
	for {
		batch, ok := b.next()
		if !ok {
			return
		}
		if err := b.send(batch); err != nil {
			b.mu.Lock()
			b.lost += uint64(len(batch))
			b.mu.Unlock()
			if b.last.Err() == nil {
				b.cfg.Tell("%s: %d %s are lost: %v", b.cfg.To, len(batch), b.cfg.What, err)
				continue
			}
			b.mu.Lock()
			b.lost += uint64(len(b.wait))
			b.wait = nil
			b.mu.Unlock()
			return
		}
		b.mu.Lock()
		b.sent += uint64(len(batch))
		b.full = false
		b.mu.Unlock()
	}
}

// next waits for a batch; ok is false at the end.
func (b *Box[T]) next() (batch []T, ok bool) {
	take := func() []T {
		b.mu.Lock()
		defer b.mu.Unlock()
		n := min(len(b.wait), b.cfg.Batch)
		batch := b.wait[:n:n]
		if b.wait = b.wait[n:]; len(b.wait) == 0 {
			b.wait = nil
		}
		return batch
	}
	count := func() int {
		b.mu.Lock()
		defer b.mu.Unlock()
		return len(b.wait)
	}
	for count() == 0 {
		select {
		case <-b.wake:
		case <-b.end:
			if count() == 0 {
				return nil, false
			}
		}
	}
	linger := time.NewTimer(b.cfg.Linger)
	defer linger.Stop()
	for count() < b.cfg.Batch {
		select {
		case <-b.wake:
		case <-b.end:
			return take(), true
		case <-linger.C:
			return take(), true
		}
	}
	return take(), true
}

// send delivers a batch, as often as it takes.
func (b *Box[T]) send(batch []T) error {
	pause, over := firstPause, false
	for failed := false; ; failed = true {
		err := b.cfg.Send(b.last, batch)
		switch {
		case err == nil && failed:
			b.cfg.Tell("%s: takes %s again", b.cfg.To, b.cfg.What)
			return nil
		case err == nil:
			return nil
		case b.last.Err() != nil:
			return context.Cause(b.last)
		case b.cfg.Final != nil && b.cfg.Final(err):
			return err
		case !failed:
			b.cfg.Tell("%s: %.300s; up to %d %s are kept and sent again", b.cfg.To, err, b.cfg.Most, b.cfg.What)
		}
		end := b.end
		if over {
			end, pause = nil, firstPause // there is little time left
		}
		select {
		case <-time.After(pause):
		case <-end:
			over = true
		case <-b.last.Done():
			return context.Cause(b.last)
		}
		pause = min(2*pause, lastPause)
	}
}
