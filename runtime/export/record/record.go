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
	Print     Kind = iota // a statement of the print family
	Text                  // text that no such statement made
	Warning               // of the script, the compiler or the session
	Error                 // a run-time error of the script that nobody caught
	Lost                  // hits or events that are missing
	Global                // an element of a global at the end
	Histogram             // one that the script printed, of an element of a global
)

// Record is one thing that is said.
type Record struct {
	Kind Kind
	// Text is what is printed, or the message.
	Text string
	// Of a Print: where and when it was (Time is zero, PID, TID and Probe too, where that is not known; CPU is -1
	// then), and what was printed, by names.
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
