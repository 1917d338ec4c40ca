// SPDX-License-Identifier: MIT
// The server's state in the console: charts, windows, segments and stores.
"use strict";

const HISTORY_S = 120; // the longest span of the charts, which start with a quarter of it
const ASK_MS = 1000; // between two readings of the server's state

function draw(tag, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

function showSpan(us) {
  if (us < 1000) return `${us} µs`;
  if (us < 1000000) return `${Number((us / 1000).toPrecision(3))} ms`;
  return `${Number((us / 1000000).toPrecision(3))} s`;
}

// ---- live -------------------------------------------------------------------------------------

// The server's state, read once a second while the page is visible. Each sample is the difference of two readings.
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
    refused.status === 0 ? "no answer" : refused.status === 403 ? "needs a token of role admin" : "refused";
  showPulse(refused.status === 0 ? "bad" : "warn", word);
  for (const box of document.querySelectorAll("[data-live-error]")) showError(box, refused.message);
  if (live.stopped) showLive(false); // this token may not see it, or no longer
  live.at = 0; // after a gap, a difference is not the rate of one second
}

// Draws nothing until the server's state is known.
function showLive(known) {
  for (const part of document.querySelectorAll("[data-live]")) part.hidden = !known;
}

function showPulse(state, text) {
  byId("pulse").dataset.state = state;
  setText(byId("pulse-text"), text);
}

const sum = (numbers) => Object.values(numbers).reduce((all, one) => all + one, 0);

// A quantile of the latencies in microseconds: the upper bound of its bucket. The last bucket has none, so twice its
// lower bound is used. null: there were no requests.
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

// Draws a chart: a caption with the newest values, and one line per series. `height` maps a value to 0..1 of the plot.
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

// A table of [column, function of a row]; a cell is text, {text, share} with a bar, or {text, state} with a dot.
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

// The rest of a window or a block, relative to the maximum that this page has seen: the length of the next one is unknown.
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

// How far the last ID was ahead of the clock.
function showLead(ns) {
  if (ns === null) return "–";
  const ms = Number(ns) / 1e6;
  return ms > 0 ? `${ms < 10 ? ms.toFixed(1) : showCount(ms)} ms` : "not ahead";
}

// "open", or the reason why it is not.
function stateOf(one) {
  if (one.trouble) return { text: one.trouble, state: "bad" };
  return one.open ? { text: "open", state: "good" } : { text: "opens on the first request", state: "none" };
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
  ["Failed calls", (one) => showCount(one.failures)],
  ["Requests waiting", (one) => showCount(one.tasks)],
];

function drawWindows(status) {
  fillTable(
    byId("generators"),
    GENERATOR_COLUMNS,
    status.generators,
    "No generator is open yet: the server opens a scheme on its first request.",
  );
  fillTable(byId("segments"), SEGMENT_COLUMNS, status.segments, "No segments.");
  fillTable(byId("stores"), STORE_COLUMNS, status.stores, "No store is in use.");
}
