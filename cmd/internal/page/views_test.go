package page

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// cards is what a browser has of elements that views.js uses, and globals one after the other with what a card of them
// shows then.
const cards = `
const document = {createElement: tag => ({tag, kids: [], style: {}, classList: {add() {}}, clientWidth: 600,
  get rows() { return this.kids; }, get cells() { return this.kids; },
  append(...k) { this.kids.push(...k); }, replaceChildren(...k) { this.kids = k; },
  addEventListener() {}, setAttribute() {}, remove() {},
  insertRow() { const r = document.createElement("tr"); this.kids.push(r); return r; },
  insertCell() { const c = document.createElement("td"); this.kids.push(c); return c; },
  deleteRow() { this.kids.pop(); }})};
const scalar = g => g.keys === 0 && !g.stat;
const shown = e => e.hidden ? "" : [e.textContent || "", ...e.kids.map(shown)].filter(t => t).join(" ");
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

// TestCards: an array is shown as what it is, though that is not known before it has elements, and when it is emptied.
func TestCards(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("needs node")
	}
	views, err := files.ReadFile("static/views.js")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cards.js")
	if err := os.WriteFile(path, append(views, cards...), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(node, path).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
