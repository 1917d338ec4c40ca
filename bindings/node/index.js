// SPDX-License-Identifier: MIT
// Loads the addon; without it, WebAssembly, which has what needs no store.
'use strict'

const api = require('./api.js')
const generators = require('./generators.js')
const job = require('./job.js')

function addon () {
  const tried = []
  for (const path of [process.env.FIRN_NODE, './firn.node', './build/Release/firn.node']) {
    if (!path) continue
    try {
      return require(path)
    } catch (error) {
      tried.push(`${path}: ${error.message}`)
    }
  }
  throw new Error(`firn: the addon cannot be loaded: build it with bindings/build node\n${tried.join('\n')}`)
}

function load () {
  let native
  try {
    native = addon()
  } catch (error) {
    try {
      const wasm = require('./wasm.js').without(error)
      return { ...wasm, Job: job.refused(wasm.FirnError) }
    } catch (other) {
      throw new Error(`${error.message}\n./wasm.js: ${other.message}`)
    }
  }
  if (native.version !== native.builtFor) {
    throw new Error(`libfirn is version ${native.version}, this package is for ${native.builtFor}: install both from one release`)
  }
  const issuing = generators(native)
  return { ...api(native, issuing), Job: job(issuing.parts) }
}

module.exports = load()
