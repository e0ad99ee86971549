// Command served is an HTTP server with a store behind it, and its clients. Handlers run on stacks that grow and are
// copied while garbage is collected without a pause. The clients count how their requests end.
//
//	served N        N requests, then the counts
//	served N FILE   makes FILE when the first request has failed, then asks until a thousand requests in a row went well,
//	                N at least
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
)

// Item is what the store has.
type Item struct {
	ID    int
	Owner *string
	Notes []string
}

// Store is the store.
type Store struct{ reads atomic.Int64 }

// ErrTimeout is what nobody returns.
var ErrTimeout = errors.New("the store took too long")

// Get is what fails.
//
//go:noinline
func (s *Store) Get(ctx context.Context, id int) (*Item, error) {
	s.reads.Add(1)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	owner := "owner " + strconv.Itoa(id)
	return &Item{id, &owner, []string{owner, strconv.Itoa(id)}}, nil
}

// below has Get called with n frames around it.
//
//go:noinline
func (s *Store) below(ctx context.Context, n, id int) (*Item, error) {
	var pad [128]byte
	pad[id&127] = byte(n)
	if n == 0 {
		return s.Get(ctx, id)
	}
	it, err := s.below(ctx, n-1, id)
	runtime.KeepAlive(&pad)
	return it, err
}

// ServeHTTP answers /ID with what the store has of it.
func (s *Store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.Atoi(r.URL.Path[1:])
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	it, err := s.below(r.Context(), id*7%90, id)
	switch {
	case err == ErrTimeout && it == nil:
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		fmt.Fprintf(w, "%d %s %d", it.ID, *it.Owner, len(it.Notes))
	}
}

var asked, failed, wrong, row atomic.Int64

// ask makes a request.
func ask(c *http.Client, base, file string, id int) {
	r, err := c.Get(base + strconv.Itoa(id))
	if err != nil {
		log.Fatal(err)
	}
	b, err := io.ReadAll(r.Body)
	r.Body.Close()
	asked.Add(1)
	row.Add(1)
	switch {
	case err != nil:
		log.Fatal(err)
	case r.StatusCode == http.StatusServiceUnavailable && string(b) == ErrTimeout.Error()+"\n":
		row.Store(0)
		if failed.Add(1) == 1 && file != "" {
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				log.Fatal(err)
			}
		}
	case r.StatusCode != http.StatusOK || string(b) != fmt.Sprintf("%d owner %d 2", id, id):
		wrong.Add(1)
	}
}

func main() {
	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	file := ""
	if len(os.Args) > 2 {
		file = os.Args[2]
	}
	debug.SetGCPercent(10)
	go func() {
		for {
			runtime.GC()
		}
	}()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	store := &Store{}
	go http.Serve(l, store)
	more := func() bool { return file != "" && (failed.Load() == 0 || row.Load() < 1000) }
	const clients = 8
	var wg sync.WaitGroup
	for g := range clients {
		wg.Go(func() {
			c := &http.Client{Transport: &http.Transport{}}
			for i := 0; i < n/clients || more(); i++ {
				ask(c, "http://"+l.Addr().String()+"/", file, g+clients*i)
			}
		})
	}
	wg.Wait()
	fmt.Printf("requests %d failed %d wrong %d left out %d\n", asked.Load(), failed.Load(), wrong.Load(),
		asked.Load()-store.reads.Load())
}
