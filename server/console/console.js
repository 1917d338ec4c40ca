// SPDX-License-Identifier: MIT
// The console: asks /v1 of the server it came from, and draws the answers. Nothing of an ID is
// worked out here but what is drawn: the digits, the layout, the fields and the time are the
// server's.
"use strict";

const HISTORY_S = 120; // what the charts show at most; they begin with a quarter of it
const ASK_MS = 1000; // between two looks at the server's state
const EXAMPLES = {
  snowflake: "541815603606036480",
  uuid7: "0192f0c8-d1e3-7a55-9e37-79b97f4a7c15",
  ulid: "01ARZ3NDEKTSV4RRFFQ69G5FAV",
  objectid: "507f1f77bcf86cd799439011",
  ksuid: "0ujtsYcgvSTl8PAuAdqWYSMnLOv",
};
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
  "bin",
];

// A field's role: its tones (the first that no other field of the scheme has) and what it is for.
const ROLES = {
  constant: { tones: ["grey"], meaning: "the same in every ID of this scheme" },
  time: { tones: ["blue"], meaning: "time of issue" },
  node: { tones: ["orange", "red", "yellow"], meaning: "the process that issued the ID" },
  address: { tones: ["orange", "red", "yellow"], meaning: "the network address of the issuer" },
  process: { tones: ["red", "purple"], meaning: "random, once for each process" },
  sequence: { tones: ["green", "sky"], meaning: "distinguishes IDs of one tick" },
  counter: { tones: ["green", "sky"], meaning: "counts up from ID to ID" },
  random: { tones: ["purple", "red"], meaning: "random" },
  digest: { tones: ["purple", "red"], meaning: "hash of a namespace and a name" },
  user: { tones: ["sky", "yellow", "red"], meaning: "set by the user" },
};

// ---- the page ---------------------------------------------------------------------------------

const byId = (id) => document.getElementById(id);

// An element with properties, attributes (those with a - or named role) and children.
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role") element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children);
  return element;
}

function draw(tag, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

function say(text) {
  byId("said").textContent = text;
}

function showError(element, text) {
  element.textContent = text || "";
  element.hidden = !text;
}

// Only what differs is touched, so that text which somebody selects stays selected.
function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const shortened = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
const showCount = (n) => (Math.abs(n) < 100000 ? grouped.format(n) : shortened.format(n));

function showSpan(us) {
  if (us < 1000) return `${us} µs`;
  if (us < 1000000) return `${Number((us / 1000).toPrecision(3))} ms`;
  return `${Number((us / 1000000).toPrecision(3))} s`;
}

// ---- the server -------------------------------------------------------------------------------

class Refused extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

// As JSON; what issues has to be sent by POST. A refusal carries the server's own sentence.
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
  if (refused) byId("token-note").textContent = "Unknown token.";
  if (refused === sessionStorage.getItem("firn-token")) sessionStorage.removeItem("firn-token");
  if (!form.hidden) return;
  form.hidden = false;
  byId("token").focus();
}

// The box goes when the server took the token: it lets those who guess wait.
async function takeToken(event) {
  event.preventDefault();
  sessionStorage.setItem("firn-token", byId("token").value.trim());
  byId("token").value = "";
  byId("token-note").textContent = "Checking the token.";
  table = null;
  try {
    await schemes();
  } catch (refused) {
    if (refused.status !== 401) byId("token-note").textContent = refused.message;
    return;
  }
  byId("token-form").hidden = true;
  live.stopped = false;
  follow();
  look();
}

// The table of schemes, fetched once.
let table = null;
function schemes() {
  if (!table) {
    table = ask("/v1/schemes").then((rows) => new Map(rows.map((row) => [row.name, row])));
    table.catch(() => {
      table = null;
    });
  }
  return table;
}

// A scheme of the table, or what a generator of the configuration makes of one.
async function rowOf(name) {
  return (await schemes()).get(name) || ask(`/v1/schemes/${encodeURIComponent(name)}`);
}

// ---- read: the layout -------------------------------------------------------------------------

// The slices of a scheme from the first bit on, each with its field, tone, place and digits.
function slicesOf(scheme, digits) {
  const tones = new Map();
  const used = new Set();
  let at = 0;
  return scheme.slices.map((slice) => {
    const field = slice.name || "fixed";
    if (!tones.has(field)) {
      const choice = ROLES[slice.role].tones;
      tones.set(field, choice.find((tone) => !used.has(tone)) || choice[0]);
      used.add(tones.get(field));
    }
    const one = {
      ...slice,
      field,
      tone: tones.get(field),
      first: at,
      digits: digits.slice(at, at + slice.bits),
    };
    at += slice.bits;
    return one;
  });
}

