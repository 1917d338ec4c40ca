// SPDX-License-Identifier: MIT
// The decoder page: console.wasm is in it, as base64 in `firnBytes`, and there is no server to ask.
"use strict";

const wasmModule = () => WebAssembly.compile(Uint8Array.from(atob(firnBytes), (char) => char.charCodeAt(0)));
const foreignLayout = async () => null;

// #ID or #read=ID&scheme=NAME
function follow() {
  const query = place(["read"]);
  if (query.has("read") || !reading.shown) readPlace(query);
}

setTheme(keptTheme()); // before anything is drawn
document.addEventListener("DOMContentLoaded", () => {
  listenToTheme();
  listenToReading();
  window.addEventListener("hashchange", follow);
  follow();
});
