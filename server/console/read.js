// SPDX-License-Identifier: MIT
// Decodes an ID and draws it, in the console and in the decoder page. Digits, fields, time and other forms come from
// console.wasm, firn's C code compiled for the browser: the page sends nothing.
"use strict";

const EXAMPLES = {
  snowflake: "541815603606036480",
  uuid7: "0192f0c8-d1e3-7a55-9e37-79b97f4a7c15",
  ulid: "01ARZ3NDEKTSV4RRFFQ69G5FAV",
  objectid: "507f1f77bcf86cd799439011",
  ksuid: "0ujtsYcgvSTl8PAuAdqWYSMnLOv",
};
// Meanings of a field's roles, and their tones: the field takes the first one that no other field of the scheme has.
const ROLES = {
  constant: { tones: ["grey"], meaning: "the same in every ID of this scheme" },
  time: { tones: ["blue"], meaning: "time of issue" },
  node: { tones: ["orange", "red", "yellow"], meaning: "the process that issued the ID" },
  address: { tones: ["orange", "red", "yellow"], meaning: "the network address of the issuer" },
  process: { tones: ["red", "purple"], meaning: "random, drawn once per process" },
  sequence: { tones: ["green", "sky"], meaning: "distinguishes IDs of one tick" },
  counter: { tones: ["green", "sky"], meaning: "counts up from ID to ID" },
  random: { tones: ["purple", "red"], meaning: "random" },
  digest: { tones: ["purple", "red"], meaning: "hash of a namespace and a name" },
  user: { tones: ["sky", "yellow", "red"], meaning: "set by the user" },
};

// ---- the layout --------------------------------------------------------------------------------

// The slices of a scheme from the top bit down, each with its field, tone, position and digits.
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
    const meaning =
      role === "time"
        ? `${tickOf(scheme)} since ${scheme.epoch.replace("T00:00:00Z", "")}`
        : ROLES[role].meaning;
    return { name, role, tone: own[0].tone, slices: own, value: values[name] ?? own[0].value, meaning };
  });
}

function tickOf(scheme) {
  const words = {
    1000000000: "seconds",
    10000000: "units of 10 ms",
    1000000: "milliseconds",
    1000: "microseconds",
    100: "units of 100 ns",
  };
  return words[scheme.tick_ns] || `units of ${scheme.tick_ns} ns`;
}

// ---- the drawing -------------------------------------------------------------------------------

const reading = { shown: null, slices: [], fields: [], lane: 0 };

// Bits per line: as many as remain legible, and a power of two, so that bytes and words line up.
function laneOf(width) {
  return width < 560 ? 16 : 32;
}

// A slice that crosses the end of a line is drawn in pieces; the first piece is the button.
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

// Where the widest piece of a slice begins: the name is written there.
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

// Highlights a field in the drawing and in the legend.
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

// ---- the time ----------------------------------------------------------------------------------

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
    : "too far away for this browser";
  byId("time-relative").textContent = inReach
    ? relative(ms)
    : `about ${showCount(ms / 31556952000)} years from 1970`;
  byId("time-unix").textContent = shown.unix_ns;
}

// ---- console.wasm -----------------------------------------------------------------------------

// The package firn, once console.wasm is compiled; `native` returns the objects of `firn show --json` and `firn schemes --json`.
let loading = null;
async function firnHere() {
  if (typeof WebAssembly === "undefined") {
    throw new Error("this page decodes IDs with WebAssembly, which this browser lacks: turn it on, or use the command firn show");
  }
  loading ||= wasmModule().then((module) => {
    const native = firnCore(module);
    return { ...firnApi(native, firnGenerators(native)), native };
  });
  try {
    return await loading;
  } catch (error) {
    loading = null; // the next ID tries again
    throw error;
  }
}

// An error of `native` is an object with a text.
function tell(call) {
  try {
    return call();
  } catch (error) {
    throw error instanceof Error ? error : new Error(error.text);
  }
}

function attempt(call) {
  try {
    return call();
  } catch {
    return null;
  }
}

// A scheme, a layout, or a generator of the server; `asText`: its name on this page.
async function layoutOf(name) {
  const firn = await firnHere();
  const foreign = await foreignLayout(name);
  if (foreign) return { ...foreign, asText: foreign.layout };
  return { ...tell(() => firn.native.schemeObject(name, null, null, null)), asText: name };
}

// Reads the text as the scheme that the user chose: in any of its forms, else as the most likely ID.
function showAs(firn, id, layout) {
  const best = attempt(() => firn.guess(id))?.[0];
  const hex = best && attempt(() => firn.format(best.id, best.scheme, "hex"));
  const read = (text, form) => firn.native.showObject(text, layout.asText, form);
  return (
    attempt(() => read(id, null)) ||
    attempt(() => read(id, layout.form)) ||
    (hex && attempt(() => read(hex, "hex"))) ||
    tell(() => read(id, null))
  );
}

