package session

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"github.com/gostap/gostap/cmd/internal/page/state"
)

const (
	// mostPage is how many bytes of a page a status has, mostState how many are read of a state.
	mostPage  = 192 << 10
	mostState = 32 << 20
	// pageEvery is how often a session is asked for its state.
	pageEvery = time.Second
)

// pager asks a session, by its page, how it is, and keeps the last answer, packed. Its methods can be called of nil,
// which is a session without a page.
type pager struct {
	client http.Client
	over   chan struct{} // the session's process has ended
	done   chan struct{} // nobody asks any more

	mu   sync.Mutex
	now  string   // packed
	sum  [32]byte // of what it was packed from, but for its time
	new  bool     // nobody has taken it yet
	asks bool
}

func newPager() *pager {
	return &pager{over: make(chan struct{}), done: make(chan struct{}), client: http.Client{Timeout: 5 * time.Second,
		// Not by a proxy, and nowhere else.
		Transport: &http.Transport{},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}}}
}

// begin asks from now on at an address.
func (p *pager) begin(address string) {
	if p == nil || !own(address) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asks {
		return
	}
	p.asks = true
	go p.run(address + "state?keeps")
}

// own says whether an address is one of this machine's page.
func own(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	at, err := netip.ParseAddrPort(u.Host)
	return err == nil && at.Addr().IsLoopback()
}

// end waits until the last state is there, when the process has ended.
func (p *pager) end() {
	if p == nil {
		return
	}
	close(p.over)
	p.mu.Lock()
	asks := p.asks
	p.asks = true
	p.mu.Unlock()
	if asks {
		<-p.done
	}
}

// packed gives the last state, was if there is none.
func (p *pager) packed(was string) string {
	if p == nil {
		return was
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now == "" {
		return was
	}
	p.new = false
	return p.now
}

// run asks until the session has ended. What nobody has taken yet is packed again only at the end.
func (p *pager) run(address string) {
	defer close(p.done)
	defer p.client.CloseIdleConnections()
	var kept *state.State
	defer func() {
		if kept != nil {
			p.keep(kept)
		}
	}()
	for {
		if s, err := p.ask(address); err == nil {
			kept = s
		}
		if kept != nil && kept.Over() {
			return
		}
		p.mu.Lock()
		wanted := !p.new
		p.mu.Unlock()
		if wanted && kept != nil {
			p.keep(kept)
			kept = nil
		}
		select {
		case <-time.After(pageEvery):
		case <-p.over:
			return
		}
	}
}

// ask asks for a state.
func (p *pager) ask(address string) (*state.State, error) {
	r, err := p.client.Get(address)
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return nil, errors.New(r.Status)
	}
	b, err := io.ReadAll(io.LimitReader(r.Body, mostState+1))
	if err != nil {
		return nil, err
	}
	if len(b) > mostState {
		return nil, fmt.Errorf("a state of more than %d bytes", mostState)
	}
	return state.Parse(b)
}

// keep packs a state, if anything but the time is another than in the last one.
func (p *pager) keep(s *state.State) {
	same := *s
	same.Now = 0
	b, err := json.Marshal(&same)
	if err != nil {
		return
	}
	sum := sha256.Sum256(b)
	p.mu.Lock()
	known := p.now != "" && sum == p.sum
	p.mu.Unlock()
	if known {
		return
	}
	text, err := state.Pack(s, mostPage)
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now, p.sum, p.new = text, sum, true
}
