package oracle

import (
	"fmt"
	"strings"
)

// cplus makes a type and a value of it.
func (g *foreignGen) cplus(depth int, key bool) (typ, val string) {
	if depth <= 0 || key || g.IntN(4) == 0 {
		return g.cplusLeaf(key)
	}
	t, v := g.cplus(depth-1, false)
	n := g.IntN(4)
	list := func(typ string, n int) string {
		return typ + "{" + strings.TrimSuffix(strings.Repeat(v+", ", n), ", ") + "}"
	}
	in := func(outer string) string { return "std::" + outer + "<" + t + ">" }
	// A list of one list is taken for a copy of that, and one of numbers for a size.
	several := func(typ string) (string, string) {
		return typ, typ + "(" + list("std::initializer_list<"+t+">", n) + ")"
	}
	switch g.IntN(17) {
	case 0:
		return several(in("vector"))
	case 1:
		return several(in("deque"))
	case 2:
		return several(in("list"))
	case 3:
		return several(in("forward_list"))
	case 4:
		if t == "char" { // that is text
			t, v = "int", "5"
		}
		typ = fmt.Sprintf("std::array<%s, %d>", t, n+1)
		return typ, typ + "{{" + strings.TrimSuffix(strings.Repeat(v+", ", n+1), ", ") + "}}"
	case 5:
		typ = in("optional")
		return typ, g.pick(typ+"()", typ+"("+v+")")
	case 6:
		typ = in("shared_ptr")
		return typ, g.pick(typ+"()", "std::make_shared<"+t+">("+v+")", typ+"(new "+t+"("+v+"))")
	case 7, 8, 9:
		k, kv := g.cplusLeaf(true)
		typ = "std::" + g.pick("map", "unordered_map", "multimap", "unordered_multimap") + "<" + k + ", " + t + ">"
		k2, kv2 := g.cplusLeaf(true)
		for k2 != k {
			k2, kv2 = g.cplusLeaf(true)
		}
		return typ, g.pick(typ+"()", typ+"{{"+kv+", "+v+"}}", typ+"{{"+kv+", "+v+"}, {"+kv2+", "+v+"}}")
	case 10:
		k, kv := g.cplusLeaf(true)
		k2, kv2 := g.cplusLeaf(true)
		for k2 != k {
			k2, kv2 = g.cplusLeaf(true)
		}
		typ = "std::" + g.pick("set", "unordered_set", "multiset", "unordered_multiset") + "<" + k + ">"
		return typ, typ + "(std::initializer_list<" + k + ">" + g.pick("{}", "{"+kv+"}", "{"+kv+", "+kv2+"}") + ")"
	case 11:
		u, w := g.cplus(depth-1, false)
		typ = "std::pair<" + t + ", " + u + ">"
		return typ, typ + "(" + v + ", " + w + ")"
	case 12:
		u, w := g.cplus(depth-1, false)
		x, y := g.cplusLeaf(false)
		typ = "std::tuple<" + t + ", " + x + ", " + u + ">"
		return typ, typ + "(" + v + ", " + y + ", " + w + ")"
	case 13:
		u, w := g.cplus(depth-1, false)
		typ = "std::variant<" + t + ", " + u + ", std::monostate>"
		return typ, typ + "(std::in_place_index<" + g.pick("0>, "+v, "1>, "+w) + ")"
	case 14:
		typ = "std::vector<bool>"
		return typ, typ + "(" + fmt.Sprint(n*20) + ", " + g.pick("true", "false") + ")"
	}
	name := fmt.Sprintf("S%d", g.types)
	g.types++
	u, w := g.cplus(depth-1, false)
	head, virtual := "", g.pick("", "virtual ~"+name+"() {}")
	fields, make := `fputs("{.a=", stdout); put(v.a); fputs(", .b=", stdout); put(v.b); fputs("}", stdout);`, ""
	if g.IntN(2) == 0 {
		head = " : base"
		fields = strings.Replace(fields, `"{.a="`, `"{<base>={.n=5}, .a="`, 1)
	}
	fmt.Fprintf(&g.decls, "struct %s%s { %s a; %s b; %s(%s x, %s y) : a(x), b(y) {} %s(const %s &) = default; %s };\n",
		name, head, t, u, name, t, u, name, name, virtual)
	fmt.Fprintf(&g.decls, "template <> struct P<%s> { static void f(const %s &v) { %s } };\n", name, name, fields)
	return name, name + make + "(" + v + ", " + w + ")"
}

