"use strict";
// What is drawn of one global. All text comes into the page as textContent: what programs say is never HTML.

const element = (tag, cls, text) => {
  const e = document.createElement(tag);
  if (cls) e.className = cls;
  if (text !== undefined) e.textContent = text;
  return e;
};

const color = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// digits puts thin spaces between thousands of a number's text.
const digits = text => /^-?\d+$/.test(text) ? text.replace(/\B(?=(\d{3})+(?!\d))/g, "\u2009") : text;

const short = n => {
  const a = Math.abs(n);
  for (const [unit, size] of [["E", 2 ** 60], ["P", 2 ** 50], ["T", 2 ** 40], ["G", 2 ** 30], ["M", 2 ** 20], ["k", 1024]])
    if (a >= size && n % size === 0) return n / size + unit;
  return String(n);
};

// span is the values of a bucket as text.
const span = ([from, to]) => from === to ? short(from) : short(from) + " .. " + short(to + 1);

// canvas makes one as large as its place on the screen, and gives its 2D context in CSS pixels.
const context = (canvas, height) => {
  const width = canvas.clientWidth || 300, dots = window.devicePixelRatio || 1;
  canvas.style.height = height + "px";
  if (canvas.width !== Math.round(width * dots) || canvas.height !== Math.round(height * dots)) {
    canvas.width = Math.round(width * dots);
    canvas.height = Math.round(height * dots);
  }
  const c = canvas.getContext("2d");
  c.setTransform(dots, 0, 0, dots, 0, 0);
  c.clearRect(0, 0, width, height);
  c.font = "12px ui-monospace, monospace";
  c.textBaseline = "middle";
  return [c, width];
};

// rowsOf gives the buckets of a histogram from its first to its last, with those of a logarithmic one that are empty.
const rowsOf = stats => {
  const list = stats.buckets || [];
  const out = [];
  list.forEach((b, i) => {
    if (i > 0 && out.length < 200) {
      let last = out[out.length - 1];
      while (last[1] + 1 < b[0] && out.length < 200) {
        const from = last[1] + 1;
        const to = stats.linear ? Math.min(b[0] - 1, from + (last[1] - last[0])) : Math.max(2 * from - 1, from);
        last = [from, Math.min(to, b[0] - 1), 0];
        out.push(last);
      }
    }
    out.push(b);
  });
  return out;
};

const histogram = (canvas, stats) => {
  const rows = rowsOf(stats), line = 18;
  const [c, width] = context(canvas, rows.length * line + 4);
  const most = Math.max(1, ...rows.map(r => r[2]));
  const names = rows.map(span), label = Math.min(width / 3, Math.max(40, ...names.map(n => c.measureText(n).width)) + 8);
  rows.forEach((r, i) => {
    const y = i * line + line / 2 + 2, room = width - label - 90;
    c.fillStyle = color("--quiet");
    c.textAlign = "right";
    c.fillText(names[i], label - 8, y);
    c.fillStyle = color("--bar");
    c.fillRect(label, y - 6, Math.max(r[2] > 0 ? 1 : 0, room * r[2] / most), 12);
    c.fillStyle = color("--text");
    c.textAlign = "left";
    c.fillText(digits(String(r[2])), label + room * r[2] / most + 6, y);
  });
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", "Histogram: " + rows.map((r, i) => names[i] + ": " + r[2]).join(", "));
};

// heat keeps what came into each bucket from moment to moment, and draws it: time to the right, values upwards.
class Heat {
  constructor() { this.before = null; this.columns = []; }

  add(stats) {
    const now = new Map((stats.buckets || []).map(b => [b[0], b]));
    const column = new Map();
    if (this.before) {
      for (const [from, b] of now) {
        const d = b[2] - (this.before.get(from) ? this.before.get(from)[2] : 0);
        if (d > 0) column.set(from, d);
      }
      this.columns.push(column);
      if (this.columns.length > 240) this.columns.shift();
    }
    this.before = now;
  }

  draw(canvas, stats) {
    const rows = rowsOf(stats), line = 10;
    const [c, width] = context(canvas, Math.max(1, rows.length) * line);
    let most = 1;
    for (const col of this.columns) for (const n of col.values()) most = Math.max(most, n);
    const w = width / 240;
    this.columns.forEach((col, x) => rows.forEach((r, i) => {
      const n = col.get(r[0]);
      if (!n) return;
      c.fillStyle = `rgba(${color("--hot")}, ${0.15 + 0.85 * Math.log1p(n) / Math.log1p(most)})`;
      c.fillRect(width - (this.columns.length - x) * w, (rows.length - 1 - i) * line, Math.ceil(w), line - 1);
    }));
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", "Heat map: the histogram over the last minute, new values to the right");
  }
}

// tree adds stacks up by their functions.
const tree = stacks => {
  const root = {name: "all", value: 0, kids: new Map()};
  for (const s of stacks) {
    let at = root;
    root.value += s.value;
    for (const f of s.functions.split(";")) {
      if (!at.kids.has(f)) at.kids.set(f, {name: f, value: 0, kids: new Map()});
      at = at.kids.get(f);
      at.value += s.value;
    }
  }
  return root;
};

// Flame is a flame graph of buttons: one makes its function as wide as the graph.
class Flame {
  constructor() {
    this.box = element("div", "flame");
    this.path = [];
    this.made = [];
  }

