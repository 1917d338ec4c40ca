// SPDX-License-Identifier: MIT
// WebAssembly for require('firn/wasm'), for require('firn') in browsers, and in place of an addon that cannot be loaded. The bytes are in
// a module, so that bundlers take them along, and compiled at once, so that nothing is awaited.
'use strict'

const api = require('./api.js')
const generators = require('./generators.js')
const native = require('./inside.js')(require('./bytes.js'))

module.exports = api(native, generators(native))
Object.defineProperty(module.exports, 'without', { value: addonError => api(native, generators(native, addonError)) })