// A field's number: its slices turned back (mirrored ones by groups of bits) and put where they
// belong.
function numberOf(slices) {
  let value = 0n;
  for (const { digits, group, from } of slices) {
    const groups = group ? digits.match(new RegExp(`.{${group}}`, "g")).reverse() : [digits];
    value |= BigInt(`0b${groups.join("")}`) << BigInt(from);
  }
  return value;
}

function placeOf(slices, bits) {
  return slices
    .map(({ first, bits: width }) => {
      const high = bits - 1 - first;
      return width === 1 ? `${high}` : `${high}–${high - width + 1}`;
    })
    .join(", ");
}

function fieldsOf(scheme, slices, values) {
  const fields = new Map();
  for (const slice of slices) {
    if (!fields.has(slice.field)) fields.set(slice.field, []);
    fields.get(slice.field).push(slice);
  }
  return [...fields].map(([name, own]) => {
    const role = own[0].role;
    const given = values[name];
    const value = role === "time" || given === undefined ? numberOf(own) : given;
    const meaning =
      role === "time"
        ? `${tickOf(scheme)} since ${scheme.epoch.replace("T00:00:00Z", "")}`
        : ROLES[role].meaning;
    return { name, role, tone: own[0].tone, slices: own, value: String(value), meaning };
  });
}

function tickOf(scheme) {
  const words = {
    1000000000: "seconds",
    10000000: "10 ms each",
    1000000: "milliseconds",
    1000: "microseconds",
    100: "100 ns each",
  };
  return words[scheme.tick_ns] || `${scheme.tick_ns} ns each`;
}

// ---- read: the drawing ------------------------------------------------------------------------

const reading = { shown: null, slices: [], fields: [], lane: 0 };

// Bits per line, as many as can be distinguished: a power of two, so that bytes and words are under
// each other.
function laneOf(width) {
  return width < 560 ? 16 : 32;
}

// A slice that goes over the end of a line is drawn in pieces; the first of them is the button.
function drawBits() {
  const box = byId("bits");
  const lane = laneOf(box.clientWidth);
  const { slices, shown } = reading;
  reading.lane = lane;
  const lines = [];
  for (let start = 0; start < shown.bits; start += lane) {
    const end = Math.min(start + lane, shown.bits);
    const line = make("div", { className: "lane" });
    line.style.gridTemplateColumns = `repeat(${lane}, minmax(0, 1fr))`;
    slices.forEach((slice, index) => {
      const from = Math.max(slice.first, start);
      const to = Math.min(slice.first + slice.bits, end);
      if (from < to) line.append(drawPiece(slice, index, from, to, lane, box.clientWidth / lane));
    });
    line.classList.toggle(
      "bare",
      ![...line.querySelectorAll(".name")].some((name) => name.firstChild),
    );
    lines.push(line);
  }
  box.replaceChildren(...lines);
  for (const button of box.querySelectorAll("button")) button.tabIndex = -1;
  const first = box.querySelector("button");
  if (first) first.tabIndex = 0;
}

// Where the widest piece of a slice begins: it bears the name.
function widestOf(slice, lane) {
  const end = slice.first + slice.bits;
  let widest = slice.first;
  let width = 0;
  for (let from = slice.first; from < end; from = from - (from % lane) + lane) {
    const to = Math.min(end, from - (from % lane) + lane);
    if (to - from > width) [widest, width] = [from, to - from];
  }
  return widest;
}

function drawPiece(slice, index, from, to, lane, cell) {
  const whole = from === slice.first;
  const width = to - from;
  const bits = reading.shown.bits;
  const field = reading.fields.find((one) => one.name === slice.field);
  const ends = make(
    "span",
    { className: "ends", "aria-hidden": "true" },
    make("span", { textContent: bits - 1 - from }),
  );
  if (width * cell > 44) ends.append(make("span", { textContent: bits - to }));
  const cells = make("span", { className: "cells", "aria-hidden": "true" });
  for (const digit of slice.digits.slice(from - slice.first, to - slice.first))
    cells.append(make("b", { textContent: digit }));
  const name = make("span", { className: "name", "aria-hidden": "true" });
  const room = (width * cell - 4) / 7.4; // letters
  if (from === widestOf(slice, lane) && slice.field.length <= room) {
    name.append(slice.field);
    if (
      field.slices.length === 1 &&
      slice.role !== "constant" &&
      field.value.length + slice.field.length + 3 <= room
    ) {
      name.append(make("span", { textContent: field.value }));
    }
  }
  const piece = make(
    whole ? "button" : "div",
    { className: `slice tone-${slice.tone}`, title: slice.field },
    ends,
    cells,
    name,
  );
  piece.dataset.field = slice.field;
  piece.style.gridColumn = `span ${width}`;
  if (whole) {
    piece.type = "button";
    piece.dataset.slice = index;
    const many = slice.bits === 1 ? "bit" : "bits";
    const spoken = `${slice.field}, ${slice.bits} ${many}: ${placeOf([slice], bits)}, value ${field.value}`;
    piece.append(make("span", { className: "hidden", textContent: spoken }));
    piece.addEventListener("focus", () => mark(slice.field));
  }
  piece.addEventListener("pointerenter", () => mark(slice.field));
  piece.addEventListener("pointerleave", () => mark(null));
  return piece;
}

