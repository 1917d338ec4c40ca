// SPDX-License-Identifier: MIT
// WebAssembly on Node.js: known answers, order, clock rollbacks, errors, workers, the entry points of other hosts. Run
// by node --test, where require('firn') finds the package. FIRN_SPEC is the folder of known answers.
'use strict'

const assert = require('node:assert')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const test = require('node:test')
const { Worker, isMainThread, parentPort } = require('node:worker_threads')

const firn = require('firn/wasm')
const ORDERED = ['uuid7', 'ulid', 'typeid', 'uuid6', 'xid', 'objectid', 'time:32/s@@2014-05-13T16:53:20Z sequence:32 random:96']
const ordered = scheme => firn.open(scheme, scheme.startsWith('time:') ? { output: 'base62', start: 'random:2147483648' } : {}) // ksuid

// The counter of xid and objectid starts anywhere and may pass its end within a tick.
const follows = (scheme, last, id) => id > last || (['xid', 'objectid'].includes(scheme) && Number(firn.show(id, scheme).fields.counter) === 0)

function node (script, ...flags) {
  const done = spawnSync(process.execPath, [...flags, '-e', script], { encoding: 'utf8', timeout: 300000, cwd: __dirname })
  assert.strictEqual(done.stderr, '')
  return done.stdout.trim()
}

function code (reason, call) {
  assert.throws(call, error => error instanceof firn.FirnError && error.code === 'ERR_FIRN_' + reason, `${call}`)
}

// IDs by every call in turn.
function mixed (gen, count) {
  const it = gen.ids({ maxAge: 1000 })
  const out = []
  while (out.length < count) out.push(gen.next(), ...gen.many(7), it.next().value, gen.next())
  return out
}

