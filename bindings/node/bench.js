// SPDX-License-Identifier: MIT
// ns per ID, call and loop included, the minimum of 600 bursts: next(), a block, an array, and what Node.js has itself, or
// packages that NODE_PATH finds; reading too. Use: bench.js [PACKAGE]; with ./wasm.js it measures WebAssembly.
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

async function beside (name, calls) {
  let found
  try {
    found = await import(require.resolve(name))
  } catch {
    console.log(`${name} is not installed`)
    return
  }
  for (const [text, call] of Object.entries(calls(found))) console.log(`${text}: ${least(call, 2000)}`)
}

async function main () {
  if (firn.backend === 'addon') measure('snowflake', { store: 'memory:', nodes: 16 })
  for (const scheme of ['uuid7', 'ulid', 'typeid', 'ksuid']) measure(scheme)
  const [text, ulid] = [firn.uuid7(), firn.ulid()]
  console.log(`uuid4(): ${least(() => firn.uuid4(), 2000)}`)
  console.log(`parse(text, uuid7): ${least(() => firn.parse(text, 'uuid7'), 2000)}`)
  console.log(`show(text, ulid): ${least(() => firn.show(ulid, 'ulid'), 2000)}`)
  console.log(`show(BigInt, snowflake): ${least(() => firn.show(1541815603606036480n, 'snowflake'), 2000)}`)
  console.log(`crypto.randomUUID: ${least(() => crypto.randomUUID(), 2000)}`)
  await beside('uuid', ({ v7, parse }) => ({ 'uuid v7': () => v7(), 'uuid parse': () => parse(text) }))
  await beside('ulid', ({ monotonicFactory, decodeTime }) => ({ 'ulid, monotonic': monotonicFactory(), 'ulid decodeTime': () => decodeTime(ulid) }))
  await beside('@sapphire/snowflake', ({ TwitterSnowflake }) => ({ '@sapphire/snowflake': () => TwitterSnowflake.generate() }))
}

main()
