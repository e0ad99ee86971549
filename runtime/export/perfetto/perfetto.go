// Package perfetto writes what a session says as a trace of Perfetto: spans as slices of their threads, prints as
// instants, metrics as counters.
//
// In: records. Out: packets of perfetto.protos.Trace, appended to bytes; the fields that are used are stable, and their
// numbers stand in protos/perfetto/trace of Perfetto's sources.
package perfetto

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gostap/gostap/runtime/export/record"
)

// Encoder appends packets.
type Encoder struct {
	threads  map[int]*thread
	counters map[string]uint64 // tracks of metrics
	tracks   uint64            // how many there are
	last     time.Time
	scratch  [3][]byte
}

// thread has the tracks of one.
type thread struct {
	uuid  uint64
	lanes []lane
}

// lane is a track whose slices do not overlap.
type lane struct {
	uuid uint64
	free time.Time // when its last slice ended
}

// session is the track of what is said of no thread.
const session = 1

// The numbers of fields.
const (
	tracePacket = 1

	packetTimestamp = 8
	packetSequence  = 10
	packetEvent     = 11
	packetTrack     = 60

	trackUUID    = 1
	trackName    = 2
	trackThread  = 4
	trackParent  = 5
	trackCounter = 8

	threadPID = 1
	threadTID = 2

	eventAnnotation = 4
	eventType       = 9
	eventTrack      = 11
	eventCategory   = 22
	eventName       = 23
	eventCount      = 30
	eventDouble     = 44

	annotationUint   = 3
	annotationInt    = 4
	annotationDouble = 5
	annotationString = 6
	annotationName   = 10
)

// The types of events.
const (
	sliceBegin = 1
	sliceEnd   = 2
	instant    = 3
	counter    = 4
)

// Begin is the track of the session.
func (e *Encoder) Begin(b []byte, s *record.Session) []byte {
	e.threads, e.counters, e.tracks, e.last = map[int]*thread{}, map[string]uint64{}, session, s.Time
	return e.track(b, session, func(t []byte) []byte { return text(t, trackName, "gostap "+s.Script) })
}

// End adds nothing but an error.
func (e *Encoder) End(b []byte, s *record.End) []byte {
	if s.Error == "" {
		return b
	}
	return e.event(b, s.Time, session, instant, "error", s.Error, nil)
}

// Err is nil: there is nothing beside the packets.
func (e *Encoder) Err() error { return nil }

// Flush adds what waits, which is nothing.
func (e *Encoder) Flush(b []byte) []byte { return b }

// Append appends the packets of a record.
func (e *Encoder) Append(b []byte, r *record.Record) []byte {
	at, track := r.Time, uint64(session)
	if at.IsZero() {
		at = e.last
	}
	e.last = at
	switch r.Kind {
	case record.Print:
		if r.TID != 0 {
			b, track = e.thread(b, r)
		}
		return e.event(b, at, track, instant, "print", strings.TrimSuffix(r.Text, "\n"), r.Fields)
	case record.Span:
		b, track = e.slice(b, r)
		b = e.event(b, r.Begin, track, sliceBegin, "span", r.Name, r.Fields)
		return e.event(b, at, track, sliceEnd, "", "", nil)
	case record.MetricPoint:
		return e.metric(b, r.Metric)
	case record.Global:
		if r.Metric != nil {
			return b // its counters say it
		}
		v := r.Value
		if r.Stats != nil {
			v = record.Value{Int: r.Stats.Count}
		}
		return e.event(b, at, track, instant, "global", r.Name+keys(r.Keys), []record.Field{{Name: "value", Value: v}})
	}
	kind := map[record.Kind]string{record.Warning: "warning", record.Error: "error", record.Lost: "lost"}[r.Kind]
	if kind == "" {
		kind = "text"
	}
	return e.event(b, at, track, instant, kind, strings.TrimSuffix(r.Text, "\n"), nil)
}

// thread gives the track of a record's thread.
func (e *Encoder) thread(b []byte, r *record.Record) ([]byte, uint64) {
	t := e.threads[r.TID]
	if t == nil {
		e.tracks++
		t = &thread{uuid: e.tracks}
		e.threads[r.TID] = t
		b = e.track(b, t.uuid, func(d []byte) []byte {
			return message(d, trackThread, number(number(nil, threadPID, uint64(r.PID)), threadTID, uint64(r.TID)))
		})
	}
	return b, t.uuid
}

