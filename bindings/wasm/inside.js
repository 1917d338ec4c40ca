// SPDX-License-Identifier: MIT
// The functions of a module of WebAssembly whose bytes are in a text, in base64.
'use strict'

const core = require('./core.js')

// Node.js 18 has no globalThis.crypto. No literal, so that bundlers do not look for the module.
const [name] = ['node:crypto']
const crypto = globalThis.crypto ?? require(name).webcrypto

module.exports = base64 => core(new WebAssembly.Module(Uint8Array.from(atob(base64), char => char.charCodeAt(0))), crypto)