// Lights up a field in the drawing and in the legend.
function mark(name) {
  for (const one of document.querySelectorAll("#bits .slice, #legend tr")) {
    one.classList.toggle("on", name !== null && one.dataset.field === name);
  }
}

function moveAmongFields(event) {
  const steps = {
    ArrowRight: 1,
    ArrowDown: 1,
    ArrowLeft: -1,
    ArrowUp: -1,
    Home: -Infinity,
    End: Infinity,
  };
  if (!(event.key in steps)) return;
  event.preventDefault();
  const all = [...byId("bits").querySelectorAll("button")];
  const at = all.indexOf(document.activeElement);
  const next = all[Math.max(0, Math.min(all.length - 1, at + steps[event.key]))];
  for (const one of all) one.tabIndex = one === next ? 0 : -1;
  next.focus();
}

function drawLegend(bits) {
  byId("legend").tBodies[0].replaceChildren(
    ...reading.fields.map((field) => {
      const row = make(
        "tr",
        {},
        make(
          "td",
          {},
          make("span", { className: `swatch tone-${field.tone}`, "aria-hidden": "true" }),
          field.name,
        ),
        make("td", { textContent: field.value }),
        make("td", { textContent: placeOf(field.slices, bits) }),
        make("td", { textContent: field.meaning }),
      );
      row.dataset.field = field.name;
      row.addEventListener("pointerenter", () => mark(field.name));
      row.addEventListener("pointerleave", () => mark(null));
      return row;
    }),
  );
}

// ---- read: the time ---------------------------------------------------------------------------

function relative(ms) {
  const units = [
    ["year", 31556952000],
    ["month", 2629746000],
    ["day", 86400000],
    ["hour", 3600000],
    ["minute", 60000],
    ["second", 1000],
  ];
  const away = ms - Date.now();
  const [unit, size] = units.find(([, from]) => Math.abs(away) >= from) || units[5];
  return new Intl.RelativeTimeFormat("en", { numeric: "auto" }).format(
    Math.round(away / size),
    unit,
  );
}

function drawTime(shown) {
  byId("timeless").hidden = Boolean(shown.time);
  byId("times").hidden = !shown.time;
  if (!shown.time) return;
  const ms = Number(BigInt(shown.unix_ns) / 1000000n);
  const inReach = Math.abs(ms) <= 8.64e15; // of a Date
  byId("time-utc").textContent = shown.time;
  byId("time-local").textContent = inReach
    ? new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" }).format(ms)
    : "farther than this browser counts";
  byId("time-relative").textContent = inReach
    ? relative(ms)
    : `about ${showCount(ms / 31556952000)} years from 1970`;
  byId("time-unix").textContent = shown.unix_ns;
}

// ---- read: asking -----------------------------------------------------------------------------

// A named scheme is read in its own form, decimal or hex; what was typed in another form is hex first.
async function showAs(id, scheme) {
  const path = (text) => `/v1/show/${encodeURIComponent(text)}`;
  try {
    return await ask(path(id), { scheme });
  } catch (refused) {
    const hex = await ask(`/v1/convert/${encodeURIComponent(id)}`, { to: "hex" }).catch(() => null);
    if (hex === null) throw refused;
    return ask(path(hex.ids[0]), { scheme });
  }
}

// As a scheme that somebody chose; the candidates are always all that fit.
async function show(id, scheme) {
  const free = ask(`/v1/show/${encodeURIComponent(id)}`, { all: 1 });
  if (scheme) {
    const [shown, best] = await Promise.all([showAs(id, scheme), free.catch(() => null)]);
    return best ? { ...shown, candidates: best.candidates } : shown;
  }
  const shown = await free;
  if (shown.scheme === null) {
    throw new Error(
      `'${shown.id}' is not an ID of a known scheme${shown.remark ? `, but ${shown.remark}` : ""}: to decode it anyway, add &scheme=NAME to the URL`,
    );
  }
  return shown;
}

