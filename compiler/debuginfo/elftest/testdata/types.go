// The test compares the layout that DWARF gives with what this program prints.
package main

import (
	"fmt"
	"reflect"
)

type Num int32

type Inner struct {
	A byte
	B Num
}

type Node[T any] struct {
	Val  T
	Next *Node[T]
}

type Iface interface{ M() }

func (Inner) M() {}

type All struct {
	Inner
	Bool  bool
	Str   string
	Sl    []Inner
	Arr   [3][2]int16
	M     map[string]*Inner
	Ch    chan Num
	Fn    func(int) error
	Err   error
	Any   any
	If    Iface
	Cplx  complex128
	F32   float32
	Ptr   *All
	Up    uintptr
	Gen   *Node[string]
	Anon  struct{ X, Y int }
	Blank struct{}
	Last  uint8
}

//go:noinline
func Use(a *All, n Num, g Node[int]) int { return len(a.Str) + int(n) + g.Val }

func main() {
	a := &All{Gen: &Node[string]{}}
	t := reflect.TypeOf(*a)
	fmt.Println("sizeof", t.Size(), Use(a, 1, Node[int]{}))
	for i := range t.NumField() {
		f := t.Field(i)
		fmt.Println(f.Name, f.Offset, f.Type.Size(), f.Type.Kind())
	}
}
