package cli

import (
	"fmt"

	"golang.org/x/sys/unix"

	bpf "github.com/gostap/gostap/backend-bpf"
)

// info serves --info: what this kernel allows, each yes or no with the reason.
func info(s Streams) int {
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		fmt.Fprintf(s.Out, "gostap %s on Linux %s %s\n\n", Version, unix.ByteSliceToString(u.Release[:]),
			unix.ByteSliceToString(u.Machine[:]))
	}
	for _, r := range bpf.Info() {
		answer := "no "
		switch {
		case r.Unknown:
			answer = "?  "
		case r.OK:
			answer = "yes"
		}
		fmt.Fprintf(s.Out, "%s  %-22s  %s", answer, r.Name, r.What)
		switch {
		case r.Reason != "" && r.What != "":
			fmt.Fprintf(s.Out, ": %s", r.Reason)
		case r.Reason != "":
			fmt.Fprint(s.Out, r.Reason)
		}
		fmt.Fprintln(s.Out)
	}
	return 0
}