function main () {
  require('./test_answers.js')(firn, process.env.FIRN_SPEC)

  test('IDs ascend across all calls that issue them', () => {
    for (const scheme of ORDERED) {
      const gen = ordered(scheme)
      const ids = [...gen.many(20000), ...Array.from({ length: 20000 }, () => gen.next()), ...gen.many(5)]
      for (let i = 1; i < ids.length; i++) assert.ok(follows(scheme, ids[i - 1], ids[i]), `${scheme} ${ids[i - 1]} ${ids[i]}`)
      const all = mixed(gen, 5000) // the IDs of a block precede those issued after it
      assert.strictEqual(new Set(all).size, all.length)
    }
    for (const scheme of ['ksuid', 'uuid4']) { // random after the time; enough bits
      const ids = mixed(firn.open(scheme), 500)
      assert.strictEqual(new Set(ids).size, ids.length)
    }
  })

  test('a module that cannot be loaded says why', async () => {
    const { default: load } = await import(path.join(path.dirname(require.resolve('firn/wasm')), 'load.mjs'))
    const real = globalThis.fetch
    const refuse = () => { throw new TypeError('fetch failed') }
    try {
      for (const [answer, why] of [[() => new Response('', { status: 404 }), /status 404/], [refuse, /fetch failed/],
        [() => new Response('<html>'), /WebAssembly/], [() => new Response(''), /WebAssembly/]]) {
        globalThis.fetch = async () => answer()
        await assert.rejects(load(new URL('https://firn.example/firn.wasm'), 'firn/sync'), why)
      }
    } finally {
      globalThis.fetch = real
    }
  })

  test('a renewed identity', () => {
    const gen = firn.open('uuid1')
    const it = gen.ids({ maxAge: 1000 })
    const node = it.next().value.slice(24)
    assert.strictEqual(it.next().value.slice(24), node)
    firn.renewIdentity()
    assert.notStrictEqual(it.next().value.slice(24), node)
    gen.close()
    firn.renewIdentity() // its memory is gone
    assert.notStrictEqual(firn.open('uuid1').next().slice(24), node)
  })

  test('a clock rollback does not break the order', () => {
    const now = Date.now
    try {
      for (const scheme of ORDERED) {
        const gen = ordered(scheme)
        let last = gen.next()
        let at = now() + 1000
        for (const step of [0, 1, 5000, -1, -100, -3600000, 7, -86400000, 1000, 2 * 86400000, -1, NaN, 3]) {
          at = Number.isNaN(step) ? 0 : at + step
          Date.now = () => at
          for (const id of [...gen.many(3000), gen.next()]) {
            assert.ok(follows(scheme, last, id), `${scheme} ${step}: ${last} ${id}`)
            last = id
          }
        }
      }
    } finally {
      Date.now = now
    }
  })

  test('a clock later than 2554-07-21 is an error until it is right again', () => {
    assert.strictEqual(node(`
      const firn = require('firn/wasm')
      const now = Date.now
      const gens = ['uuid7', 'ulid', 'objectid'].map(scheme => firn.open(scheme))
      const last = gens.map(gen => gen.next())
      for (const at of [Date.UTC(2554, 6, 20), Date.UTC(2554, 6, 22), Date.UTC(2570, 0, 1), 8.64e15]) {
        Date.now = () => at
        for (const gen of at < Date.UTC(2554, 6, 21) ? [] : [...gens, firn]) {
          try { console.log((gen === firn ? firn.open('uuid7') : gen).next()) } catch (error) {
            console.log(error.code, new RegExp('shows .?' + new Date(at).getUTCFullYear() + '-.*set the clock').test(error.message) || error.message)
          }
        }
      }
      Date.now = now
      console.log(gens.every((gen, i) => gen.next() > last[i] && gen.next().length === last[i].length))`),
    'ERR_FIRN_CLOCK true\n'.repeat(12) + 'true')
  })

  test('types and forms', () => {
    for (const [scheme, options, type] of [['uuid7', {}, 'string'], ['simpleflake', {}, 'bigint'], ['simpleflake', { output: 'hex' }, 'string'],
      ['uuid7', { output: 'buffer' }, 'object'], ['ulid', { output: 'uuid' }, 'string']]) {
      const gen = firn.open(scheme, options)
      for (const id of [gen.next(), gen.many(3)[2], gen.ids().next().value]) assert.strictEqual(typeof id, type)
      gen.close()
    }
    assert.ok(firn.open('simpleflake').array(3) instanceof BigUint64Array)
    assert.strictEqual(firn.open('uuid7').array(3).length, 48)
    assert.strictEqual(firn.open('uuid7', { output: 'base58' }).next().length, 22)
    const gen = firn.open('uuid7')
    assert.strictEqual(firn.show(gen.at('2024-02-29T12:00:00.5Z')[0], 'uuid7').timeText, '2024-02-29T12:00:00.500Z')
    const start = Date.now()
    const { time } = firn.show(gen.next(), 'uuid7')
    assert.ok(Math.abs(time - start) < 172800000 * 2) // the clock of this instance has been two days ahead
    assert.strictEqual(firn.show('1541815603606036480', 'snowflake').scheme, 'snowflake')
    assert.strictEqual(firn.show('00000000-0000-1000-8000-000000000000', 'uuid1').time.getTime(), Date.UTC(1582, 9, 15))
  })

  test('errors', () => {
    for (const scheme of ['snowflake', 'tsid', 'sonyflake']) {
      assert.throws(() => firn.open(scheme, { node: scheme === 'snowflake' ? 3 : undefined }), /WebAssembly has none/)
    }
    assert.throws(() => new firn.Segment('orders'), /WebAssembly has none/)
    assert.throws(() => new firn.Series('invoices'), /numbers of a series come from a store, and WebAssembly has none/)
    code('USAGE', () => firn.open('uuid8x'))
    code('USAGE', () => firn.open('uuid7', { output: 'bigint' }))
    code('USAGE', () => firn.open('uuid7', { nonsense: 1 }))
    code('TEXT', () => firn.parse('nonsense', 'uuid7'))
    code('RANGE', () => firn.pack('snowflake', { time: '2020-01-01', datacenter: 32, worker: 0, sequence: 0 }))
    code('RANGE', () => firn.show(new Uint8Array(3), 'uuid7'))
    code('USAGE', () => new firn.Order(new Uint8Array(15)))
    code('SYSTEM', () => new firn.Mask('orders', 'mask.key'))
    for (const integer of [-1n, 1n << 64n, 10n ** 10n]) code('RANGE', () => new firn.Order(new Uint8Array(16)).write(integer))
    for (const bad of ['\0', 'a\0b', '\ud800', 'x\udfff', '', 'x'.repeat(100000), 'é', '😀', ' ', null, undefined, 1.5, {}, [], NaN]) {
      assert.throws(() => firn.open(bad))
      assert.throws(() => firn.parse(bad, 'uuid7'))
      assert.throws(() => firn.digest('uuid5', bad, 'name'))
      assert.throws(() => firn.pack('uuid7', { time: bad, sequence: 0, random: 0 }))
      assert.throws(() => firn.pack('snowflake', { time: '2020-01-01', datacenter: 1, worker: 1, sequence: bad }))
    }
    const gen = firn.open('uuid7')
    code('RANGE', () => gen.many(1 << 25))
    assert.throws(() => gen.many('3'), TypeError)
    gen.close()
    gen.close()
    for (const call of [() => gen.next(), () => gen.many(1), () => gen.array(1), () => gen.status()]) code('USAGE', call)
    assert.strictEqual(node(`
      Object.defineProperty(globalThis, 'crypto', { value: { getRandomValues () { throw new Error() } } })
      const firn = require('firn/wasm')
      try { firn.open('uuid4').next() } catch (error) { console.log(error.code) }`), 'ERR_FIRN_ENTROPY')
  })

  test('a host without globalThis.crypto, as Node.js 18', () => {
    const without = "Object.defineProperty(globalThis, 'crypto', { value: undefined }); "
    assert.strictEqual(node(without + "console.log(require('firn/wasm').open('uuid4').next().length)"), '36')
    assert.strictEqual(node(without + "console.log((await import('firn/wasm')).open('uuid4').next().length)", '--input-type=module'), '36')
  })

  test('memory is given back', () => {
    const used = script => Number(node(`
      const firn = require('firn/wasm')
      const memory = () => process.memoryUsage().external
      const before = memory()
      ${script}
      console.log(memory() - before)`, '--expose-gc'))
    assert.ok(used('for (let i = 0; i < 5000; i++) firn.open("uuid7").close()') < 4 << 20)
    assert.ok(used('for (let i = 0; i < 5000; i++) firn.show("0190163d-8694-739b-aea5-966c26f8ad91")') < 4 << 20)
    const many = process.env.TEST_SHORT ? 2000 : 10000 // which take eight seconds
    assert.ok(used(`const gens = Array.from({ length: ${many} }, () => firn.open("uuid7")); gens.map(gen => gen.next())`) < many * 40 << 10)
    assert.strictEqual(node(`
      const firn = require('firn/wasm')
      const seen = new Set()
      const round = () => { for (let i = 0; i < 500; i++) seen.add(firn.open('uuid7').next()) }
      const wait = () => new Promise(resolve => setTimeout(resolve))
      ;(async () => {
        for (let i = 0; i < 10; i++) { round(); global.gc(); await wait() }
        console.log(seen.size)
      })()`, '--expose-gc'), '5000')
  })

  test('a host without FinalizationRegistry', () => {
    assert.strictEqual(node(`
      delete globalThis.FinalizationRegistry
      const gen = require('firn/wasm').open('uuid7')
      gen.next()
      gen.close()
      console.log('closed')`), 'closed')
  })

  test('workers have their own instances', async () => {
    const parts = await Promise.all(Array.from({ length: 4 }, () => new Promise((resolve, reject) => {
      const worker = new Worker(__filename)
      worker.once('message', resolve)
      worker.once('error', reject)
    })))
    for (const ids of parts) for (let i = 1; i < ids.length; i++) assert.ok(ids[i] > ids[i - 1])
    assert.strictEqual(new Set(parts.flat()).size, 4 * 5000)
  })

  test('modules of every host have the same exports', () => {
    const exported = (all, name) => Object.keys(all).filter(key => key !== 'default').sort().join() + ` 36 wasm ${name}`
    const names = `${exported(firn, 'firn')}\n${exported(require('firn/issue'), 'firn/issue')}`
    const imported = (from, ...flags) => node(`
      import * as issue from 'firn/issue'
      import * as firn from '${from}'
      for (const [all, name] of [[firn, 'firn'], [issue, 'firn/issue']]) {
        console.log(Object.keys(all).filter(key => key !== 'default').sort().join(), all.open('uuid7').next().length, all.backend, name)
      }`, '--input-type=module', '--no-warnings', ...flags)
    assert.strictEqual(imported('firn/wasm'), names)
    // Node.js compiles no .wasm file when it is imported: this takes the place of the hosts that do
    const loader = 'data:text/javascript,' + encodeURIComponent(`
      import fs from 'node:fs'
      export const load = (url, context, next) => !/[.]wasm([?]module)?$/.test(url) ? next(url, context) : { format: 'module',
        shortCircuit: true, source: 'import fs from "node:fs"; export default new WebAssembly.Module(fs.readFileSync(' +
          JSON.stringify(new URL(url).pathname) + '))' }`)
    for (const host of ['workerd', 'edge-light', 'deno', 'bun', 'browser']) {
      assert.strictEqual(imported('firn', `--conditions=${host}`, `--experimental-loader=${loader}`), names)
    }
  })

  test('firn/issue issues what firn reads', () => {
    const issue = require('firn/issue/sync')
    for (const scheme of ORDERED) {
      const gen = issue.open(scheme, scheme.startsWith('time:') ? { output: 'base62', start: 'random:2147483648' } : {})
      const ids = [...gen.many(500), gen.next(), ...Array.from({ length: 500 }, () => gen.next())]
      for (let i = 1; i < ids.length; i++) assert.ok(follows(scheme, ids[i - 1], ids[i]), `${scheme} ${ids[i - 1]} ${ids[i]}`)
      if (!scheme.startsWith('time:')) assert.ok(Math.abs(firn.show(ids[0], scheme).time - Date.now()) < 100000, ids[0])
    }
    for (const scheme of ['uuid7', 'uuid4', 'ulid', 'ksuid']) assert.strictEqual(firn.show(issue[scheme]()).scheme, scheme)
    assert.match(issue.open('typeid', { prefix: 'user' }).next(), /^user_[0-7][0-9a-z]{25}$/)
    for (const [reason, scheme] of [['SYSTEM', 'snowflake'], ['USAGE', 'stripe'], ['USAGE', 'uuid77']]) {
      assert.throws(() => issue.open(scheme), error => error instanceof issue.FirnError && error.code === `ERR_FIRN_${reason}`)
    }
    const gen = issue.open('uuid7')
    gen.close()
    assert.throws(() => gen.next(), { code: 'ERR_FIRN_USAGE' })
  })

  test('a module of WebAssembly that is missing, or another file in its place, is named', () => {
    const there = fs.mkdtempSync(path.join(os.tmpdir(), 'firn-'))
    try {
      const from = path.dirname(require.resolve('firn/package.json'))
      for (const name of fs.readdirSync(from).filter(name => name.endsWith('.mjs'))) fs.copyFileSync(path.join(from, name), path.join(there, name))
      const said = name => node(`import(${JSON.stringify(path.join(there, name))}).catch(error => console.log(error.message))`)
      assert.match(said('issue.mjs'), /issue[.]wasm cannot be loaded [(].* import 'firn\/issue\/sync', which contains it$/)
      fs.writeFileSync(path.join(there, 'firn.wasm'), '<!doctype html>')
      assert.match(said('wasm.mjs'), /firn[.]wasm cannot be loaded [(].* import 'firn\/sync', which contains it$/)
    } finally {
      fs.rmSync(there, { recursive: true })
    }
  })
}

if (isMainThread) main()
else parentPort.postMessage(firn.open('uuid7').many(5000))
