package page

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// dom is what a browser has of elements that the page uses.
const dom = `
const document = {createElement: tag => ({tag, value: "", kids: [], style: {}, classList: {add() {}}, clientWidth: 600,
  get rows() { return this.kids; }, get cells() { return this.kids; },
  get children() { return this.kids; }, get firstChild() { return this.kids[0]; },
  append(...k) { this.kids.push(...k); }, replaceChildren(...k) { this.kids = k; },
  addEventListener() {}, setAttribute() {}, remove() {},
  insertRow() { const r = document.createElement("tr"); this.kids.push(r); return r; },
  insertCell() { const c = document.createElement("td"); this.kids.push(c); return c; },
  deleteRow() { this.kids.pop(); }})};
const shown = e => e.hidden ? "" : [e.textContent || "", ...e.kids.map(shown)].filter(t => t).join(" ");
`

// cards has globals one after the other, with what a card of them shows then.
const cards = `
const scalar = g => g.keys === 0 && !g.stat;
const expect = (card, g, want) => {
  card.update(Object.assign({name: "a", keys: 1, stat: false, of: g.rows.length}, g));
  const got = shown(card.body);
  if (got !== want) { console.error("shows " + got + ", not " + want); process.exitCode = 1; }
};
const stats = {key: ["x"], stats: {count: "1", min: "2", avg: "3", max: "4", sum: "5"}};
let card = new Card("a");
expect(card, {rows: []}, "key value");
expect(card, {rows: [stats], stat: true}, "key count min avg max sum x 1 2 3 4 5");
expect(card, {rows: []}, "key count min avg max sum");
card = new Card("a");
expect(card, {rows: []}, "key value");
const stacks = [{functions: "f;g", value: 3}];
expect(card, {rows: [{key: ["g"], value: "3"}], stacks},
  "1 stacks; a function's button makes it as wide as the graph all f g");
expect(card, {rows: []}, "0 stacks; a function's button makes it as wide as the graph all");
expect(card, {rows: [{key: ["g"], value: "3"}], stacks},
  "1 stacks; a function's button makes it as wide as the graph all f g");
card = new Card("a");
expect(card, {keys: 0, rows: [{key: [], value: "1234"}]}, "1\u2009234");
`

// clocks has states of a session whose clock is set back, and what the page shows of a global and draws then.
const clocks = `
const made = {}, window = {addEventListener() {}};
document.getElementById = id => made[id] = made[id] || document.createElement("div");
const probe = (hits, fixed) => ({point: "p", place: "", places: 1, hits, ns: 0, on: true, fixed});
const states = [5000, 6000, 7000, 2000, 3000].map((now, i) => ({name: "x", state: i < 4 ? "running" : "ended", now,
  began: 1, last: 0, lines: [], sources: [], probes: [probe(i, false)],
  globals: [{name: "n", keys: 0, stat: false, of: 1, rows: [{key: [], value: String(i), number: i}]}]}));
const times = [], values = [];
const fetch = async () => ({ok: true, json: async () => states.shift()});
const setTimeout = f => { values.push(shown(made.scalars)); f(); };
class uPlot { setData(s) { times.push(s[0].join(",")); } }
process.on("exit", () => {
  const got = times.join(" ") + "; " + values.join(" ") + "; " + shown(made.scalars);
  const want = "6 6,7 3; n 0 n 1 n 2 n 3; n 4";
  if (got !== want) { console.error("shows " + got + ", not " + want); process.exitCode = 1; }
});
`

// TestCards: an array is shown as what it is, though that is not known before it has elements, and when it is emptied.
func TestCards(t *testing.T) { script(t, "static/views.js", dom+cards) }

// TestClocks: where the clock of the traced machine is set back the page goes on, and its chart begins anew.
func TestClocks(t *testing.T) {
	app, err := files.ReadFile("static/app.js")
	if err != nil {
		t.Fatal(err)
	}
	script(t, "static/views.js", dom+clocks+string(app))
}

// script runs a file of the page in node, with more behind it.
func script(t *testing.T, name, more string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("needs node")
	}
	views, err := files.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "script.js")
	if err := os.WriteFile(path, append(views, more...), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(node, path).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