// The candidates are always all schemes that fit.
async function show(id, name) {
  const firn = await firnHere();
  if (name) {
    const layout = await layoutOf(name);
    const free = attempt(() => firn.native.showObject(id, null, null));
    const { candidates = [], formats = [] } = free || {};
    return { shown: { ...showAs(firn, id, layout), candidates, formats }, layout };
  }
  const shown = tell(() => firn.native.showObject(id, null, null));
  return { shown, layout: shown.scheme === null ? null : await layoutOf(shown.scheme) };
}

// ---- reading ----------------------------------------------------------------------------------

async function read(id, scheme, example = false) {
  const field = byId("read-id");
  if (!example) field.value = id;
  showError(byId("read-error"), "");
  try {
    const [firn, { shown, layout }] = await Promise.all([firnHere(), show(id, scheme)]);
    if (!example && field.value !== id) return; // another ID has been asked for
    drawFormats(shown.formats || []);
    drawPossible(shown, layout);
    if (layout) drawReading(firn, shown, layout, scheme || shown.scheme, example);
    else drawWithoutScheme(shown);
  } catch (refused) {
    byId("reading").hidden = byId("possible").hidden = true;
    drawFormats([]);
    showError(byId("read-error"), refused.message);
  }
}

function drawReading(firn, shown, layout, name, example) {
  reading.shown = shown;
  reading.layout = layout;
  reading.slices = slicesOf(layout, firn.format(shown.id, layout.asText, "bin"));
  reading.fields = fieldsOf(layout, reading.slices, firn.show(shown.id, layout.asText).fields);
  byId("reading").hidden = false;
  byId("read-scheme").textContent = name;
  const same = shown.id === byId("read-id").value.trim();
  byId("read-facts").textContent = example
    ? `for example ${shown.id}`
    : `${shown.bits} bits${same ? "" : `, written ${shown.id}`}`;
  byId("read-note").textContent = [layout.note, layout.source && `Source: ${layout.source}`]
    .filter(Boolean)
    .map((text) => `${text}.`)
    .join(" ");
  drawCandidates(shown, name);
  drawBits();
  drawLegend(shown.bits);
  drawTime(shown);
  drawForms(firn, shown, layout);
  beginSpan(firn, shown);
  if (example) return;
  document.title = `${shown.id} is ${name} – firn`;
  say(
    `Decoded as ${name}${shown.time ? `, issued ${shown.time}` : ""}. ${shown.candidates.length - 1} other schemes fit.`,
  );
}

// The text has no scheme: lists other formats that it may have, the most likely one first.
function drawWithoutScheme(shown) {
  byId("reading").hidden = true;
  if (shown.what === "format") {
    const [best] = shown.formats;
    document.title = `${shown.id} is ${best.format} – firn`;
    say(`Recognised as ${best.format}, ${best.sure}.`);
    return;
  }
  const possible = shown.readings.filter(({ scheme }) => scheme);
  if (possible.length > 0) {
    document.title = `${shown.id} is possibly ${possible[0].scheme} – firn`;
    say(`${possible.length} schemes are possible: choose one.`);
    return;
  }
  const remark = shown.remark ? `, but ${shown.remark}` : "";
  showError(
    byId("read-error"),
    `'${shown.id}' is not an ID of a known scheme${remark}: to decode it anyway, add &scheme=NAME to the URL`,
  );
}

// Lists the systems whose ID a number may be. A scheme is a button that decodes the number as its ID.
function drawPossible(shown, layout) {
  const readings = layout ? [] : (shown.readings || []).filter(({ scheme, owner }) => scheme || owner);
  byId("possible").hidden = readings.length === 0;
  byId("possible-list").replaceChildren(
    ...readings.map(({ scheme, format, owner, time }) => {
      const name = make(scheme ? "button" : "span", { textContent: scheme || format });
      if (scheme) {
        Object.assign(name, { type: "button", className: "link" });
        name.addEventListener("click", () => go({ read: shown.id, scheme }));
      }
      const cells = [name, time || "", owner || ""].map((text) => make("td", {}, text));
      return make("tr", {}, ...cells);
    }),
  );
}

