package textfmt

import (
	"strings"
	"sync"
)

// Entries takes a table of texts apart: newlines end them. The result is shared: nobody may change it.
func Entries(table string) []string {
	if list, ok := entries.Load(table); ok {
		return list.([]string)
	}
	var list []string
	if table != "" {
		list = strings.Split(strings.TrimSuffix(table, "\n"), "\n")
	}
	entries.Store(table, list)
	return list
}

// entries keeps the tables that were taken apart; programs have few.
var entries sync.Map

// Entry gives the n-th text of a table, from 0; "" where it has none (the intrinsic table_text).
func Entry(table string, n int64) string {
	if list := Entries(table); n >= 0 && n < int64(len(list)) {
		return list[n]
	}
	return ""
}