// slice gives a track of the thread on which nothing was while the span was: goroutines share threads, and spans of one
// thread can overlap.
func (e *Encoder) slice(b []byte, r *record.Record) ([]byte, uint64) {
	b, uuid := e.thread(b, r)
	t := e.threads[r.TID]
	for i := range t.lanes {
		if l := &t.lanes[i]; !l.free.After(r.Begin) {
			l.free = r.Time
			return b, l.uuid
		}
	}
	if len(t.lanes) > 0 {
		e.tracks++
		uuid = e.tracks
		b = e.track(b, uuid, func(d []byte) []byte {
			return number(text(d, trackName, fmt.Sprintf("thread %d, %d", r.TID, len(t.lanes)+1)), trackParent, t.uuid)
		})
	}
	t.lanes = append(t.lanes, lane{uuid, r.Time})
	return b, uuid
}

// metric appends the value of a series: of an aggregate how many values it has.
func (e *Encoder) metric(b []byte, m *record.Metric) []byte {
	name := m.Name
	v := m.Value
	if m.Stats != nil {
		name, v = name+"_count", record.Value{Int: m.Stats.Count}
	}
	var list []record.Value
	for i := range m.Labels {
		list = append(list, m.Labels[i].Value)
	}
	name += keys(list)
	track, ok := e.counters[name]
	if !ok {
		e.tracks++
		track = e.tracks
		e.counters[name] = track
		b = e.track(b, track, func(d []byte) []byte { return message(text(d, trackName, name), trackCounter, nil) })
	}
	return e.packet(b, m.Time, packetEvent, func(d []byte) []byte {
		d = number(number(d, eventType, counter), eventTrack, track)
		if v.Type == record.Float {
			return double(d, eventDouble, v.Float)
		}
		return number(d, eventCount, uint64(v.Int))
	})
}

// event appends one with its values.
func (e *Encoder) event(b []byte, at time.Time, track, kind uint64, category, name string,
	fields []record.Field) []byte {
	return e.packet(b, at, packetEvent, func(d []byte) []byte {
		d = number(number(d, eventType, kind), eventTrack, track)
		if category != "" {
			d = text(text(d, eventCategory, category), eventName, name)
		}
		for i := range fields {
			d = message(d, eventAnnotation, annotation(e.scratch[2][:0], &fields[i]))
		}
		return d
	})
}

func annotation(d []byte, f *record.Field) []byte {
	d = text(d, annotationName, f.Name)
	switch f.Type {
	case record.Uint:
		return number(d, annotationUint, uint64(f.Int))
	case record.Float:
		return double(d, annotationDouble, f.Float)
	case record.String:
		return text(d, annotationString, f.Text)
	case record.Stack:
		return text(d, annotationString, strings.Join(f.Stack, "\n"))
	}
	return number(d, annotationInt, uint64(f.Int))
}

// track appends the description of a track.
func (e *Encoder) track(b []byte, uuid uint64, what func([]byte) []byte) []byte {
	return e.packet(b, time.Time{}, packetTrack, func(d []byte) []byte { return what(number(d, trackUUID, uuid)) })
}

// packet appends a packet with one thing in it.
func (e *Encoder) packet(b []byte, at time.Time, field int, what func([]byte) []byte) []byte {
	e.scratch[0] = what(e.scratch[0][:0])
	p := e.scratch[1][:0]
	if !at.IsZero() {
		p = number(p, packetTimestamp, uint64(at.UnixNano()))
	}
	p = message(number(p, packetSequence, 1), field, e.scratch[0])
	e.scratch[1] = p
	return message(b, tracePacket, p)
}

// keys writes those of an element.
func keys(list []record.Value) string {
	if len(list) == 0 {
		return ""
	}
	var parts []string
	for _, k := range list {
		switch k.Type {
		case record.String:
			parts = append(parts, k.Text)
		case record.Float:
			parts = append(parts, strconv.FormatFloat(k.Float, 'g', -1, 64))
		case record.Stack:
			parts = append(parts, strings.Join(k.Stack, " "))
		case record.Uint:
			parts = append(parts, strconv.FormatUint(uint64(k.Int), 10))
		default:
			parts = append(parts, strconv.FormatInt(k.Int, 10))
		}
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// number, double, text and message append a field of a message, in the encoding of protocol buffers.
func number(b []byte, field int, v uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(field)<<3), v)
}

func double(b []byte, field int, v float64) []byte {
	return binary.LittleEndian.AppendUint64(binary.AppendUvarint(b, uint64(field)<<3|1), math.Float64bits(v))
}

func text(b []byte, field int, s string) []byte {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\ufffd")
	}
	return append(binary.AppendUvarint(binary.AppendUvarint(b, uint64(field)<<3|2), uint64(len(s))), s...)
}

func message(b []byte, field int, m []byte) []byte {
	return append(binary.AppendUvarint(binary.AppendUvarint(b, uint64(field)<<3|2), uint64(len(m))), m...)
}
