// SPDX-License-Identifier: MIT
// ns per ID, call and loop included, the minimum of 600 bursts: next(), a block, an array, and what Node.js has itself, or
// packages that NODE_PATH finds. Use: bench.js [PACKAGE]; with ./wasm.js it measures WebAssembly.
'use strict'

const crypto = require('node:crypto')
const firn = require(process.argv[2] ?? '.')

function least (call, n) {
  let best = Infinity
  for (let round = 0; round < 600; round++) {
    const start = process.hrtime.bigint()
    for (let i = 0; i < n; i++) call()
    best = Math.min(best, Number(process.hrtime.bigint() - start) / n)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1) // the layout has 4096 IDs per ms and node
  }
  return best.toFixed(1)
}

function measure (scheme, options) {
  const gen = firn.open(scheme, options)
  const it = gen.ids()
  console.log(`${scheme}: next ${least(() => gen.next(), 2000)}, block ${least(() => it.next().value, 2000)}, ` +
    `array ${(least(() => gen.array(2000), 1) / 2000).toFixed(1)}`)
  gen.close()
}

function beside (name, calls) {
  try {
    const found = require(name)
    for (const [text, call] of Object.entries(calls(found))) console.log(`${text}: ${least(call, 2000)}`)
  } catch {
    console.log(`${name} is not installed`)
  }
}

if (firn.backend === 'addon') measure('snowflake', { store: 'memory:', nodes: 16 })
for (const scheme of ['uuid7', 'ulid', 'typeid', 'ksuid']) measure(scheme)
console.log(`crypto.randomUUID: ${least(() => crypto.randomUUID(), 2000)}`)
beside('uuid', ({ v7 }) => ({ 'uuid v7': () => v7() }))
beside('ulid', ({ monotonicFactory }) => ({ 'ulid, monotonic': monotonicFactory() }))
beside('@sapphire/snowflake', ({ TwitterSnowflake }) => ({ '@sapphire/snowflake': () => TwitterSnowflake.generate() }))