function drawFormats(formats) {
  byId("formats").hidden = formats.length === 0;
  byId("formats-list").replaceChildren(
    ...formats.map(({ format, sure, reason, time, fields }) => {
      const lines = [["format", `${format}, ${sure}`], ...(time ? [["time", time]] : [])];
      lines.push(...Object.entries(fields), ["reason", reason]);
      return make("dl", {}, ...terms(lines));
    }),
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

// ---- other forms, and the IDs of a time span ------------------------------------------------------

const FIELDS_ALIKE = ["uuid1", "uuid6", "uuid1-swapped"]; // one converts to another

function rowWithCopy(name, text) {
  return make(
    "tr",
    {},
    make("th", { scope: "row", textContent: name }),
    make("td", { className: "mono", textContent: text }),
    make("td", {}, copyButton(name, text)),
  );
}

function drawForms(firn, shown, layout) {
  const texts = firn.forms().map((form) => [form, attempt(() => firn.format(shown.id, layout.asText, form))]);
  const sameFields = FIELDS_ALIKE.includes(layout.name) ? FIELDS_ALIKE.filter((name) => name !== layout.name) : [];
  const others = sameFields.map((name) => [
    `as ${name}`,
    attempt(() => firn.convert(shown.id, layout.name, name)),
  ]);
  const seen = new Set(["", null, reading.slices.map((slice) => slice.digits).join("")]); // the bits are drawn
  const rows = [...texts, ...others].filter(([, text]) => !seen.has(text) && seen.add(text));
  byId("forms").tBodies[0].replaceChildren(...rows.map(([name, text]) => rowWithCopy(name, text)));
}

// Starts with the day of the ID. IDs that do not sort by time have no range.
function beginSpan(firn, shown) {
  const from = firn.show(shown.id, reading.layout.asText).time;
  byId("span").hidden = !from || reading.layout.sorts === "no";
  if (byId("span").hidden) return;
  const day = (time) => time.toISOString().slice(0, 10);
  byId("span-from").value = day(from);
  byId("span-to").value = attempt(() => day(new Date(from.getTime() + 86400000))) || "";
  drawSpan(firn);
}

// The fields above the time, with their values in this ID.
function fieldsBeforeTime() {
  const { slices, fields } = reading;
  const before = slices.slice(0, slices.findIndex((slice) => slice.role === "time"));
  return fields.filter(
    ({ name, role }) => role !== "constant" && before.some((slice) => slice.field === name),
  );
}

function drawSpan(firn) {
  const scheme = reading.layout.asText;
  const kept = fieldsBeforeTime();
  const pinned = Object.fromEntries(kept.map(({ name, value }) => [name, value]));
  const [from, to] = ["span-from", "span-to"].map((id) => byId(id).value.trim());
  showError(byId("span-error"), "");
  try {
    const ids = firn.range(scheme, from, to, { pinned }).map((id) => firn.format(id, scheme));
    byId("span-ids").tBodies[0].replaceChildren(
      ...["lowest", "highest"].map((name, i) => rowWithCopy(name, ids[i])),
    );
    byId("span-note").textContent = kept.map(({ name, value }) => `with ${name} ${value}`).join(", ");
  } catch (refused) {
    byId("span-ids").tBodies[0].replaceChildren();
    byId("span-note").textContent = "";
    showError(byId("span-error"), refused.message);
  }
}

// ---- keys and pointers --------------------------------------------------------------------------

function onKey(event) {
  const typing = event.target.closest("input, select, textarea");
  if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  const focus = () => {
    byId("read-id").focus();
    byId("read-id").select();
  };
  if (document.body.dataset.view === "read") return focus();
  window.addEventListener("hashchange", focus, { once: true }); // after follow(), which shows the box
  go({ read: byId("read-id").value.trim() });
}

function listenToReading() {
  byId("read-form").addEventListener("submit", (event) => {
    event.preventDefault();
    if (byId("read-id").value.trim()) go({ read: byId("read-id").value.trim() });
  });
  byId("read-id").addEventListener("paste", () =>
    setTimeout(() => byId("read-form").requestSubmit()),
  );
  byId("bits").addEventListener("keydown", moveAmongFields);
  byId("bits").addEventListener("focusout", () => mark(null));
  byId("span").addEventListener("submit", (event) => event.preventDefault());
  byId("span").addEventListener("input", async () => drawSpan(await firnHere()));
  document.addEventListener("keydown", onKey);
  new ResizeObserver(() => {
    if (
      reading.shown &&
      byId("bits").clientWidth &&
      laneOf(byId("bits").clientWidth) !== reading.lane
    )
      drawBits();
  }).observe(byId("bits"));
  byId("examples").append(
    ...Object.entries(EXAMPLES).map(([name, id]) => {
      const button = make("button", {
        type: "button",
        className: "link",
        textContent: name,
        title: id,
      });
      button.addEventListener("click", () => go({ read: id, scheme: name }));
      return button;
    }),
  );
}

function readPlace(query) {
  const id = (query.get("read") || "").trim();
  if (id) read(id, query.get("scheme"));
  else read(EXAMPLES.snowflake, "snowflake", true);
}
