"use strict";
// The page asks the session four times a second how it is, and draws that.

const at = id => document.getElementById(id);
const every = 250, kept = 2000, moments = 480;
let last = 0, held = false, far = null, paused = false, over = false, missed = 0, before = null, chart = null;
const cards = new Map(), all = [], series = [[]];

const send = async path => {
  const r = await fetch(path, {method: "POST"});
  if (!r.ok) { const text = await r.text(); at("error").hidden = false; at("error").textContent = text.trim(); }
};

const amount = ns => ns >= 1e9 ? (ns / 1e9).toFixed(2) + " s" : ns >= 1e6 ? (ns / 1e6).toFixed(2) + " ms" :
  ns >= 1e3 ? (ns / 1e3).toFixed(2) + " \u00b5s" : Math.round(ns) + " ns";

const probes = (s, rates) => {
  const body = at("probes");
  while (body.rows.length > s.probes.length) body.deleteRow(-1);
  s.probes.forEach((p, i) => {
    let row = body.rows[i];
    if (!row) {
      row = body.insertRow();
      const box = element("input");
      box.type = "checkbox";
      box.addEventListener("change", () => send((box.checked ? "on" : "off") + "?probe=" + i));
      row.insertCell().append(box);
      for (let k = 0; k < 6; k++) row.insertCell().className = k > 1 ? "n" : "";
    }
    const box = row.cells[0].firstChild;
    box.checked = p.on;
    box.disabled = p.fixed || over || !!s.far;
    box.setAttribute("aria-label", p.point);
    const r = rates[i] || {hits: 0, ns: 0};
    const texts = [p.point, String(p.places), digits(String(p.hits)), p.on ? digits(String(Math.round(r.hits))) : "off",
      p.hits ? amount(p.ns / p.hits) : "", p.hits ? (r.ns / 1e7).toFixed(1) + " %" : ""];
    texts.forEach((t, k) => { const c = row.cells[k + 1]; if (c.textContent !== t) c.textContent = t; });
    row.cells[1].title = p.place;
  });
};

const lines = ["#4c8bd6", "#d9822b", "#3d9970", "#b5527b", "#8a63d2", "#a08a00", "#00a2ae", "#c23030"];

const rates = s => {
  const out = [];
  const seconds = before ? (s.now - before.now) / 1000 : 0;
  if (seconds > 0)
    s.probes.forEach((p, i) => {
      const b = before.probes[i] || {hits: 0, ns: 0};
      out.push({hits: Math.max(0, p.hits - b.hits) / seconds, ns: Math.max(0, p.ns - b.ns) / seconds});
    });
  return out;
};

const draw = (s, now) => {
  const shown = s.probes.map((p, i) => i).filter(i => !s.probes[i].fixed).slice(0, lines.length);
  if (shown.length === 0 || now.length === 0) return;
  if (!chart || chart.shown.join() !== shown.join()) {
    if (chart) chart.destroy();
    series.length = 0;
    series.push([], ...shown.map(() => []));
    const axis = {stroke: () => color("--quiet"), grid: {stroke: () => color("--line"), width: 1},
      ticks: {stroke: () => color("--line")}};
    chart = new uPlot({
      width: at("rates").clientWidth || 600, height: 180, cursor: {y: false},
      series: [{}].concat(shown.map((p, i) => ({label: s.probes[p].point.slice(0, 60), stroke: lines[i], width: 1.5,
        value: (u, v) => v === null ? "" : digits(String(Math.round(v))) + "/s"}))),
      axes: [axis, Object.assign({size: 70, values: (u, list) => list.map(v => digits(String(v)))}, axis)],
      scales: {y: {range: (u, lo, hi) => [0, Math.max(1, hi)]}},
    }, series, at("rates"));
    chart.shown = shown;
  }
  if (series[0].length > 0 && series[0][series[0].length - 1] >= s.now / 1000) series.forEach(list => list.length = 0);
  series[0].push(s.now / 1000);
  shown.forEach((p, i) => series[i + 1].push(now[p].hits));
  if (series[0].length > moments) series.forEach(list => list.shift());
  chart.setData(series);
};

const scalar = g => g.keys === 0 && !g.stat;

const globals = s => {
  for (const [name, card] of cards)
    if (!s.globals.some(g => g.name === name)) { card.box.remove(); cards.delete(name); }
  for (const g of s.globals) {
    if (!cards.has(g.name)) {
      const card = new Card(g.name);
      cards.set(g.name, card);
      at(scalar(g) ? "scalars" : "globals").append(card.box);
    }
    cards.get(g.name).update(g);
  }
  if (s.globals.length === 0 && !at("globals").firstChild)
    at("globals").append(element("p", "note", "The script has no globals."));
};

