// Package oracle holds what gostap prints about real programs against somebody else's word for it: Delve's library and
// gdb stopped at the same pc, the Go runtime, and programs of random functions that print what they saw. What both can
// read must be equal.
//
// In: the compilers of this machine (those that are missing are skipped and named). Out: a Figures for each comparison:
// compared, equal, refused by reason, wrong. A test fails when something is wrong, or when nothing was compared.
//
// Each comparison has two forms. The small one takes a few seconds, has a fixed seed and is part of go test ./... The
// full one runs with GOSTAP_ORACLE=full, or make oracle: whole programs, many seeds, all compilers and levels of
// optimisation. GOSTAP_SEED asks for another seed in either form, GOSTAP_RUNS for more runs. GOSTAP_ORACLE_BINARIES
// names more programs for the full form of TestReaders and TestGoReaders, which hold the readers of debug information
// against Delve's.
package oracle
