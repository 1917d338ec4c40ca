// SPDX-License-Identifier: MIT
// Shared by the scripts of the console and the decoder page: elements, text, numbers, the clipboard.
"use strict";

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

const options = (names) => names.map((name) => make("option", { value: name, textContent: name }));

// The parts of a dl.
const terms = (pairs) =>
  pairs.flatMap(([name, value]) => [make("dt", { textContent: name }), make("dd", { textContent: value })]);

function say(text) {
  byId("said").textContent = text;
}

function showError(element, text) {
  element.textContent = text || "";
  element.hidden = !text;
}

// Changes only what differs, so that a selection of text is kept.
function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const shortened = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
const showCount = (n) => (Math.abs(n) < 100000 ? grouped.format(n) : shortened.format(n));

// Browsers offer the clipboard on secure origins only (https, localhost). Elsewhere the text is selected in a box.
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

// `what` is for screen readers: "Copy the commands of uuid7".
function copyButton(what, text) {
  const copy = make("button", { type: "button", textContent: "Copy", "aria-label": `Copy ${what}` });
  copy.addEventListener("click", () => copyText(text, copy));
  return copy;
}

// A page opened from a file may have no storage.
function keptTheme() {
  try {
    return localStorage.getItem("firn-theme") || "";
  } catch {
    return "";
  }
}

function keepTheme(name) {
  try {
    localStorage.setItem("firn-theme", name);
  } catch {
    // kept until the page is closed
  }
}

function setTheme(name) {
  if (name) document.documentElement.dataset.theme = name;
  else delete document.documentElement.dataset.theme;
}

function listenToTheme() {
  byId("theme").value = keptTheme();
  byId("theme").addEventListener("change", (event) => {
    keepTheme(event.target.value);
    setTheme(event.target.value);
  });
}

// ---- places -----------------------------------------------------------------------------------

function go(query) {
  const hash = `#${new URLSearchParams(query)}`;
  if (hash === location.hash) follow();
  else location.hash = hash;
}

// The parameters after #. A bare ID (#1541815603606036480) means #read=ID.
function place(views) {
  const text = location.hash.slice(1);
  const query = new URLSearchParams(text);
  if (!text || /[=&]/.test(text) || views.includes(text) || byId(text)) return query;
  try {
    return new URLSearchParams({ read: decodeURIComponent(text) });
  } catch {
    return query; // a % without two digits
  }
}
