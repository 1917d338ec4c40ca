// SPDX-License-Identifier: MIT
// ns per ID, call and loop included, the least of 60 rounds: next(), a block, an array, and what Node.js has itself.
'use strict'

const crypto = require('node:crypto')
const firn = require('.')

function least (call, n) {
  let best = Infinity
  for (let round = 0; round < 60; round++) {
    const start = process.hrtime.bigint()
    for (let i = 0; i < n; i++) call()
    best = Math.min(best, Number(process.hrtime.bigint() - start) / n)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20) // the layout has 4096 IDs per ms and node
  }
  return best
}

const gen = firn.open('snowflake', { store: 'memory:', nodes: 16 })
const uuids = firn.open('uuid7')
const it = gen.ids()
const show = value => value.toFixed(1)
console.log(`snowflake: next ${show(least(() => gen.next(), 20000))}, block ${show(least(() => it.next().value, 20000))}, ` +
  `array ${show(least(() => gen.array(20000), 1) / 20000)}`)
console.log(`uuid7: next ${show(least(() => uuids.next(), 20000))}; crypto.randomUUID ${show(least(() => crypto.randomUUID(), 20000))}`)
gen.close()
