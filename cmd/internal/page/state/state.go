// Package state is a session at one moment, as the page that shows it gets it.
//
// In: a state, a bound of bytes. Out: a text that has as much of the state as fits in (Pack). In: such a text, from who
// knows whom. Out: the state, or why it is none (Unpack).
package state

// State is the session at one moment, as the page gets it.
type State struct {
	Name    string   `json:"name"`
	Sources []Source `json:"sources"`
	// State is one of those below; Error is how it ended.
	State string `json:"state"`
	Error string `json:"error,omitempty"`
	// Now is when the state was taken and Began when the probes were there, in milliseconds since 1970.
	Now    int64   `json:"now"`
	Began  int64   `json:"began,omitempty"`
	Probes []Probe `json:"probes"`
	// Globals are in the order of their names.
	Globals []Global `json:"globals"`
	// Lines are the last ones, Last the number of the last of all.
	Lines []Line `json:"lines"`
	Last  uint64 `json:"last"`
	// Cut says that there were more lines, or more elements, than there was room for.
	Cut bool `json:"cut,omitempty"`
	// Far is set where the session is another machine's, nil where it is one here.
	Far *Far `json:"far,omitempty"`
}

// States of a session. Those behind Running are last ones.
const (
	Pending  = "pending" // it begins later
	Starting = "starting"
	Running  = "running"
	Ended    = "ended"
	Refused  = "refused"
	Gone     = "gone" // nobody knows of it any more
)

// Over says that nothing more will come.
func (s *State) Over() bool { return s.State == Ended || s.State == Refused || s.State == Gone }

// Far is what there is to say of a session that is not here.
type Far struct {
	// Note is what is to be known of what is shown, such as since when it is old.
	Note string `json:"note,omitempty"`
	// Stops says that it can be ended from the page.
	Stops bool `json:"stops,omitempty"`
	// Clock is what time it is there, as far as that is known, in milliseconds since 1970.
	Clock int64 `json:"clock,omitempty"`
}

// Line is a line of what the session has said.
type Line struct {
	// Number counts them from 1.
	Number uint64 `json:"n"`
	// Time is when it was said, in milliseconds since 1970.
	Time    int64  `json:"t"`
	Text    string `json:"text"`
	Message bool   `json:"message,omitempty"`
}

// Source is a text of the script.
type Source struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Probe is a probe with what its handler took so far.
type Probe struct {
	Point  string `json:"point"`
	Place  string `json:"place"`
	Places int    `json:"places"`
	Hits   uint64 `json:"hits"`
	Took   int64  `json:"ns"`
	On     bool   `json:"on"`
	Fixed  bool   `json:"fixed"`
}

// Global is a global: rows of an array, the greatest first, or one row of a scalar.
type Global struct {
	Name string `json:"name"`
	Keys int    `json:"keys"`
	Stat bool   `json:"stat"`
	Rows []Row  `json:"rows"`
	// Of is how many elements there are.
	Of int `json:"of"`
	// Stacks are those of an array with stacks as keys, added up: functions, the outermost first, and a value.
	Stacks []Stack `json:"stacks,omitempty"`
}

// Row is an element. Of a number Value has the digits, which JavaScript would round.
type Row struct {
	Key   []string `json:"key"`
	Value string   `json:"value"`
	// Number is the same for charts.
	Number float64 `json:"number"`
	Stats  *Stats  `json:"stats,omitempty"`
}

// Stats is an aggregate. Its numbers are texts, since JavaScript rounds large ones.
type Stats struct {
	Count int64 `json:"count,string"`
	Sum   int64 `json:"sum,string"`
	Min   int64 `json:"min,string"`
	Max   int64 `json:"max,string"`
	Avg   int64 `json:"avg,string"`
	// Buckets are those of a histogram that are not empty: from, to, count.
	Buckets [][3]int64 `json:"buckets,omitempty"`
	Linear  bool       `json:"linear,omitempty"`
}

// Stack is one of the stacks of an array.
type Stack struct {
	Functions string  `json:"functions"`
	Value     float64 `json:"value"`
}
