// What is left out in a program of C++.
#include <cstdio>
#include <string>

#define CALLED __attribute__((noinline, noclone))

struct Pair { long a, b; };
struct Three { long a, b, c; };
struct Object {
	int n;
	explicit Object(int n);
	Object(const Object &o);
	~Object();
};
CALLED Object::Object(int n) : n(n) {}
CALLED Object::Object(const Object &o) : n(o.n) {}
CALLED Object::~Object() { n = -1; }

namespace ns {
class Counter {
	int v;

public:
	explicit Counter(int v) : v(v) {}
	CALLED int get(int k) const;
	CALLED bool odd();
	CALLED Pair pair(long x);
	CALLED Three three(long x);
	CALLED void add(int n);
	CALLED int &ref();
	CALLED double half();
	CALLED Object object();
	CALLED std::string text();
	CALLED int thrown(int n);
};
int Counter::get(int k) const { return v + k; }
bool Counter::odd() { return v & 1; }
Pair Counter::pair(long x) { return {x, x + v}; }
Three Counter::three(long x) { return {x, x + v, x + 2 * v}; }
void Counter::add(int n) { v += n; }
int &Counter::ref() { return v; }
double Counter::half() { return v / 2.0; }
Object Counter::object() { return Object(v); }
std::string Counter::text() { return std::string(40, 'x'); }
int Counter::thrown(int n)
{
	if (n > 0)
		throw n;
	return 0;
}
}

template <class T> CALLED T twice(T x) { return x + x; }

Three sample = { 7, 8, 9 };
Pair both = { 5, 6 };

int main()
{
	ns::Counter c(3);
	int caught = 0;

	Three first = c.three(5), second = c.three(6);
	Pair p = c.pair(4), q = c.pair(5);
	c.add(10);
	try {
		c.thrown(1);
	} catch (int n) {
		caught = n;
	}
	printf("get %d odd %d three %ld %ld %ld and %ld %ld %ld pair %ld %ld and %ld %ld twice %d caught %d\n", c.get(2), c.odd(),
	       first.a, first.b, first.c, second.a, second.b, second.c, p.a, p.b, q.a, q.b, twice(21), caught);
	printf("ref %d half %g object %d text %zu\n", c.ref(), c.half(), c.object().n, c.text().size());
}
