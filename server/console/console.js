// SPDX-License-Identifier: MIT
// The console: requests IDs and the server's state from /v1 of the server that sent the page. read.js decodes IDs.
"use strict";

const FORMS = [
  "dec",
  "hex",
  "uuid",
  "urn",
  "braced",
  "base32",
  "base32hex",
  "base36",
  "base58",
  "base62",
  "base64",
  "base64url",
  "bin",
];

// ---- the server -------------------------------------------------------------------------------

class Refused extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

// Returns the JSON of the reply. Requests that issue IDs must use POST. Errors have the server's text.
async function ask(path, query = {}, method = "GET") {
  const headers = { Accept: "application/json" };
  const token = sessionStorage.getItem("firn-token");
  if (token) headers.Authorization = `Bearer ${token}`;
  const search = new URLSearchParams(query).toString();
  let answer;
  try {
    answer = await fetch(search ? `${path}?${search}` : path, { method, headers, cache: "no-store" });
  } catch {
    throw new Refused(0, "the server does not answer: check that it is running");
  }
  const body = await answer.json().catch(() => ({}));
  if (answer.ok) return body;
  if (answer.status === 401) wantToken(token);
  throw new Refused(answer.status, body.detail || body.title || `the server answered with status ${answer.status}`);
}

function wantToken(refused) {
  const form = byId("token-form");
  if (refused) byId("token-note").textContent = "Unknown token: enter another one.";
  if (refused === sessionStorage.getItem("firn-token")) sessionStorage.removeItem("firn-token");
  if (!form.hidden) return;
  form.hidden = false;
  byId("token").focus();
}

// Hides the token box once the server accepts the token. The server delays its answer after wrong tokens.
async function takeToken(event) {
  event.preventDefault();
  sessionStorage.setItem("firn-token", byId("token").value.trim());
  byId("token").value = "";
  byId("token-note").textContent = "Checking the token.";
  try {
    await ask("/v1/schemes");
  } catch (refused) {
    if (refused.status !== 401) byId("token-note").textContent = refused.message;
    return;
  }
  byId("token-form").hidden = true;
  live.stopped = false;
  follow();
  look();
}

// console.wasm decodes IDs. The page asks the server only for the generators of its configuration.
const wasmModule = () => WebAssembly.compileStreaming(fetch("console.wasm"));

async function foreignLayout(name) {
  const firn = await firnHere();
  const known = live.last && live.last.generators.find((one) => one.name === name);
  if (known ? !known.configured : firn.schemes().includes(name)) return null;
  return ask(`/v1/schemes/${encodeURIComponent(name)}`).catch((refused) => {
    if (known) throw refused;
  }); // else it may be a layout
}

// ---- make -------------------------------------------------------------------------------------

let sources = new Map(); // generators and schemes that can issue: name -> layout

// The generators of the configuration, then every scheme that firn generates.
async function listSources() {
  const firn = await firnHere();
  const known = new Map(firn.schemes().map((name) => [name, firn.native.schemeObject(name, null, null, null)]));
  const status = live.last || (await ask("/v1/status").catch(() => ({ generators: [] }))); // needs a token of role admin
  const own = status.generators.filter((one) => !known.has(one.name));
  const found = new Map(
    await Promise.all(own.map(async ({ name }) => [name, await layoutOf(name).catch(() => null)])),
  );
  for (const [name, layout] of known) if (layout.generated) found.set(name, layout);
  if ([...found.keys()].join() === [...sources.keys()].join()) return;
  sources = found;
  const select = byId("make-scheme");
  const chosen = select.value;
  const names = [...found.keys()];
  const groups = [
    ["Configured", names.filter((name) => !known.has(name))],
    ["Schemes", names.filter((name) => known.has(name))],
  ].filter(([, group]) => group.length);
  select.replaceChildren(...groups.map(([label, group]) => make("optgroup", { label }, ...options(group))));
  if (found.has(chosen)) select.value = chosen;
  describeSource();
}