async function digitsOf(id, scheme) {
  const { ids } = await ask(`/v1/convert/${encodeURIComponent(id)}`, { to: "bin", scheme });
  return ids[0];
}

async function read(id, scheme, example = false) {
  const field = byId("read-id");
  if (!example) field.value = id;
  showError(byId("read-error"), "");
  try {
    const shown = await show(id, scheme);
    const name = scheme || shown.scheme;
    const [row, digits] = await Promise.all([rowOf(name), digitsOf(shown.id, name)]);
    if (!example && field.value !== id) return; // something else was asked in the meantime
    drawReading(shown, digits, row, name, example);
  } catch (refused) {
    byId("reading").hidden = true;
    showError(byId("read-error"), refused.message);
  }
}

function drawReading(shown, digits, row, name, example) {
  reading.shown = shown;
  reading.slices = slicesOf(row, digits);
  reading.fields = fieldsOf(row, reading.slices, shown.fields);
  byId("reading").hidden = false;
  byId("read-scheme").textContent = name;
  const same = shown.id === byId("read-id").value.trim();
  byId("read-facts").textContent = example
    ? `for example ${shown.id}`
    : `${shown.bits} bits${same ? "" : `, written ${shown.id}`}`;
  byId("read-note").textContent = [row.note, row.source && `Source: ${row.source}`]
    .filter(Boolean)
    .map((text) => `${text}.`)
    .join(" ");
  drawCandidates(shown, name);
  drawBits();
  drawLegend(shown.bits);
  drawTime(shown);
  if (example) return;
  document.title = `${shown.id} is ${name} – firn`;
  say(
    `Decoded as ${name}${shown.time ? `, issued ${shown.time}` : ""}. ${shown.candidates.length - 1} other schemes fit.`,
  );
}

function drawCandidates(shown, chosen) {
  const names = shown.candidates.includes(chosen)
    ? shown.candidates
    : [chosen, ...shown.candidates];
  byId("candidates").replaceChildren(
    ...names.map((name) => {
      const button = make("button", {
        type: "button",
        textContent: name,
        "aria-pressed": String(name === chosen),
      });
      button.addEventListener("click", () => go({ read: shown.id, scheme: name }));
      return button;
    }),
  );
  byId("candidates").hidden = names.length < 2;
}

// ---- make -------------------------------------------------------------------------------------

let sources = new Map(); // what can be issued from: name -> its row of the table

// Generators of the configuration first, then every scheme that is generated.
async function listSources() {
  const rows = await schemes();
  const status = live.last || (await ask("/v1/status").catch(() => ({ generators: [] }))); // needs a token of role admin
  const own = status.generators.filter((one) => !rows.has(one.name));
  const found = new Map(
    await Promise.all(own.map(async ({ name }) => [name, await rowOf(name).catch(() => null)])),
  );
  for (const [name, row] of rows) if (row.generated) found.set(name, row);
  if ([...found.keys()].join() === [...sources.keys()].join()) return;
  sources = found;
  const select = byId("make-scheme");
  const chosen = select.value;
  const group = (label, names) =>
    make(
      "optgroup",
      { label },
      ...names.map((name) => make("option", { value: name, textContent: name })),
    );
  const names = [...found.keys()];
  const groups = [
    group(
      "Schemes",
      names.filter((name) => rows.has(name)),
    ),
  ];
  if (own.length)
    groups.unshift(
      group(
        "Configured",
        names.filter((name) => !rows.has(name)),
      ),
    );
  select.replaceChildren(...groups);
  if (found.has(chosen)) select.value = chosen;
  describeSource();
}

function describeSource() {
  const row = sources.get(byId("make-scheme").value) || null;
  const shape = (role) => !row || row.slices.some((slice) => slice.role === role);
  byId("make-note").textContent = row
    ? [`${row.bits} bits`, row.note]
        .filter(Boolean)
        .map((text) => `${text}.`)
        .join(" ")
    : "";
  byId("make-time-row").hidden = !shape("time");
  byId("make-named-row").hidden = !row || !shape("digest");
  byId("make-count-row").hidden = row !== null && shape("digest"); // of one name there is one ID
  byId("make-prefix-row").hidden = !row || row.form !== "typeid";
}