  draw(stacks) {
    this.stacks = stacks;
    let top = tree(stacks);
    const all = top.value || 1;
    const line = [top];
    for (const name of this.path) {
      const next = top.kids.get(name);
      if (!next) break;
      top = next;
      line.push(top);
    }
    this.path.length = line.length - 1;
    const width = this.box.clientWidth || 600;
    const boxes = line.map((n, i) => [n, 0, width, i, line.slice(1, i + 1).map(x => x.name)]);
    let deepest = line.length;
    const walk = (node, x, room, depth, path) => {
      let at = x;
      for (const kid of [...node.kids.values()].sort((a, b) => a.name < b.name ? -1 : 1)) {
        const w = room * kid.value / node.value;
        if (w >= 2 && boxes.length < 2000) {
          const to = path.concat(kid.name);
          boxes.push([kid, at, w, depth, to]);
          deepest = Math.max(deepest, depth + 1);
          walk(kid, at, w, depth + 1, to);
        }
        at += w;
      }
    };
    walk(top, 0, width, line.length, this.path);
    this.box.style.height = deepest * 17 + "px";
    while (this.made.length < boxes.length) {
      const b = element("button");
      b.type = "button";
      b.addEventListener("click", () => { this.path = b.path; this.draw(this.stacks); });
      this.made.push(b);
      this.box.append(b);
    }
    this.made.forEach((b, i) => {
      b.hidden = i >= boxes.length;
      if (b.hidden) return;
      const [node, x, w, depth, path] = boxes[i];
      const text = node.name + ", " + digits(String(node.value)) + ", " + (100 * node.value / all).toFixed(1) + " %";
      if (b.title !== text) { b.title = text; b.setAttribute("aria-label", text); }
      const shown = w > 24 ? node.name : "";
      if (b.textContent !== shown) b.textContent = shown;
      b.style.left = x + "px";
      b.style.top = depth * 17 + "px";
      b.style.width = w + "px";
      b.path = path;
    });
  }
}

// Card is the place of one global.
class Card {
  constructor(name) {
    this.box = element("article", "global");
    this.title = element("h3", "", name);
    this.body = element("div");
    this.box.append(this.title, this.body);
    this.heats = new Map();
    this.canvases = new Map();
  }

  update(g) {
    // What an array has is not known before it has something, and it may be emptied.
    const kind = g.stacks ? "flame" : g.rows.length || !this.kind ? `${g.keys} ${g.stat}` : this.kind;
    if (this.kind !== kind && (this.kind = kind)) {
      this.value = this.graph = this.rows = null;
      this.heats.clear();
      this.canvases.clear();
    }
    if (kind === "flame") return this.flame(g);
    if (scalar(g)) {
      if (!this.value) this.body.replaceChildren(this.value = element("div", "scalar"));
      this.value.textContent = g.rows.length ? digits(g.rows[0].value) : "";
      return;
    }
    this.table(g);
    this.charts(g);
  }

  flame(g) {
    if (!this.graph) {
      this.graph = new Flame();
      this.box.classList.add("broad");
      this.body.replaceChildren(this.note = element("p", "note"), this.graph.box);
    }
    this.note.textContent = `${g.of} stacks; a function's button makes it as wide as the graph`;
    this.graph.draw(g.stacks || []);
  }

  table(g) {
    if (!this.rows) {
      const table = element("table"), head = element("thead"), line = element("tr");
      const names = [];
      for (let i = 0; i < g.keys; i++) names.push(g.keys === 1 ? "key" : "key " + (i + 1));
      const numbers = g.stat ? ["count", "min", "avg", "max", "sum"] : ["value"];
      for (const n of names.concat(numbers)) {
        const th = element("th", numbers.includes(n) ? "n" : "", n);
        th.scope = "col";
        line.append(th);
      }
      head.append(line);
      this.rows = element("tbody");
      table.append(head, this.rows);
      const wide = element("div", "wide");
      wide.tabIndex = 0;
      wide.setAttribute("role", "region");
      wide.setAttribute("aria-label", "Elements of " + g.name);
      wide.append(table);
      this.body.replaceChildren(wide, this.note = element("p", "note"), this.drawn = element("div"));
    }
    const cells = r => g.stat ?
      r.key.concat([r.stats.count, r.stats.min, r.stats.avg, r.stats.max, r.stats.sum].map(digits)) :
      r.key.concat([digits(r.value)]);
    fill(this.rows, g.rows.map(cells), g.keys);
    this.note.textContent = g.of > g.rows.length ? `the first ${g.rows.length} of ${g.of} elements` : "";
  }

  // charts are the histograms and heat maps of the elements with the most values.
  charts(g) {
    const shown = g.rows.filter(r => r.stats && r.stats.buckets).slice(0, 6);
    const names = shown.map(r => r.key.join(", "));
    for (const [name, list] of this.canvases)
      if (!names.includes(name)) { list.forEach(c => c.remove()); this.canvases.delete(name); this.heats.delete(name); }
    shown.forEach((r, i) => {
      const name = names[i];
      if (!this.canvases.has(name)) {
        const list = [element("p", "note", g.keys ? name : ""), element("canvas"),
          element("p", "note", "over the last minute, values upwards"), element("canvas")];
        this.drawn.append(...list);
        this.canvases.set(name, list);
        this.heats.set(name, new Heat());
      }
      const [, hist, , heat] = this.canvases.get(name);
      this.heats.get(name).add(r.stats);
      histogram(hist, r.stats);
      this.heats.get(name).draw(heat, r.stats);
    });
  }
}

// fill puts rows of texts into a table's body; cells behind the first columns are numbers.
const fill = (body, rows, columns) => {
  while (body.rows.length > rows.length) body.deleteRow(-1);
  rows.forEach((cells, i) => {
    const row = body.rows[i] || body.insertRow();
    cells.forEach((text, k) => {
      const cell = row.cells[k] || row.insertCell();
      if (k >= columns && cell.className !== "n") cell.className = "n";
      if (cell.textContent !== text) cell.textContent = text;
    });
  });
};
