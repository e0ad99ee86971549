// Package vec has functions in assembly.
package vec

// Sum is called from another package, which goes through a wrapper.
func Sum(a, b int64, s []int64) (total int64, n int32)

func product(a int64, b uint16, f float64) int64

// Product calls assembly of its own package, which needs no wrapper.
func Product(a int64, b uint16) int64 { return product(a, b, 1.5) }