const log = () => {
  const box = at("log"), want = at("filter").value.toLowerCase();
  const list = want ? all.filter(l => l.text.toLowerCase().includes(want)) : all;
  const end = box.scrollHeight - box.scrollTop - box.clientHeight < 30;
  const shown = list.slice(-400), made = box.children;
  while (made.length > shown.length) box.lastChild.remove();
  shown.forEach((l, i) => {
    let line = made[i];
    if (!line) { line = element("div"); box.append(line); }
    if (line.textContent !== l.text) line.textContent = l.text;
    const cls = l.message ? "message" : "";
    if (line.className !== cls) line.className = cls;
  });
  if (end) box.scrollTop = box.scrollHeight;
  at("skipped").textContent = (want ? `${list.length} of the last ${all.length} lines` : "") +
    (missed ? ` ${digits(String(missed))} lines are not kept here; ` +
      (far ? "the result of the Trace has the end of them" : "-o FILE keeps all") : "");
};

const script = s => {
  const box = at("script");
  if (box.firstChild) return;
  for (const src of s.sources) {
    const pre = element("pre", "", src.text);
    pre.tabIndex = 0;
    box.append(element("h3", "", src.name), pre);
  }
};

const state = (text, cls) => {
  const e = at("state");
  if (e.textContent !== text) e.textContent = text;
  e.className = cls || "";
};

// remarks are what is to be known of a session that is elsewhere; what does nothing there is not shown.
const remarks = s => {
  const texts = s.far && s.far.note ? [s.far.note] : [];
  if (s.cut) texts.push("there was no room for all of it: lines or elements are missing here");
  at("note").hidden = texts.length === 0;
  const text = texts.join("\n");
  if (at("note").textContent !== text) at("note").textContent = text;
  for (const id of ["pause", "reset"]) at(id).hidden = !!far;
  at("stop").hidden = !!far && !far.stops;
};

const show = s => {
  document.title = s.name + " - gostap";
  at("name").textContent = s.name;
  state(s.state, s.state);
  far = s.far || null;
  if (s.began) at("elapsed").textContent = (((far && far.clock || s.now) - s.began) / 1000).toFixed(0) + " s";
  if (s.error) { at("error").hidden = false; at("error").textContent = s.error; }
  remarks(s);
  for (const l of s.lines) { missed += l.n - 1 - last; last = l.n; }
  missed += s.last - last;
  last = s.last;
  all.push(...s.lines);
  if (all.length > kept) all.splice(0, all.length - kept);
  over = ["ended", "refused", "gone"].includes(s.state);
  paused = s.probes.some(p => !p.fixed) && s.probes.every(p => p.fixed || !p.on);
  at("pause").setAttribute("aria-pressed", String(paused));
  at("pause").textContent = paused ? "Resume probes" : "Pause probes";
  at("pause").disabled = s.probes.every(p => p.fixed);
  if (over) for (const id of ["pause", "hold", "reset", "stop"]) at(id).disabled = true;
  const now = rates(s);
  if (!before || s.now !== before.now) { // a clock may be set back
    probes(s, now);
    draw(s, now);
    globals(s);
    before = s;
  }
  script(s);
  log();
};

const turn = async () => {
  if (!held) {
    try {
      const r = await fetch("state?since=" + last);
      if (!r.ok) throw new Error(await r.text());
      show(await r.json());
    } catch (e) {
      if (e instanceof TypeError && !String(e).includes("fetch")) console.error(e);
      state("the session is gone", "lost");
      over = true;
    }
  }
  if (!over) setTimeout(turn, every);
};

at("pause").addEventListener("click", () => send(paused ? "on" : "off"));
at("reset").addEventListener("click", () => send("reset"));
at("stop").addEventListener("click", () => send("stop"));
at("hold").addEventListener("click", () => {
  held = !held;
  at("hold").setAttribute("aria-pressed", String(held));
  at("hold").textContent = held ? "Go on" : "Hold page";
});
at("filter").addEventListener("input", log);
at("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" :
    matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  if (chart) chart.redraw();
});
window.addEventListener("resize", () => { if (chart) chart.setSize({width: at("rates").clientWidth, height: 180}); });
turn();
