// Package ctf writes what a session says in the Common Trace Format, version 1.8, which babeltrace2, Trace Compass and
// others read: each statement that prints is a class of events, its values are their fields.
//
// In: records. Out: packets of one stream, appended to bytes; the metadata, each time that a class is new.
package ctf

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/gostap/gostap/runtime/export/record"
)

// Encoder appends packets.
type Encoder struct {
	// Describe takes the metadata, whole each time, before a packet is appended that needs it.
	Describe func(metadata []byte) error

	uuid     [16]byte
	head     string
	classes  map[string]uint32
	told     strings.Builder // the classes
	packet   []byte          // the events of the packet at hand
	first    uint64          // their times
	last     uint64
	now      uint64
	lost     uint64
	describe bool
	err      error
}

// full is how many bytes of events a packet has at most.
const full = 256 << 10

// Err is why the metadata could not be written.
func (e *Encoder) Err() error { return e.err }

// Begin begins the metadata.
func (e *Encoder) Begin(b []byte, s *record.Session) []byte {
	sum := sha256.Sum256(fmt.Append(nil, s.Host, s.Time.UnixNano(), s.Script))
	copy(e.uuid[:], sum[:])
	e.uuid[6], e.uuid[8] = e.uuid[6]&0x0f|0x40, e.uuid[8]&0x3f|0x80
	e.classes, e.now, e.describe = map[string]uint32{}, uint64(s.Time.UnixNano()), true
	u := e.uuid
	e.head = fmt.Sprintf(`/* CTF 1.8 */

typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 32; align = 8; signed = true; } := int32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
typealias integer { size = 64; align = 8; signed = true; } := int64_t;
typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := double;

trace {
	major = 1;
	minor = 8;
	uuid = "%x-%x-%x-%x-%x";
	byte_order = le;
	packet.header := struct {
		uint32_t magic;
		uint8_t uuid[16];
		uint32_t stream_id;
	};
};

env {
	tracer_name = "gostap";
	hostname = %s;
	kernel_release = %s;
	script = %s;
};

clock {
	name = realtime;
	description = "Nanoseconds since 1970, UTC";
	freq = 1000000000;
	offset = 0;
	absolute = true;
};

typealias integer { size = 64; align = 8; signed = false; map = clock.realtime.value; } := when_t;

stream {
	id = 0;
	packet.context := struct {
		when_t timestamp_begin;
		when_t timestamp_end;
		uint64_t content_size;
		uint64_t packet_size;
		uint64_t events_discarded;
	};
	event.header := struct {
		uint32_t id;
		when_t timestamp;
	};
	event.context := struct {
		int32_t _pid;
		int32_t _tid;
		int32_t _cpu;
		string _probe;
	};
};
`, u[:4], u[4:6], u[6:8], u[8:10], u[10:], quoted(s.Host), quoted(s.Kernel), quoted(s.Script))
	return b
}

// quoted is a string of the metadata's language.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(s) {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// field is one of a class with its value.
type field struct {
	name string
	record.Value
}

// Append takes a record.
func (e *Encoder) Append(b []byte, r *record.Record) []byte {
	if r.Kind == record.Global && r.Metric != nil {
		return b // the events of the metric say it
	}
	at := e.now
	if !r.Time.IsZero() {
		at = uint64(r.Time.UnixNano())
	}
	text := field{"text", record.Value{Type: record.String, Text: strings.TrimSuffix(r.Text, "\n")}}
	var fields []field
	name := ""
	switch r.Kind {
	case record.Print:
		name, fields = "print", append(named(r.Fields), text)
	case record.Span:
		name = "span"
		fields = append([]field{{"name", record.Value{Type: record.String, Text: r.Name}},
			{"begin", record.Value{Type: record.Uint, Int: r.Begin.UnixNano()}},
			{"took_ns", record.Value{Int: r.Time.Sub(r.Begin).Nanoseconds()}}}, named(r.Fields)...)
	case record.MetricPoint:
		m := r.Metric
		at, name = uint64(m.Time.UnixNano()), m.Name
		fields = append(named(m.Labels), measured(m.Value, m.Stats)...)
	case record.Global, record.Histogram:
		name = r.Name
		for i, k := range r.Keys {
			fields = append(fields, field{fmt.Sprintf("key%d", i+1), k})
		}
		fields = append(fields, measured(r.Value, r.Stats)...)
	case record.Lost:
		e.lost += r.Count
		name = "lost"
		fields = []field{{"cause", record.Value{Type: record.String, Text: r.Cause}},
			{"count", record.Value{Type: record.Uint, Int: int64(r.Count)}}, text}
	case record.Warning:
		name, fields = "warning", []field{text}
	case record.Error:
		name, fields = "error", []field{text}
	default:
		name, fields = "text", []field{text}
	}
	return e.event(b, r, at, name, fields)
}

