// Looks at a session's page as a person does, and prints what it saw as JSON:
// node browse.mjs URL BROWSER FOLDER [flood|far]
import {chromium} from "playwright-core";
import {readFileSync} from "node:fs";
import {createRequire} from "node:module";

const [url, executablePath, folder, mode] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const patience = 180000; // milliseconds, on a busy machine
const seen = {errors: [], elsewhere: [], violations: [], moved: {}};
const browser = await chromium.launch({executablePath, args: ["--no-sandbox", "--disable-gpu"]});

const open = async options => {
  const context = await browser.newContext(Object.assign({bypassCSP: false}, options));
  context.setDefaultTimeout(patience);
  const page = await context.newPage();
  page.on("console", m => { if (m.type() === "error" || m.type() === "warning") seen.errors.push(m.text()); });
  page.on("pageerror", e => seen.errors.push(String(e)));
  page.on("request", r => { if (!r.url().startsWith(url) && !r.url().startsWith("data:")) seen.elsewhere.push(r.url()); });
  await page.goto(url);
  if (mode !== "flood") await page.waitForFunction(() => document.querySelector("#state").textContent === "running" &&
    document.querySelectorAll("#globals canvas").length > 0 && document.querySelectorAll(".flame button").length > 2);
  return page;
};

// look is what a page shows that is to move.
const look = page => page.evaluate(() => ({
  hits: document.querySelector("#probes tr td:nth-child(4)").textContent,
  histogram: document.querySelector("#globals canvas").getAttribute("aria-label"),
  heat: [...document.querySelectorAll("#globals canvas")][1].toDataURL(),
  flame: document.querySelector(".flame button").title,
  log: document.querySelector("#log").lastChild.textContent,
}));

const page = await open({viewport: {width: 1200, height: 900}, colorScheme: "light"});
if (mode === "flood") {
  const hits = () => document.querySelector("#probes tr td:nth-child(4)").textContent;
  await page.waitForFunction(() => document.querySelectorAll("#log div").length > 100);
  seen.turns = 0;
  for (let before = await page.evaluate(hits); seen.turns < 8; seen.turns++) {
    await page.waitForFunction(b => document.querySelector("#probes tr td:nth-child(4)").textContent !== b, before);
    before = await page.evaluate(hits);
  }
  seen.skipped = await page.evaluate(() => document.querySelector("#skipped").textContent);
  console.log(JSON.stringify(seen));
  await browser.close();
  process.exit(0);
}
const before = await look(page);
for (const end = Date.now() + patience; Date.now() < end;) {
  await page.waitForTimeout(500);
  const after = await look(page);
  for (const k of Object.keys(before)) seen.moved[k] = seen.moved[k] || before[k] !== after[k];
  seen.log = after.log;
  if (Object.values(seen.moved).every(m => m)) break;
}
seen.bold = await page.evaluate(() => document.querySelectorAll("#log *:not(div), #globals b, #globals script").length);
seen.title = await page.title();

await page.fill("#filter", "calls");
await page.waitForTimeout(400);
seen.filtered = await page.evaluate(() => [...document.querySelectorAll("#log div")].every(d => d.textContent.includes("calls")));
await page.fill("#filter", "");
await page.screenshot({path: folder + "/light.png", fullPage: true});
await page.evaluate(() => document.querySelectorAll(".flame button")[2].click());
await page.waitForTimeout(300);

const check = async p => {
  const found = await p.context().newCDPSession(p).then(async cdp => {
    await cdp.send("Page.setBypassCSP", {enabled: true});
    await p.reload();
    await p.waitForFunction(() => document.querySelectorAll(".flame button").length > 2);
    await p.evaluate(axe);
    return p.evaluate(() => axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}));
  });
  for (const v of found.violations)
    seen.violations.push(v.id + ": " + v.nodes.slice(0, 3).map(n => n.html.slice(0, 120)).join(" | "));
};
await check(page);
const dark = await open({viewport: {width: 1200, height: 900}, colorScheme: "dark"});
await dark.waitForTimeout(1500);
await dark.screenshot({path: folder + "/dark.png", fullPage: true});
await check(dark);
const phone = await open({viewport: {width: 390, height: 844}, deviceScaleFactor: 2, isMobile: true, hasTouch: true});
await phone.waitForTimeout(800);
seen.overflow = await phone.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
await phone.screenshot({path: folder + "/phone.png", fullPage: true});
await phone.close();
await dark.close();

const last = await open({viewport: {width: 1200, height: 900}});
if (mode === "far") { // a session that is elsewhere: it is looked at, and nothing else
  seen.shown = await last.evaluate(() => [...document.querySelectorAll("#buttons > *")].filter(b => b.checkVisibility())
    .map(b => b.id));
  seen.enabled = await last.evaluate(() => [...document.querySelectorAll("#probes input")].filter(b => !b.disabled).length);
  console.log(JSON.stringify(seen));
  await browser.close();
  process.exit(0);
}
await last.click("#pause");
await last.waitForFunction(() => document.querySelector("#pause").textContent === "Resume probes");
const calls = () => last.evaluate(() => document.querySelector("#scalars .scalar").textContent);
for (let tries = 0, still = ""; tries < 60 && !seen.paused; tries++) {
  await last.waitForTimeout(1000); // four looks
  const now = await calls();
  seen.paused = now === still;
  still = now;
}
await last.click("#pause");
await last.click("#stop");
await last.waitForFunction(() => document.querySelector("#state").textContent === "ended");
await last.waitForTimeout(300);
seen.end = await last.evaluate(() => document.querySelector("#log").textContent.includes("the end"));
console.log(JSON.stringify(seen));
await browser.close();