// The parameters of the form; empty boxes have none.
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
      const copy = make("button", {
        type: "button",
        textContent: "Copy",
        "aria-label": `Copy ${id}`,
      });
      copy.addEventListener("click", () => copyText(id, copy));
      const query = new URLSearchParams({ read: id, scheme: name });
      return make(
        "li",
        {},
        make("a", { href: `#${query}`, textContent: id, title: "Decode it" }),
        copy,
      );
    }),
  );
  byId("made").scrollTop = 0;
  say(byId("made-head").textContent);
}

// The clipboard's interface is there on secure origins only (https, this machine); elsewhere a box
// is selected.
async function copyText(text, button) {
  let copied = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const box = make("textarea", { value: text, className: "hidden" });
    document.body.append(box);
    box.select();
    copied = document.execCommand("copy");
    box.remove();
    button.focus();
  }
  const before = button.dataset.text || button.textContent;
  button.dataset.text = before;
  button.textContent = copied ? "Copied" : "Not allowed";
  say(copied ? "Copied" : "The browser does not let this page copy");
  setTimeout(() => {
    button.textContent = before;
  }, 1200);
}

// ---- live -------------------------------------------------------------------------------------

// The server's state, once a second while the page can be seen. Each sample is a difference of two
// looks.
const live = { last: null, at: 0, samples: [], timer: 0, asking: false, stopped: false };

async function look() {
  clearTimeout(live.timer);
  if (document.hidden || live.stopped || live.asking) return;
  live.asking = true;
  const start = performance.now();
  try {
    const status = await ask("/v1/status");
    takeStatus(status, performance.now());
  } catch (refused) {
    live.stopped = refused.status === 401 || refused.status === 403;
    showTrouble(refused);
  }
  live.asking = false;
  live.timer = setTimeout(look, Math.max(50, ASK_MS - (performance.now() - start)));
}

function showTrouble(refused) {
  const word =
    refused.status === 0 ? "no answer" : refused.status === 403 ? "not an admin" : "refused";
  showPulse(refused.status === 0 ? "bad" : "warn", word);
  for (const box of document.querySelectorAll("[data-live-error]")) showError(box, refused.message);
  if (live.stopped) showLive(false); // what is not for this token to see, or no more
  live.at = 0; // after a gap a difference is not the rate of one second
}

// Nothing is drawn of the server's state before it is known.
function showLive(known) {
  for (const part of document.querySelectorAll("[data-live]")) part.hidden = !known;
}

function showPulse(state, text) {
  byId("pulse").dataset.state = state;
  setText(byId("pulse-text"), text);
}

const sum = (numbers) => Object.values(numbers).reduce((all, one) => all + one, 0);

// The time (in microseconds) that a share of the requests did not exceed, as the end of its
// bucket; the last bucket has no end, so twice its beginning is used. null: there were no requests.
function quantile(buckets, share) {
  const all = sum(buckets.map(([, n]) => n));
  let seen = 0;
  let begin = 0;
  for (const [end, n] of buckets) {
    seen += n;
    if (all > 0 && seen >= share * all) return (end === null ? 2 * begin : end) / 1000;
    begin = end;
  }
  return null;
}

function takeStatus(status, now) {
  showLive(true);
  const before = live.last;
  const seconds = (now - live.at) / 1000;
  const [totals, old] = [status.totals, before && before.totals];
  const restarted = before && status.uptime_s < before.uptime_s;
  if (before && live.at > 0 && seconds < 5 && !restarted) {
    const buckets = totals.latency.map(([end, n], i) => [end, n - old.latency[i][1]]);
    live.samples.push({
      at: now,
      ids: (totals.ids - old.ids) / seconds,
      requests: (sum(totals.requests) - sum(old.requests)) / seconds,
      p50: quantile(buckets, 0.5),
      p99: quantile(buckets, 0.99),
    });
    if (live.samples.length > HISTORY_S) live.samples.shift();
  }
  live.last = status;
  live.at = now;
  status.generators.forEach(leftOf);
  status.segments.forEach(restOf);
  for (const box of document.querySelectorAll("[data-live-error]")) showError(box, "");
  drawLive(status);
}

function drawLive(status) {
  const newest = live.samples[live.samples.length - 1];
  showPulse(
    status.ready ? "good" : "warn",
    newest ? `${showCount(newest.ids)} IDs/s` : status.ready ? "ready" : "not ready",
  );
  const view = currentView();
  if (view === "now") drawNow(status);
  if (view === "windows") drawWindows(status);
}

// ---- now --------------------------------------------------------------------------------------

function niceAbove(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return [1, 2, 5, 10].map((n) => n * power).find((n) => n >= value);
}