function describeSource() {
  const layout = sources.get(byId("make-scheme").value) || null;
  const shape = (role) => !layout || layout.slices.some((slice) => slice.role === role);
  byId("make-note").textContent = layout
    ? [`${layout.bits} bits`, layout.note]
        .filter(Boolean)
        .map((text) => `${text}.`)
        .join(" ")
    : "";
  byId("make-time-row").hidden = !shape("time");
  byId("make-named-row").hidden = !layout || !shape("digest");
  byId("make-count-row").hidden = layout !== null && shape("digest"); // a name has one ID
  byId("make-prefix-row").hidden = !layout || layout.form !== "typeid";
}

// The parameters of the form, without its empty boxes.
function queryOfMake() {
  const query = {};
  const add = (key, id) => {
    const input = byId(id);
    const text = input.value.trim();
    if (text && !input.closest("[hidden]")) query[key] = text;
  };
  add("n", "make-count");
  add("as", "make-form-name");
  add("time", "make-time");
  add("prefix", "make-prefix");
  add("namespace", "make-namespace");
  add("name", "make-name");
  return query;
}

async function makeIds(event) {
  event.preventDefault();
  const name = byId("make-scheme").value;
  showError(byId("make-error"), "");
  try {
    const { ids } = await ask(`/v1/new/${encodeURIComponent(name)}`, queryOfMake(), "POST");
    showMade(name, ids);
  } catch (refused) {
    showError(byId("make-error"), refused.message);
  }
}

function showMade(name, ids) {
  byId("made-none").hidden = true;
  byId("made-head").textContent =
    ids.length === 1 ? `1 ID of ${name}` : `${grouped.format(ids.length)} IDs of ${name}`;
  byId("copy-all").hidden = ids.length === 0;
  byId("made").replaceChildren(
    ...ids.map((id) => {
      const query = new URLSearchParams({ read: id, scheme: name });
      return make(
        "li",
        {},
        make("a", { href: `#${query}`, textContent: id, title: "Decode this ID" }),
        copyButton(id, id),
      );
    }),
  );
  byId("made").scrollTop = 0;
  say(byId("made-head").textContent);
}

// ---- spread -----------------------------------------------------------------------------------

async function listSpread() {
  const select = byId("spread-name");
  const names = live.last
    ? live.last.generators.filter((one) => one.issued > 0).map((one) => one.name)
    : [];
  const wanted =
    new URLSearchParams(location.hash.slice(1)).get("spread") ||
    select.value ||
    names[0] ||
    "snowflake";
  const all = names.includes(wanted) ? names : [wanted, ...names];
  select.replaceChildren(...options(all));
  select.value = wanted;
}

async function spread(event) {
  if (event) event.preventDefault();
  const name = byId("spread-name").value;
  const shards = Number(byId("spread-shards").value);
  showError(byId("spread-error"), "");
  try {
    const found = await ask(`/v1/spread/${encodeURIComponent(name)}`, { shards });
    byId("spread-note").textContent =
      `${grouped.format(found.ids)} recent IDs of ${name}; the dashed line shows an even share.`;
    byId("spreads").replaceChildren(
      ...Object.entries(WAYS).map(([way, title]) => drawSpread(title, found[way], found.ids)),
    );
    say(
      Object.entries(WAYS)
        .map(([way, title]) => `${title}: ${verdictOn(found[way], found.ids)}`)
        .join(". "),
    );
  } catch (refused) {
    byId("spreads").replaceChildren();
    byId("spread-note").textContent = "";
    showError(byId("spread-error"), refused.message);
  }
}

const WAYS = { hash: "By hash", remainder: "By remainder", range: "By leading bits" };

