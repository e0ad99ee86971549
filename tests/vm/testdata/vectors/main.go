// Command vectors hands numbers with a fraction to functions in registers, and says itself which. Argument: how many
// rounds.
package main

import (
	"fmt"
	"math"
	"math/rand"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
)

type place struct {
	N    int
	X    float64
	Y    float32
	Next *place
}

type deg float32

//go:noinline
func one(n int, x float64, y float32) float64 { return x + float64(y) + float64(n) }

//go:noinline
func many(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p float64) (float64, float32) {
	return a + b + c + d + e + f + g + h + i + j + k + l + m + n + p, float32(o)
}

//go:noinline
func plane(z complex128, w complex64) (complex128, complex64) { return z * z, w + 1 }

//go:noinline
func move(p place, by deg) (place, error) {
	p.X += float64(by)
	p.Y -= float32(by)
	return p, nil
}

//go:noinline
func (d deg) twice(x float64) deg { return 2*d + deg(x) }

//go:noinline
func check(n int, half float64, third float32) float64 { return half * 4 }

// text is x as C writes it.
func text[T ~float32 | ~float64](x T) string {
	s := fmt.Sprintf("%.17g", float64(x))
	return strings.ToLower(strings.TrimPrefix(s, "+"))
}

func say(what string, xs ...float64) {
	var b strings.Builder
	b.WriteString("own " + what)
	for _, x := range xs {
		b.WriteString(" " + text(x))
	}
	fmt.Println(b.String())
}

func main() {
	rounds, _ := strconv.Atoi(os.Args[1])
	edges := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64,
		math.SmallestNonzeroFloat64, -3 * math.SmallestNonzeroFloat64, math.MaxFloat32, math.SmallestNonzeroFloat32, 1, -1,
		0x1p-1022, 0x1p-126, 1e16 + 2}
	r := rand.New(rand.NewSource(7))
	at := 0
	draw := func() float64 {
		if at++; at <= len(edges)*3 {
			return edges[at%len(edges)]
		}
		if r.Intn(3) == 0 {
			return math.Float64frombits(r.Uint64() &^ (1 << 62))
		}
		return r.NormFloat64() * 1000
	}
	for i := 0; i < rounds; i++ {
		x, y := draw(), float32(draw())
		say("one", float64(i), x, float64(y), one(i, x, y))
		var v [16]float64
		for k := range v {
			v[k] = draw()
		}
		s, o := many(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], v[10], v[11], v[12], v[13], v[14], v[15])
		say("many", append(v[:], s, float64(o))...)
		z, w := complex(draw(), draw()), complex(float32(draw()), float32(draw()))
		zz, ww := plane(z, w)
		say("plane", real(z), imag(z), float64(real(w)), float64(imag(w)), real(zz), imag(zz), float64(real(ww)),
			float64(imag(ww)))
		p := place{N: i, X: draw(), Y: float32(draw())}
		by := deg(draw())
		q, _ := move(p, by)
		say("move", p.X, float64(p.Y), float64(by), q.X, float64(q.Y))
		say("twice", float64(by), x, float64(by.twice(x)))
	}
	one(-1, 1.5, -0.25)
	move(place{N: 1, X: 2.5, Y: 0.5, Next: &place{X: 9}}, 1)
	plane(complex(1, -2), complex(0.5, 4))

	// Threads that take each other's registers away.
	var wg sync.WaitGroup
	for g := 0; g < 8; g++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			runtime.LockOSThread()
			for i := 0; i < rounds*5; i++ {
				n := g*100000 + i
				if check(n, float64(n)/2, float32(n)/3) != float64(n)*2 {
					panic("wrong")
				}
				if i%16 == 0 {
					runtime.Gosched()
				}
			}
		}()
	}
	wg.Wait()
	fmt.Println("own checks", rounds*5*8)
}