// One chart: a caption with the newest values, and a line for each series. `height` maps a value
// to 0..1 of the plot.
function drawChart(figure, caption, series, ticks, height) {
  const span = [HISTORY_S / 4, HISTORY_S / 2].find((n) => n >= live.samples.length) || HISTORY_S;
  const path = (key) => {
    let line = "";
    live.samples.forEach((sample, i) => {
      const x = ((i + span - live.samples.length) / (span - 1)) * 100;
      if (sample[key] === null) return;
      const gap = i === 0 || live.samples[i - 1][key] === null;
      line += `${gap ? "M" : "L"}${x.toFixed(2)} ${(100 - 100 * height(sample[key])).toFixed(2)}`;
    });
    return line;
  };
  const svg = draw("svg", {
    viewBox: "0 0 100 100",
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  });
  for (const [value] of ticks) {
    const y = 100 - 100 * height(value);
    svg.append(draw("line", { x1: 0, x2: 100, y1: y, y2: y }));
  }
  for (const { key, style, filled } of series) {
    const line = path(key);
    const left = ((span - live.samples.length) / (span - 1)) * 100;
    if (filled && line)
      svg.append(draw("path", { class: "area", d: `${line}L100 100L${left.toFixed(2)} 100Z` }));
    svg.append(draw("path", { class: style || "", d: line, "data-series": key }));
  }
  const labels = ticks.map(([value, text]) => {
    const label = make("span", { className: "tick", textContent: text });
    label.style.top = `${100 - 100 * height(value)}%`;
    return label;
  });
  figure.replaceChildren(
    caption,
    make("div", { className: "plot" }, svg, ...labels),
    make(
      "div",
      { className: "span" },
      make("span", { textContent: `${span} s ago` }),
      make("span", { textContent: "now" }),
    ),
  );
}

function drawRate(figure, title, key) {
  const newest = live.samples.length ? live.samples[live.samples.length - 1][key] : 0;
  const top = niceAbove(Math.max(...live.samples.map((sample) => sample[key]), 10));
  const caption = make(
    "figcaption",
    {},
    title,
    make("span", { className: "value", textContent: showCount(newest) }),
  );
  drawChart(
    figure,
    caption,
    [{ key, filled: true }],
    [
      [0, "0"],
      [top / 2, showCount(top / 2)],
      [top, showCount(top)],
    ],
    (value) => value / top,
  );
}

function drawLatency(figure) {
  const newest = live.samples[live.samples.length - 1] || { p50: null, p99: null };
  const most = Math.max(1000, ...live.samples.map((sample) => sample.p99 || 0));
  const decades = Math.ceil(Math.log10(most));
  const ticks = [];
  for (let i = 0; i <= decades; i++) ticks.push([10 ** i, showSpan(10 ** i)]);
  const bound = (us) => (us === null ? "–" : `≤ ${showSpan(us)}`);
  const caption = make(
    "figcaption",
    {},
    "Latency",
    make(
      "span",
      { className: "value" },
      make("span", {}, make("span", { className: "key" }), `p50 ${bound(newest.p50)}`),
      " ",
      make(
        "span",
        {},
        make("span", { className: "key dashed tone-orange" }),
        `p99 ${bound(newest.p99)}`,
      ),
    ),
  );
  drawChart(
    figure,
    caption,
    [{ key: "p50" }, { key: "p99", style: "dashed tone-orange" }],
    ticks,
    (us) => Math.log10(us) / decades,
  );
}

function showUptime(seconds) {
  const parts = [
    [86400, "d"],
    [3600, "h"],
    [60, "min"],
    [1, "s"],
  ];
  const at = parts.findIndex(([size]) => seconds >= size);
  const [size, unit] = parts[at < 0 ? 3 : at];
  const rest = at >= 0 && at < 3 ? Math.floor((seconds % size) / parts[at + 1][0]) : 0;
  return `${Math.floor(seconds / size)} ${unit}${rest ? ` ${rest} ${parts[at + 1][1]}` : ""}`;
}

function drawFigures(figures) {
  const box = byId("figures");
  if (box.children.length !== figures.length) {
    box.replaceChildren(
      ...figures.map(([name]) => make("div", {}, make("dt", { textContent: name }), make("dd"))),
    );
  }
  figures.forEach(([, value], i) => setText(box.children[i].lastChild, value));
}

