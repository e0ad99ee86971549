package pp

import "strings"

// absent are macros of stap's library that this one does not have, by the beginnings of their names.
var absent = []struct{ prefixes, why, hint string }{
	{"errno", "errno is a variable of each thread in a library, which is not found from outside",
		"the error of a system call is in its $return, as text errno_str($return)"},
	{"Py2 Py3 DK_ ME_", "it is about the inside of one release of Python",
		"read members with @cast(address, \"type\", \"program\")"},
	{"nfsd2_ nfsd3_ nfsd4_", "it belongs to the inside of stap's probes of the server of NFS",
		"read members with @cast(address, \"type\", \"nfsd\")"},
	{"netfilter_", "it belongs to the inside of stap's probes of packets",
		"the aliases of netfilter set their variables without it"},
	{"return_sanitized", "it belongs to the inside of syscall_num()",
		"in probes of system calls __nr is the number"},
}

// whyAbsent tells why a macro of stap's is not here and what to write, "" for other names.
func whyAbsent(name string) (why, hint string) {
	for _, a := range absent {
		for p := range strings.FieldsSeq(a.prefixes) {
			if strings.HasPrefix(name, p) {
				return a.why, a.hint
			}
		}
	}
	return "", ""
}
