package scoped

import "testing"

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		symbol, name string
		yes, no      []string
	}{
		{"_ZN4shop4Cart3addEi", "shop::Cart::add", []string{"shop::Cart::add", "Cart::add", "::shop::Cart::add",
			"shop::*::add", "C*::a?d"}, []string{"::Cart::add", "shop::add", "shop::*", "x::shop::Cart::add",
			"Cart::ad", "::add"}},
		{"_Z3addi", "add", []string{"::add"}, []string{"shop::add"}},
		{"_ZN4shop4Cart2mxIiEET_S2_S2_", "shop::Cart::mx<int>", []string{"Cart::mx", "Cart::mx<int>", "Cart::m*"},
			[]string{"Cart::mx<double>"}},
		{"_ZN4shop4CartclEi", "shop::Cart::operator()", []string{"Cart::operator()", "Cart::operator*", "Cart::*"},
			[]string{"Cart::operator"}},
		{"_ZN4shop4CartixEi", "shop::Cart::operator[]", []string{"Cart::operator[]"}, nil},
		{"_ZN4shop4CartlsEi", "shop::Cart::operator<<", []string{"Cart::operator<<"}, []string{"Cart::operator<"}},
		{"_ZNK4shop4CartltERKS0_", "shop::Cart::operator<", []string{"shop::Cart::operator<"},
			[]string{"Cart::operator<<"}},
		{"_Znwm", "operator new", []string{"operator new*", "operator*", "::operator new", "* new*", "operator n?w"},
			[]string{"operator delete*", "operator new[]", "operator=", "operator"}},
		{"_ZdaPv", "operator delete[]", []string{"operator delete*", "operator*"}, []string{"operator delete"}},
		{"_ZN4shop4CarteqEi", "shop::Cart::operator==", []string{"operator==", "operator=*"}, []string{"operator="}},
		{"_ZN4shop4CartcvbEv", "shop::Cart::operator bool", []string{"operator bool", "operator b*"}, nil},
		{"_ZN4shop4CartD1Ev", "shop::Cart::~Cart", []string{"Cart::~Cart", "Cart::~*"}, []string{"Cart::Cart"}},
		{"_ZN4shop12_GLOBAL__N_16hiddenEi", "shop::(anonymous namespace)::hidden",
			[]string{"shop::(anonymous namespace)::hidden", "shop::*::hidden"}, []string{"shop::hidden"}},
		{"_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back",
			[]string{"std::vector::push_back", "vector::push_back"}, nil},
		{"_ZN2sh4shop1A3add17h0123456789abcdefE", "sh::shop::A::add", []string{"shop::A::add", "A::add"}, nil},
		{"_ZN46_$LT$sh..shop..A$u20$as$u20$sh..shop..Show$GT$4show17hf593e9b287309b82E",
			"<sh::shop::A as sh::shop::Show>::show",
			[]string{"A::show", "shop::A::show", "<sh::shop::A as sh::shop::Show>::show"}, []string{"A::add"}},
	} {
		if got := Name(c.symbol); got != c.name {
			t.Errorf("%s: %s, want %s", c.symbol, got, c.name)
		}
		for _, p := range append([]string{c.name}, c.yes...) {
			if q := Parse(p); (q != nil || p != c.name) && !q.Match(c.symbol) {
				t.Errorf("%s is not %s", p, c.name)
			}
		}
		for _, p := range c.no {
			if q := Parse(p); q != nil && q.Match(c.symbol) {
				t.Errorf("%s is %s", p, c.name)
			}
		}
	}
}

// FuzzName: symbols are foreign bytes.
func FuzzName(f *testing.F) {
	f.Add("_ZN4shop4Cart3addEi", "Cart::add")
	f.Add("_RNvMNtCs1234_7mycrate3fooNtB2_3Bar3baz", "<a::b as c>::d")
	f.Fuzz(func(t *testing.T, symbol, pattern string) {
		Name(symbol)
		split(pattern)
		if p := Parse(pattern); p != nil {
			p.Match(symbol)
			p.MatchName(symbol)
			p.Last()
		}
	})
}