function drawNow(status) {
  drawFigures([
    ["IDs issued", showCount(status.totals.ids)],
    ["Requests", showCount(sum(status.totals.requests))],
    ["Refused", showCount(sum(status.totals.refused))],
    ["Connections", showCount(status.totals.open)],
    ["Uptime", showUptime(status.uptime_s)],
  ]);
  drawRate(byId("chart-ids"), "IDs per second", "ids");
  drawRate(byId("chart-requests"), "Requests per second", "requests");
  drawLatency(byId("chart-latency"));
}

// ---- windows ----------------------------------------------------------------------------------

// A table of [column, cell of a row]; a cell is text, or {text, share} with a bar, or {text,
// state} with a dot.
function fillTable(element, columns, rows, none) {
  const body = element.tBodies[0];
  if (!element.tHead.rows.length) {
    element.tHead.append(
      make("tr", {}, ...columns.map(([name]) => make("th", { scope: "col", textContent: name }))),
    );
  }
  if (rows.length === 0) {
    body.replaceChildren(
      make("tr", {}, make("td", { colSpan: columns.length, className: "none", textContent: none })),
    );
    return;
  }
  if (body.rows.length !== rows.length || body.querySelector(".none")) {
    body.replaceChildren(
      ...rows.map(() =>
        make(
          "tr",
          {},
          ...columns.map(([name]) =>
            make(
              "td",
              { "data-name": name },
              make(
                "div",
                {},
                make("span", { className: "dot", hidden: true }),
                make("span", { className: "text" }),
                make("span", { className: "meter", hidden: true }, make("i")),
              ),
            ),
          ),
        ),
      ),
    );
  }
  rows.forEach((row, i) =>
    columns.forEach(([, cell], j) => fillCell(body.rows[i].cells[j].firstChild, cell(row))),
  );
}

function fillCell(box, content) {
  const { text, share, state } = typeof content === "object" ? content : { text: content };
  const [dot, words, meter] = box.children;
  setText(words, String(text));
  dot.hidden = state === undefined;
  if (state !== undefined) dot.dataset.state = state;
  meter.hidden = share === undefined;
  if (share === undefined) return;
  meter.firstChild.style.width = `${Math.round(100 * Math.max(0, Math.min(1, share)))}%`;
  meter.toggleAttribute("data-low", share < 0.2);
}

// How full a window or a block is, compared with the fullest that this page has seen of it: how long the
// next will be, nobody knows.
const fullest = new Map();
function shareOf(kind, name, left) {
  const key = `${kind} ${name}`;
  fullest.set(key, Math.max(left, fullest.get(key) || 1));
  return left / fullest.get(key);
}

function leftOf(one) {
  if (!one.reserved) return "no window needed";
  if (one.window_ms === null) return { text: "none", share: 0 };
  return {
    text: `${showCount(one.window_ms)} ms`,
    share: shareOf("window", one.name, one.window_ms),
  };
}

function restOf(one) {
  if (one.left === null) return "–";
  return { text: showCount(Number(one.left)), share: shareOf("block", one.name, Number(one.left)) };
}

// By how much the last ID was ahead of the clock; an older one is not ahead.
function showLead(ns) {
  if (ns === null) return "–";
  const ms = Number(ns) / 1e6;
  return ms > 0 ? `${ms < 10 ? ms.toFixed(1) : showCount(ms)} ms` : "none";
}

// Open, or why not.
function stateOf(one) {
  if (one.trouble) return { text: one.trouble, state: "bad" };
  return one.open ? { text: "open", state: "good" } : { text: "opens on request", state: "none" };
}

const GENERATOR_COLUMNS = [
  ["Name", (one) => (one.name === one.scheme ? one.name : `${one.name} (${one.scheme})`)],
  ["Window left", leftOf],
  ["Node", (one) => (one.node === null ? "–" : one.node)],
  ["Ahead of the clock", (one) => showLead(one.lead_ns)],
  ["Issued", (one) => showCount(one.issued)],
  [
    "Clock rollbacks",
    ({ counts }) => `${counts.steps_back_absorbed} absorbed, ${counts.steps_back_left} too large`,
  ],
  ["State", stateOf],
];
const SEGMENT_COLUMNS = [
  ["Key", (one) => one.name],
  ["Last integer", (one) => (one.last === null ? "none yet" : one.last)],
  ["Left in the block", restOf],
  ["Issued", (one) => showCount(one.issued)],
  ["State", stateOf],
];
const STORE_COLUMNS = [
  ["Store", (one) => one.store],
  [
    "State",
    (one) =>
      !one.usable
        ? { text: one.trouble || "unavailable", state: "bad" }
        : one.caution
          ? { text: one.caution, state: "warn" }
          : { text: "available", state: "good" },
  ],
  ["Calls", (one) => showCount(one.calls)],
  ["Failed", (one) => showCount(one.failures)],
  ["Waiting", (one) => showCount(one.tasks)],
];

