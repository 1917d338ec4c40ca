// SPDX-License-Identifier: MIT
// Choosing a scheme: the questions of /v1/choose as a form, and the server's answer with pictures. The server decides.
"use strict";

const CHOSEN = 3; // recommendations with a picture; the rest are one line each
const ENOUGH = 3; // measurements: with fewer there is no interval

// ---- the questions ----------------------------------------------------------------------------

function drawQuestion(one) {
  const id = `choose-${one.name}`;
  const taken = new Set(one.answer.split(","));
  if (one.several) {
    const boxes = one.words.map((word) => {
      const box = make("input", { type: "checkbox", name: one.name, value: word });
      box.checked = taken.has(word);
      return make("label", {}, box, ` ${word}`);
    });
    return make("fieldset", {}, make("legend", { textContent: one.question }), ...boxes.slice(1));
  }
  const input = one.words.length
    ? make("select", { id, name: one.name }, ...options(one.words))
    : make("input", { id, name: one.name, className: "mono", type: "text", inputMode: "decimal", autocomplete: "off" });
  if (one.words.length) input.value = one.answer;
  else if (one.assumed) input.placeholder = one.answer;
  else input.value = one.answer;
  return make("p", {}, make("label", { htmlFor: id, textContent: one.question }), input);
}

// The answers that differ from the defaults.
function answersOf(form) {
  const answers = {};
  for (const field of form.querySelectorAll("input[type=text], select")) {
    const value = field.value.trim();
    if (value && !(field.tagName === "SELECT" && field.selectedIndex === 0)) answers[field.name] = value;
  }
  for (const group of form.querySelectorAll("fieldset")) {
    const taken = [...group.querySelectorAll("input:checked")];
    if (taken.length) answers[taken[0].name] = taken.map((box) => box.value).join(",");
  }
  return answers;
}

// Leaves a form alone that has these answers, so that it keeps the focus.
function drawQuestions(questions, answers) {
  const form = byId("choose-form");
  const has = form.querySelector("select") ? answersOf(form) : null;
  if (has && new URLSearchParams(has).toString() === new URLSearchParams(answers).toString()) {
    for (const { name, assumed, answer } of questions) {
      const box = form.querySelector(`input#choose-${name}`);
      if (box) box.placeholder = assumed ? answer : "";
    }
    return;
  }
  byId("choose-questions").replaceChildren(...questions.map(drawQuestion));
}

// ---- pictures ---------------------------------------------------------------------------------

// The layout as one bar: one piece per slice, as wide as its share of the bits.
function drawLayout(layout) {
  const slices = slicesOf(layout, "");
  const spoken = slices.map(({ field, bits }) => `${field} ${bits}`).join(", ");
  return make(
    "div",
    { className: "layout", role: "img", "aria-label": `${layout.bits} bits: ${spoken}` },
    ...slices.map((slice) => {
      const piece = make(
        "span",
        { className: `tone-${slice.tone}`, title: `${slice.field}, ${slice.bits} bits` },
        slice.bits * 100 > layout.bits * slice.field.length * 1.6 ? slice.field : "",
      );
      piece.style.flexGrow = slice.bits;
      piece.dataset.bits = slice.bits;
      return piece;
    }),
  );
}

const MEASURES = { written_bytes_row: "written", total_bytes_row: "size", read_old_misses: "reads" };

// A figure as a bar, relative to the greatest one shown, with its interval if it has one.
function drawMeasure(figure, most) {
  const bar = make("i");
  const interval = make("b", { hidden: figure.n < ENOUGH });
  bar.style.width = `${(100 * figure.median) / most}%`;
  interval.style.left = `${(100 * figure.low) / most}%`;
  interval.style.width = `${(100 * (figure.high - figure.low)) / most}%`;
  return make(
    "div",
    { className: "figure" },
    make("span", { textContent: MEASURES[figure.metric] || figure.metric }),
    make("span", { className: "measure", "aria-hidden": "true" }, bar, interval),
    make("span", { textContent: figure.text }),
  );
}