// cplusLeaf makes a type that has no others in it.
func (g *foreignGen) cplusLeaf(key bool) (typ, val string) {
	n := g.IntN(256)
	i := g.IntN(5)
	if !key {
		i = g.IntN(12)
	}
	switch i {
	case 0:
		return "int", fmt.Sprintf("int(%d)", -n)
	case 1:
		return "unsigned short", fmt.Sprintf("(unsigned short)(%d)", n)
	case 2:
		return "long", fmt.Sprintf("(%dl << 40)", n-128)
	case 3, 4:
		return "std::string", "std::string(" + g.pick(`""`, `"x"`, `"with \"quotes\"\n"`,
			`"longer than what is in the string itself"`) + ")"
	case 5:
		return "double", g.pick("0.5", "-2.25", "1e+100", "0.0")
	case 6:
		return "float", g.pick("0.5f", "-2.25f")
	case 7:
		return "bool", g.pick("true", "false")
	case 8:
		return "char", g.pick("'a'", "'\\''", "'\\n'")
	case 9:
		return "color", g.pick("color::red", "color::green")
	case 10:
		return "std::string_view", "std::string_view(" + g.pick(`""`, `"view"`) + ")"
	}
	return "unsigned long", fmt.Sprintf("%dul", uint64(n)<<56)
}

const cplusValues = `#include <array>
#include <cstdio>
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>
enum class color { red, green };
struct base { int n = 5; };
template <class T> struct P;
template <class T> void put(const T &v) { P<T>::f(v); }
#define NUMBER(T, F) template <> struct P<T> { static void f(const T &v) { printf(F, v); } };
NUMBER(int, "%d") NUMBER(unsigned short, "%d") NUMBER(long, "%ld") NUMBER(unsigned long, "%lu") NUMBER(double, "%g")
NUMBER(float, "%g")
template <> struct P<bool> { static void f(bool v) { fputs(v ? "true" : "false", stdout); } };
template <> struct P<color> { static void f(color v) {
	fputs(v == color::red ? "color::red" : "color::green", stdout);
} };
inline void chars(std::string_view s, char quote) {
	putchar(quote);
	for (char c : s)
		if (c == '\n') fputs("\\n", stdout);
		else if (c == quote) { putchar('\\'); putchar(c); }
		else putchar(c);
	putchar(quote);
}
template <> struct P<char> { static void f(char v) { chars(std::string_view(&v, 1), '\''); } };
template <> struct P<std::string> { static void f(const std::string &v) { chars(v, '"'); } };
template <> struct P<std::string_view> { static void f(const std::string_view &v) { chars(v, '"'); } };
template <> struct P<std::monostate> { static void f(const std::monostate &) { fputs("{}", stdout); } };
template <class T> void all(const T &v) {
	const char *sep = "{";
	for (const auto &x : v) { fputs(sep, stdout); put(x); sep = ", "; }
	fputs(*sep == '{' ? "{}" : "}", stdout);
}
template <class T> void pairs(const T &v) {
	const char *sep = "{[";
	for (const auto &x : v) { fputs(sep, stdout); put(x.first); fputs("]=", stdout); put(x.second); sep = ", ["; }
	fputs(*sep == '{' ? "{}" : "}", stdout);
}
#define ALL(C) template <class T> struct P<std::C<T>> { static void f(const std::C<T> &v) { all(v); } };
ALL(vector) ALL(deque) ALL(list) ALL(forward_list) ALL(set) ALL(multiset) ALL(unordered_set) ALL(unordered_multiset)
#define PAIRS(C) template <class K, class T> \
	struct P<std::C<K, T>> { static void f(const std::C<K, T> &v) { pairs(v); } };
PAIRS(map) PAIRS(multimap) PAIRS(unordered_map) PAIRS(unordered_multimap)
template <> struct P<std::vector<bool>> { static void f(const std::vector<bool> &v) {
	const char *sep = "{";
	for (bool x : v) { fputs(sep, stdout); put(x); sep = ", "; }
	fputs(*sep == '{' ? "{}" : "}", stdout);
} };
template <class T, size_t N> struct P<std::array<T, N>> { static void f(const std::array<T, N> &v) { all(v); } };
template <class T> struct P<std::optional<T>> { static void f(const std::optional<T> &v) {
	if (v) put(*v); else fputs("nullopt", stdout);
} };
template <class T> struct P<std::shared_ptr<T>> { static void f(const std::shared_ptr<T> &v) {
	if (v) { put(*v); printf(" (use count %ld, weak count 0)", v.use_count()); } else fputs("nullptr", stdout);
} };
template <class A, class B> struct P<std::pair<A, B>> { static void f(const std::pair<A, B> &v) {
	putchar('{'); put(v.first); fputs(", ", stdout); put(v.second); putchar('}');
} };
template <class... A> struct P<std::tuple<A...>> { static void f(const std::tuple<A...> &v) {
	putchar('{');
	bool first = true;
	std::apply([&](const A &...x) { ((first ? void() : void(fputs(", ", stdout)), first = false, put(x)), ...); }, v);
	putchar('}');
} };
template <class... A> struct P<std::variant<A...>> { static void f(const std::variant<A...> &v) {
	std::visit([](const auto &x) { put(x); }, v);
} };
template <class T> __attribute__((noinline)) void said_by_itself(const T &v) {
	asm volatile("" : : "r"(&v) : "memory");
	put(v);
	putchar('\n');
}
template <class T> void say(T v) { said_by_itself<T>(v); }
`