function drawWindows(status) {
  fillTable(
    byId("generators"),
    GENERATOR_COLUMNS,
    status.generators,
    "No generator is open yet: a scheme is opened on its first request.",
  );
  fillTable(byId("segments"), SEGMENT_COLUMNS, status.segments, "No segments.");
  fillTable(byId("stores"), STORE_COLUMNS, status.stores, "No store is in use.");
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
  select.replaceChildren(...all.map((name) => make("option", { value: name, textContent: name })));
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
      `${grouped.format(found.ids)} recent IDs of ${name}; the dashed line is an even share.`;
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

// What chance would do: the sum of squared deviations is near the number of shards, with a
// spread of its square root.
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

const TITLES = { read: "Read", make: "Make", now: "Now", windows: "Windows", spread: "Spread" };

const currentView = () => document.body.dataset.view;

function go(query) {
  const hash = `#${new URLSearchParams(query)}`;
  if (hash === location.hash) follow();
  else location.hash = hash;
}

// The parameters after #. A bare ID (#1541815603606036480) means #read=ID.
function place() {
  const text = location.hash.slice(1);
  const query = new URLSearchParams(text);
  if (!text || /[=&]/.test(text) || text in TITLES || byId(text)) return query;
  try {
    return new URLSearchParams({ read: decodeURIComponent(text) });
  } catch {
    return query; // a % without two digits
  }
}

// Shows the view that the URL names: #ID, #read=ID&scheme=NAME, #make=SCHEME, #now, #windows,
// #spread=GENERATOR.
function follow() {
  const query = place();
  const asked = Object.keys(TITLES).find((name) => query.has(name));
  if (!asked && currentView()) return; // a place within the page, as the skip link's
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
  read(query) {
    const id = (query.get("read") || "").trim();
    if (id) read(id, query.get("scheme"));
    else read(EXAMPLES.snowflake, null, true);
  },
  async make(query) {
    await listSources().catch((refused) => showError(byId("make-error"), refused.message));
    if (sources.has(query.get("make"))) {
      byId("make-scheme").value = query.get("make");
      describeSource();
    }
  },
  now() {},
  windows() {},
  async spread() {
    await listSpread();
    spread();
  },
};

function onKey(event) {
  const typing = event.target.closest("input, select, textarea");
  if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  const focus = () => {
    byId("read-id").focus();
    byId("read-id").select();
  };
  if (currentView() === "read") return focus();
  window.addEventListener("hashchange", focus, { once: true }); // after follow, which shows the box
  go({ read: byId("read-id").value.trim() });
}

function setTheme(name) {
  if (name) document.documentElement.dataset.theme = name;
  else delete document.documentElement.dataset.theme;
}

function listen() {
  byId("token-form").addEventListener("submit", takeToken);
  byId("read-form").addEventListener("submit", (event) => {
    event.preventDefault();
    if (byId("read-id").value.trim()) go({ read: byId("read-id").value.trim() });
  });
  byId("read-id").addEventListener("paste", () =>
    setTimeout(() => byId("read-form").requestSubmit()),
  );
  byId("bits").addEventListener("keydown", moveAmongFields);
  byId("bits").addEventListener("focusout", () => mark(null));
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
  byId("theme").addEventListener("change", (event) => {
    localStorage.setItem("firn-theme", event.target.value);
    setTheme(event.target.value);
  });
  document.addEventListener("keydown", onKey);
  document.addEventListener("visibilitychange", () => {
    live.at = 0;
    look();
  });
  window.addEventListener("hashchange", follow);
  new ResizeObserver(() => {
    if (
      reading.shown &&
      byId("bits").clientWidth &&
      laneOf(byId("bits").clientWidth) !== reading.lane
    )
      drawBits();
  }).observe(byId("bits"));
}

function start() {
  byId("theme").value = localStorage.getItem("firn-theme") || "";
  byId("make-form-name").append(
    make("option", { value: "", textContent: "its own" }),
    ...FORMS.map((form) => make("option", { textContent: form })),
  );
  byId("examples").append(
    ...Object.entries(EXAMPLES).map(([name, id]) => {
      const button = make("button", {
        type: "button",
        className: "link",
        textContent: name,
        title: id,
      });
      button.addEventListener("click", () => go({ read: id }));
      return button;
    }),
  );
  listen();
  follow();
  look();
}

setTheme(localStorage.getItem("firn-theme")); // before anything is drawn
document.addEventListener("DOMContentLoaded", start);