function drawMeasures(one, all) {
  if (!one.figures.length) return [make("p", { className: "hint", textContent: "docs/study has no figures for this column." })];
  const most = (metric) =>
    Math.max(...all.flatMap((other) => other.figures.filter((at) => at.metric === metric).map((at) => (at.n < ENOUGH ? at.median : at.high))));
  return [
    ...one.figures.map((figure) => drawMeasure(figure, most(figure.metric))),
    make("p", { className: "hint", textContent: `${one.figures[0].file}: ${one.figures[0].place}. Counts of one small table in memory: use them to compare keys.` }),
  ];
}

// ---- the answer -------------------------------------------------------------------------------

function oddsOf({ odds }) {
  if (odds.model === "reserved") return "none: a store reserves each ID";
  return `${odds.year.toPrecision(3)} in a year, ${odds.ten_years.toPrecision(3)} in ten years`;
}

function drawFit(one, layout, all, rank) {
  const facts = [
    ["Wins", one.wins],
    ["Built in", one.built_in],
    ["Collision probability", oddsOf(one)],
    ["Ends", one.end || (one.odds.model === "reserved" ? null : "never")], // integers of a store: with the last one
    ["Sorts", one.sorts],
    ["Limits", one.max_nodes && `${showCount(one.node_most_per_s)} IDs per second and node, ${showCount(one.max_nodes)} nodes`],
    ["Column", one.column],
  ].filter(([, value]) => value);
  const commands = [one.sql, ...one.commands].filter(Boolean).join("\n");
  return make(
    "article",
    { className: "card fit" },
    make("h2", {}, `${rank}. ${one.name} `, make("small", { textContent: `${one.bits} bits, text: ${one.text}` })),
    ...(layout ? [drawLayout(layout)] : []),
    ...drawMeasures(one, all),
    make("dl", {}, ...terms(facts)),
    ...one.cautions.map((text) => make("p", { className: "caution", textContent: `Caution: ${text}.` })),
    make("div", { className: "commands" }, make("pre", { textContent: commands, tabIndex: 0 }), copyButton(`the commands of ${one.name}`, commands)),
  );
}

function drawRefused(refused) {
  const names = new Map();
  for (const { name, why } of refused) names.set(why, [...(names.get(why) || []), name]);
  byId("choose-refused").tBodies[0].replaceChildren(
    ...[...names].map(([why, all]) =>
      make("tr", {}, make("td", { textContent: why }), make("td", { textContent: all.join(", ") })),
    ),
  );
}

function drawNone(found) {
  const others = found.without.map(({ answer, name }) => `${answer} (then ${name} fits)`).join(", or ");
  return make(
    "p",
    { className: "error" },
    `No scheme fits${found.conflict ? `: ${found.conflict}` : ""}. ${others ? `Change one answer: ${others}.` : ""}`,
  );
}

async function drawChosen(found) {
  const shown = found.fit.slice(0, CHOSEN);
  const firn = await firnHere();
  const layout = (name) => attempt(() => firn.native.schemeObject(name, null, null, null));
  byId("chosen").replaceChildren(
    ...(shown.length
      ? shown.map((one, index) => drawFit(one, layout(one.name), shown, index + 1))
      : [drawNone(found)]),
  );
  const others = found.fit.slice(CHOSEN).map(({ name }) => name);
  byId("choose-others").textContent = others.length ? `Also possible: ${others.join(", ")}.` : "";
  drawRefused(found.refused);
  say(shown.length ? `Recommended: ${shown[0].name}` : "No scheme fits");
}

// Writes the answers into the URL, so that a recommendation can be shared.
async function enterChoose(query) {
  const answers = Object.fromEntries([...query].filter(([name]) => name !== "choose"));
  const hash = location.hash;
  showError(byId("choose-error"), "");
  try {
    const found = await ask("/v1/choose", answers);
    if (location.hash !== hash) return; // a newer answer has been requested
    drawQuestions(found.questions, answers);
    await drawChosen(found);
  } catch (refused) {
    showError(byId("choose-error"), refused.message);
    if (!byId("choose-form").querySelector("select")) drawQuestions((await ask("/v1/choose")).questions, {});
  }
}

function listenToChoosing() {
  const form = byId("choose-form");
  const choose = (event) => {
    event.preventDefault();
    go({ choose: "", ...answersOf(form) });
  };
  form.addEventListener("submit", choose);
  form.addEventListener("change", choose);
}