func named(list []record.Field) (out []field) {
	for _, f := range list {
		out = append(out, field{f.Name, f.Value})
	}
	return out
}

func measured(v record.Value, s *record.Stats) []field {
	if s == nil {
		return []field{{"value", v}}
	}
	out := []field{{"count", record.Value{Int: s.Count}}, {"sum", record.Value{Int: s.Sum}}}
	if s.Count > 0 {
		out = append(out, field{"min", record.Value{Int: s.Min}}, field{"max", record.Value{Int: s.Max}})
	}
	return out
}

// event adds one to the packet. The stream's times do not go back: a hit that was sent behind a later one has the time
// of that in its head, and its own as the field time.
func (e *Encoder) event(b []byte, r *record.Record, at uint64, name string, fields []field) []byte {
	e.now = max(e.now, at)
	if at < e.now {
		fields = append(fields, field{"time", record.Value{Type: record.Uint, Int: int64(at)}})
	}
	if len(e.packet) == 0 {
		e.first = e.now
	}
	e.last = e.now
	p := binary.LittleEndian.AppendUint32(e.packet, e.class(name, fields))
	p = binary.LittleEndian.AppendUint64(p, e.now)
	for _, n := range []int{r.PID, r.TID, r.CPU} {
		p = binary.LittleEndian.AppendUint32(p, uint32(int32(n)))
	}
	p = zeroed(p, r.Probe)
	for i := range fields {
		switch f := &fields[i]; f.Type {
		case record.Float:
			p = binary.LittleEndian.AppendUint64(p, math.Float64bits(f.Float))
		case record.String:
			p = zeroed(p, f.Text)
		case record.Stack:
			p = zeroed(p, strings.Join(f.Stack, "\n"))
		default:
			p = binary.LittleEndian.AppendUint64(p, uint64(f.Int))
		}
	}
	if e.packet = p; len(p) >= full {
		return e.Flush(b)
	}
	return b
}

// zeroed appends a string with the zero at its end; there is none in it.
func zeroed(b []byte, s string) []byte {
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "\\0")
	}
	return append(append(b, s...), 0)
}

var kinds = [...]string{record.Int: "int64_t", record.Uint: "uint64_t", record.Float: "double",
	record.String: "string", record.Stack: "string"}

// class is the number of a class of events.
func (e *Encoder) class(name string, fields []field) uint32 {
	var b strings.Builder
	taken := map[string]bool{}
	fmt.Fprintf(&b, "\tname = %s;\n\tfields := struct {\n", quoted(name))
	for i := range fields {
		n := identifier(fields[i].name)
		for taken[n] {
			n += "_"
		}
		taken[n] = true
		fmt.Fprintf(&b, "\t\t%s %s;\n", kinds[fields[i].Type], n)
	}
	b.WriteString("\t};\n")
	id, ok := e.classes[b.String()]
	if !ok {
		id = uint32(len(e.classes))
		e.classes[b.String()] = id
		fmt.Fprintf(&e.told, "\nevent {\n\tid = %d;\n\tstream_id = 0;\n%s};\n", id, b.String())
		e.describe = true
	}
	return id
}

// identifier is the name of a field as the language has it. An underscore in front is not shown by readers, and keeps
// it apart from words of the language; of $customer it is customer.
func identifier(s string) string {
	return "_" + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, cmp.Or(strings.TrimLeft(s, "$"), "value"))
}

// Flush appends the packet at hand.
func (e *Encoder) Flush(b []byte) []byte {
	if e.describe {
		e.describe = false
		if err := e.Describe([]byte(e.head + e.told.String())); err != nil && e.err == nil {
			e.err = err
		}
	}
	if len(e.packet) == 0 {
		return b
	}
	const head = 4 + 16 + 4 + 5*8
	b = binary.LittleEndian.AppendUint32(b, 0xc1fc1fc1)
	b = append(b, e.uuid[:]...)
	b = binary.LittleEndian.AppendUint32(b, 0)
	size := uint64(head+len(e.packet)) * 8
	for _, n := range []uint64{e.first, e.last, size, size, e.lost} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	b = append(b, e.packet...)
	e.packet = e.packet[:0]
	return b
}

// End ends the stream.
func (e *Encoder) End(b []byte, s *record.End) []byte {
	if s.Error != "" {
		b = e.Append(b, &record.Record{Kind: record.Error, Time: s.Time, CPU: -1, Text: s.Error})
	}
	return e.Flush(b)
}
