// Package deliver has what the places have in common to which gostap-export takes what a session says.
//
// In: the words of the command line that name places. Out: their parts.
package deliver

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/gostap/gostap/runtime/export/feed"
)

// Destination is a place.
type Destination interface {
	// Take takes the next line. It never waits for the place.
	Take(l *feed.Line)
	// Close delivers what is left, as long as ctx lasts. The error says what was lost.
	Close(ctx context.Context) error
}

// Config is for all places.
type Config struct {
	// Most is how many logs, spans and the like wait for a place that is away.
	Most int
	// Tell prints a warning.
	Tell func(format string, args ...any)
	// Service is the name of what is told of; "" takes that of the script.
	Service string
}

// Address is a destination as it is written: KIND://HOST:PORT/PATH?OPTION=VALUE.
type Address struct {
	Text    string
	Kind    string // "otlp", "otlp+http", "prometheus", "remote-write+http", ...
	Host    string // with its port
	Path    string
	Options url.Values
}

// Parse reads the text of a destination. known are the kinds.
func Parse(text string, known []string) (*Address, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Host == "" || u.User != nil || u.Fragment != "" {
		return nil, fmt.Errorf("%q is no destination\n  hint: write KIND://HOST:PORT, of which KIND is %s", text,
			strings.Join(known, ", "))
	}
	a := &Address{Text: text, Kind: u.Scheme, Host: u.Host, Path: u.Path, Options: u.Query()}
	for _, k := range known {
		if k == a.Kind {
			return a, nil
		}
	}
	return nil, fmt.Errorf("%s: nothing is delivered by %q\n  hint: there are %s", text, a.Kind,
		strings.Join(known, ", "))
}

// Option takes an option out of a; Rest says what is left.
func (a *Address) Option(name string) string {
	v := a.Options.Get(name)
	a.Options.Del(name)
	return v
}

// Rest is an error if options are left that nobody took.
func (a *Address) Rest() error {
	for name := range a.Options {
		return fmt.Errorf("%s: there is no option %s", a.Text, name)
	}
	return nil
}
