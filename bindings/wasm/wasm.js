// SPDX-License-Identifier: MIT
// WebAssembly for require('firn/wasm') on Node.js, and in place of an addon that cannot be loaded.
'use strict'

const fs = require('node:fs')
const path = require('node:path')
const api = require('./api.js')
const core = require('./core.js')

// Node.js 18 has no globalThis.crypto.
const native = core(new WebAssembly.Module(fs.readFileSync(path.join(__dirname, 'firn.wasm'))), require('node:crypto').webcrypto)

module.exports = api(native)
Object.defineProperty(module.exports, 'without', { value: addonError => api(native, addonError) })
