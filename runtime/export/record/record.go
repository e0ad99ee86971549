// Package record has the neutral form of what a session says, which the packages beside it write for other programs.
//
// In: a Record for each thing that is said, by whoever runs the session. Out: nothing; package jsonlines writes them
// as JSON, package table prints as CSV.
package record

import "time"

// Kind says what a Record is about.
type Kind uint8

// The kinds.
const (
	Print       Kind = iota // a statement of the print family
	Text                    // text that no such statement made
	Warning                 // of the script, the compiler or the session
	Error                   // a run-time error of the script that nobody caught
	Lost                    // hits or events that are missing
	Global                  // an element of a global at the end
	Histogram               // one that the script printed, of an element of a global
	Span                    // something that took time: the script's span()
	MetricPoint             // a series of a metric at one moment: its Metric
)

// Record is one thing that is said.
type Record struct {
	Kind Kind
	// Text is what is printed, or the message.
	Text string
	// Of a Print and a Span: where and when it was (Time is zero, PID, TID and Probe too, where that is not known; CPU
	// is -1 then), and what was printed, by names. A Span has its Name, and was from Begin to Time.
	Begin    time.Time
	Time     time.Time
	PID, TID int
	CPU      int
	Probe    string
	Fields   []Field
	// Of a Warning or an Error: its code and place in the script, "" and 0 where there is none.
	Code         string
	File         string
	Line, Column int
	// Of what was Lost.
	Cause string
	Count uint64
	// Of a Global and a Histogram: its name, the keys of the element, and its value or what was put into it.
	Name  string
	Keys  []Value
	Value Value
	Stats *Stats
	// Of a MetricPoint; and of a Global that is a metric too, of which it has the name alone.
	Metric *Metric
}

// Metric is a series at one moment: what a global that is declared as a metric has under one key. Each moment has one
// of each series; what is summed up goes on from moment to moment since Begin.
type Metric struct {
	// Name is a name of Prometheus, [a-zA-Z_:][a-zA-Z0-9_:]*. Help and Unit ("ns", "bytes") may be "".
	Name, Help, Unit string
	Type             MetricType
	// Labels tell the series of the metric apart; all of a metric have the same names.
	Labels []Field
	// Value is that of a Counter and a Gauge, Stats of a Distribution.
	Value Value
	Stats *Stats
	// Begin is since when is counted: the begin of the session, or the moment at which the script cleared what was
	// counted. Time is the moment.
	Begin, Time time.Time
}

// MetricType says what a Metric is.
type MetricType uint8

// The types of metrics.
const (
	Counter      MetricType = iota // a sum that only grows
	Gauge                          // a number that goes up and down
	Distribution                   // numbers counted by size: an aggregate
)

func (t MetricType) String() string {
	return [...]string{"counter", "gauge", "histogram"}[min(t, Distribution)]
}

// Field is a value with a name.
type Field struct {
	Name string
	Value
}

// Value is a number, a string or a stack.
type Value struct {
	Type  Type
	Int   int64 // of an Int; the bits of a Uint
	Float float64
	Text  string
	Stack []string // frames, innermost first
}

// Type says what a Value is.
type Type uint8

// The types of values.
const (
	Int Type = iota
	Uint
	Float
	String
	Stack
)

// Stats is an aggregate. Sum, Min and Max and the bounds of Histograms count parts of 1/Scale.
type Stats struct {
	Count, Sum, Min, Max, Avg int64
	Scale                     int64
	Histograms                []Buckets
}

// Buckets are a histogram: they count values by size.
type Buckets struct {
	Linear           bool
	Low, High, Width int64
	Buckets          []Bucket
}

// Bucket counts the values v with From <= v <= To.
type Bucket struct{ From, To, Count int64 }

// Session is what there is to say of the whole of one.
type Session struct {
	Version, Host, Kernel, Script string
	Time                          time.Time
}

// End is how a session ended.
type End struct {
	Time   time.Time
	Status int
	// Error is why Status is not 0; Errors counts run-time errors of the script that nobody caught.
	Error  string
	Errors int
}
