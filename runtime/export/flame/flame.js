(function () {
  "use strict";
  var svg = document.currentScript ? document.currentScript.closest("svg") : document.documentElement;
  if (!svg || svg.nodeName.toLowerCase() !== "svg") svg = document.querySelector("svg.flame");
  var width = 1200, boxes = Array.from(svg.querySelectorAll(".boxes g")).map(function (g) {
    return { g: g, x: +g.dataset.x, w: +g.dataset.w, d: +g.dataset.d, rect: g.querySelector("rect"),
      text: g.querySelector("text"), title: g.querySelector("title").textContent };
  });
  var root = boxes.find(function (b) { return b.d === 0; }), at = root, pattern = null;
  function one(name) { return svg.querySelector("." + name); }
  function fit(name, wd) {
    var n = Math.floor((wd - 4) / 7.3);
    return n < 3 ? "" : name.length <= n ? name : name.slice(0, n - 2) + "..";
  }
  function zoom(b) {
    at = b;
    boxes.forEach(function (c) {
      var over = c.d < b.d && c.x <= b.x && c.x + c.w >= b.x + b.w;
      var inside = c.d >= b.d && c.x >= b.x && c.x + c.w <= b.x + b.w;
      c.g.style.display = over || inside ? "" : "none";
      if (!over && !inside) return;
      var x = over ? 0 : (c.x - b.x) / b.w * width, wd = over ? width : c.w / b.w * width;
      c.rect.setAttribute("x", x); c.rect.setAttribute("width", Math.max(wd - 0.3, 0.1));
      c.text.setAttribute("x", x + 3); c.text.textContent = fit(c.text.dataset.n, wd);
      c.g.classList.toggle("over", over);
    });
  }
  function search(text) {
    pattern = null;
    if (text) try { pattern = new RegExp(text, "i"); } catch (e) {
      pattern = new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
    }
    var hits = [], sum = 0, end = -1;
    boxes.forEach(function (b) {
      var hit = pattern !== null && pattern.test(b.text.dataset.n);
      b.g.classList.toggle("hit", hit);
      if (hit) hits.push(b);
    });
    hits.sort(function (a, b) { return a.x - b.x || b.w - a.w; }).forEach(function (b) {
      if (b.x + b.w > end) { sum += b.x + b.w - Math.max(b.x, end); end = b.x + b.w; }
    });
    one("found").textContent = pattern ? hits.length + " found, " + (100 * sum / root.w).toFixed(2) + "%" : "";
  }
  function ask() {
    var t = window.prompt("search for (a regular expression; nothing clears)", "");
    if (t !== null) search(t);
  }
  boxes.forEach(function (b) {
    b.g.addEventListener("click", function () { zoom(b === at ? root : b); });
    b.g.addEventListener("mouseenter", function () { one("detail").textContent = b.title; });
  });
  one("find").addEventListener("click", ask);
  window.addEventListener("keydown", function (e) {
    if (e.key === "/" || e.key === "f" && (e.ctrlKey || e.metaKey)) { e.preventDefault(); ask(); }
    if (e.key === "Escape") { search(""); zoom(root); }
  });
  window.gostapFlame = { search: search, zoom: zoom, boxes: boxes };
})();
