//go:build withcgo

package main

/*
static __thread int before;
static int triple(int n) { before += n; return 3 * n; }
*/
import "C"

//go:noinline
func crosses(n int) int { return int(C.triple(C.int(n))) }

func init() { sink = crosses(14) * 0 }
