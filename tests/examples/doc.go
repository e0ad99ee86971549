// Package examples holds the scripts that SystemTap ships, which Debian has in systemtap-doc, against this project:
// whether they are translated for three targets, by the command that each one's .meta file names, and what they say of
// a load on this machine, against somebody else's word for it.
//
// In: the package systemtap-doc, and for the whole of it php-cli, libguestfs0 and systemtap, for the programs that
// examples are about, and what tests/vm needs. Out: two tables in docs/compat.md.
//
// In go test ./... a sample is translated for the running kernel and held against the table. GOSTAP_EXAMPLES=full asks
// for everything, which takes half an hour, and with -update writes the tables. Another word is a pattern of names: the
// other examples keep what the table says of them.
package examples