// A chi-squared test against random placement: the mean is shards - 1, the variance twice that.
function verdictOn(counts, ids) {
  if (ids < 5 * counts.length) return "too few IDs";
  const full = counts.filter((count) => count > 0).length;
  if (full === 1) return "all on one shard";
  const even = ids / counts.length;
  const squares = counts.reduce((all, count) => all + (count - even) ** 2 / even, 0);
  const away = (squares - (counts.length - 1)) / Math.sqrt(2 * (counts.length - 1));
  if (away > 4)
    return full < counts.length ? `uneven, ${counts.length - full} shards empty` : "uneven";
  return away < -3 ? "more even than random" : "as even as random";
}

function drawSpread(title, counts, ids) {
  const even = ids / counts.length;
  const verdict = verdictOn(counts, ids);
  const top = Math.max(...counts, even * 2, 1);
  const bars = counts.map((count, shard) => {
    const bar = make("i", { title: `shard ${shard}: ${count}` });
    bar.dataset.count = count;
    bar.style.height = `${(100 * count) / top}%`;
    return bar;
  });
  const line = make("hr");
  line.style.bottom = `${(100 * even) / top}%`;
  const low = Math.min(...counts);
  const high = Math.max(...counts);
  return make(
    "figure",
    {
      className: "card",
      "aria-label": `${title}: ${verdict}, ${low} to ${high} per shard`,
    },
    make("figcaption", {}, title, make("span", { className: "verdict", textContent: verdict })),
    make("div", { className: "columns" }, ...bars, line),
    make(
      "div",
      { className: "span" },
      make("span", { textContent: "shard 0" }),
      make("span", { textContent: `${low} to ${high} per shard` }),
      make("span", { textContent: counts.length - 1 }),
    ),
  );
}

// ---- places -----------------------------------------------------------------------------------

const TITLES = { read: "Decode", make: "Generate", choose: "Choose", now: "Activity", windows: "Windows", spread: "Shards" };

const currentView = () => document.body.dataset.view;

// Shows the view that the URL names: #ID, #read=ID&scheme=NAME, #make=SCHEME, #choose&rate=N, #now, #windows,
// #spread=GENERATOR.
function follow() {
  const query = place(Object.keys(TITLES));
  const asked = Object.keys(TITLES).find((name) => query.has(name));
  if (!asked && currentView()) return; // a fragment within the page, such as the skip link's
  const view = asked || "read";
  document.body.dataset.view = view;
  document.title = `${TITLES[view]} – firn`;
  for (const section of document.querySelectorAll("main > section"))
    section.hidden = section.id !== `view-${view}`;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.view === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  enter[view](query);
  if (live.last) drawLive(live.last);
}

const enter = {
  read: readPlace,
  async make(query) {
    await listSources().catch((refused) => showError(byId("make-error"), refused.message));
    if (sources.has(query.get("make"))) {
      byId("make-scheme").value = query.get("make");
      describeSource();
    }
  },
  choose: enterChoose,
  now() {},
  windows() {},
  async spread() {
    await listSpread();
    spread();
  },
};

function listen() {
  listenToReading();
  listenToTheme();
  listenToChoosing();
  byId("token-form").addEventListener("submit", takeToken);
  byId("make-form").addEventListener("submit", makeIds);
  byId("make-scheme").addEventListener("change", describeSource);
  byId("copy-all").addEventListener("click", (event) => {
    copyText(
      [...document.querySelectorAll("#made a")].map((link) => link.textContent).join("\n"),
      event.currentTarget,
    );
  });
  byId("spread-form").addEventListener("submit", spread);
  byId("spread-form").addEventListener("change", spread);
  document.addEventListener("visibilitychange", () => {
    live.at = 0;
    look();
  });
  window.addEventListener("hashchange", follow);
}

function start() {
  byId("make-form-name").append(
    make("option", { value: "", textContent: "default" }),
    ...options(FORMS),
  );
  listen();
  follow();
  look();
}

setTheme(keptTheme()); // before anything is drawn
document.addEventListener("DOMContentLoaded", start);
