// SPDX-License-Identifier: MIT
// WebAssembly for require('firn/wasm'), for require('firn') in browsers, and in place of an addon that cannot be loaded. The bytes are in
// a module, so that bundlers take them along, and compiled at once, so that nothing is awaited.
'use strict'

const api = require('./api.js')
const base64 = require('./bytes.js')
const core = require('./core.js')

// Node.js 18 has no globalThis.crypto. No literal, so that bundlers do not look for the module.
const [name] = ['node:crypto']
const crypto = globalThis.crypto ?? require(name).webcrypto
const native = core(new WebAssembly.Module(Uint8Array.from(atob(base64), char => char.charCodeAt(0))), crypto)

module.exports = api(native)
Object.defineProperty(module.exports, 'without', { value: addonError => api(native, addonError) })
