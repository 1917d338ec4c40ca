// SPDX-License-Identifier: MIT
// The package firn for Node.js: known answers, types, errors, worker threads, processes. Run by node --test.
'use strict'

const assert = require('node:assert')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const test = require('node:test')
const { Worker, isMainThread, parentPort, workerData } = require('node:worker_threads')

const here = process.env.FIRN_PACKAGE ?? __dirname
const firn = require(here)
const memory = (scheme = 'snowflake', options = {}) => firn.open(scheme, { store: 'memory:', ...options })
const folder = () => fs.mkdtempSync(path.join(os.tmpdir(), 'firn-node-'))

if (!isMainThread) {
  const gen = firn.open(workerData.scheme, workerData.options)
  const it = gen.ids()
  const out = gen.many(500)
  for (let i = 0; i < 500; i++) out.push(gen.next(), it.next().value)
  parentPort.postMessage(out.map(String))
  gen.close()
} else {
  main()
}

function code (reason, call) {
  assert.throws(call, error => {
    assert.ok(error instanceof firn.FirnError, String(error))
    assert.strictEqual(error.code, 'ERR_FIRN_' + reason)
    assert.ok(error.message.length > 10)
    return true
  })
}

function main () {
  require('./test_answers.js')(firn, process.env.FIRN_SPEC ?? path.join(__dirname, '../../spec'))
  require('./test_waiting.js')(firn, here)
  require('./test_client.js')(firn, here)

  test('types', () => {
    for (const [scheme, type] of [['snowflake', 'bigint'], ['uuid7', 'string'], ['ulid', 'string'], ['tsid', 'string']]) {
      const gen = memory(scheme)
      assert.strictEqual(typeof gen.next(), type)
      assert.strictEqual(typeof gen.ids().next().value, type)
      assert.strictEqual(typeof gen.many(2)[1], type)
      gen.close()
    }
    assert.ok(memory('uuid7', { output: 'buffer' }).next() instanceof Buffer)
    assert.strictEqual(memory('uuid7', { output: 'base58' }).next().length, 22)
    assert.strictEqual(memory('snowflake', { output: 'hex' }).next().length, 16)
    for (const output of ['typo', 'uuid']) code('USAGE', () => memory('snowflake', { output }))
    code('USAGE', () => memory('uuid7', { output: 'bigint' }))
  })

  test('reading in one call of C gives what many calls give', () => {
    let read = 0
    for (const scheme of firn.schemes()) {
      let ids
      try {
        ids = memory(scheme).many(20)
      } catch {
        continue // it needs a key, or firn only reads it
      }
      read++
      for (const id of ids) {
        const slow = firn.show(id, scheme, {})
        assert.deepStrictEqual(firn.show(id, scheme), slow)
        assert.deepStrictEqual(Object.keys(firn.show(id, scheme)), Object.keys(slow))
        assert.deepStrictEqual(firn.show(slow.text, scheme), firn.show(slow.text, scheme, {}))
        assert.strictEqual(firn.parse(slow.text, scheme), firn.parse(slow.text, scheme, {}))
      }
    }
    assert.ok(read > 30, read)
    for (const wrong of ['', 'no', 'é', '\0', '\ud800', '1'.repeat(500), '01ARZ3NDEKTSV4RRFFQ69G5FA\u0156']) {
      for (const scheme of ['ulid', 'uuid7', 'snowflake']) {
        const said = call => { try { return call() } catch (error) { return [error.code, error.message] } }
        assert.deepStrictEqual(said(() => firn.parse(wrong, scheme)), said(() => firn.parse(wrong, scheme, {})))
        assert.deepStrictEqual(said(() => firn.show(wrong, scheme)), said(() => firn.show(wrong, scheme, {})))
      }
    }
    for (const wrong of [-1n, 1n << 64n, 1n << 63n, 5, null, undefined]) {
      const said = call => { try { return call() } catch (error) { return [error.code, error.message] } }
      assert.deepStrictEqual(said(() => firn.show(wrong, 'snowflake')), said(() => firn.show(wrong, 'snowflake', {})))
    }
  })

  test('order across calls', () => {
    const gen = memory()
    const it = gen.ids({ maxAge: 1000 })
    const out = [gen.next(), ...gen.many(100), ...gen.array(100), gen.next()]
    for (let i = 0; i < 1000; i++) out.push(it.next().value)
    for (let i = 1; i < out.length; i++) assert.ok(out[i] > out[i - 1])
    gen.close()
  })

  test('old blocks are dropped', () => {
    const gen = memory('uuid7')
    const it = gen.ids()
    for (let i = 0; i < 20; i++) it.next()
    const start = Date.now()
    while (Date.now() - start < 100);
    assert.ok(firn.show(it.next().value).time.getTime() >= start)
    gen.close()
  })

  test('a renewed identity', () => {
    const gen = memory()
    const drawn = firn.open('uuid1')
    const [it, uuids] = [gen.ids({ maxAge: 1000 }), drawn.ids({ maxAge: 1000 })]
    const nodes = () => [it.next().value >> 12n & 1023n, uuids.next().value.slice(24)]
    const before = nodes()
    assert.deepStrictEqual(nodes(), before)
    assert.strictEqual(firn.renewIdentity(), undefined)
    const after = nodes()
    for (const i of [0, 1]) assert.notStrictEqual(after[i], before[i])
    assert.notStrictEqual(gen.next() >> 12n & 1023n, before[0])
    gen.close()
    drawn.close()
  })

  test('back-dated', () => {
    const gen = memory()
    const at = new Date('2020-02-29T12:00:00.001Z')
    const ids = gen.at(at, 3)
    assert.strictEqual(new Set(ids).size, 3)
    for (const id of ids) assert.deepStrictEqual(firn.show(id, 'snowflake').time, at)
    assert.strictEqual(firn.show(gen.at('2021-01-01T00:00:00.001Z')[0], 'snowflake').timeText, '2021-01-01T00:00:00.001Z')
    code('LAYOUT', () => memory('uuid7').at('1969-12-31T23:59:59.5Z'))
  })

  test('many old records need no write each', () => {
    const home = folder()
    const gen = firn.open('snowflake', { store: `sqlite:${home}/ids.db`, unsafe: true, history: 'job' })
    const start = 1546300800000000000n
    const ids = gen.at(start)
    fs.renameSync(home + '/ids.db', home + '/away') // the store is gone
    for (let i = 0n; i < 100000n; i++) ids.push(gen.at(start + i * 1000003n)[0])
    fs.renameSync(home + '/away', home + '/ids.db')
    gen.close()
    assert.strictEqual(new Set(ids).size, 100001)
    assert.strictEqual(firn.show(ids.at(-1), 'snowflake').unixNs / 1000000n, (start + 99999n * 1000003n) / 1000000n)
  })

  test('a job that was killed continues with the same IDs', async () => {
    const home = folder()
    const start = 1556971200000000000n
    const times = Array.from({ length: 3000 }, (_, i) => start + BigInt(i * 7919 % 1000) * 1000000n) // out of order, some equal
    const options = { name: 'orders', digest: 7n, store: `sqlite:${home}/ids.db`, unsafe: true }
    const half = `
      const fs = require('node:fs')
      const job = new (require(${JSON.stringify(here)}).Job)('snowflake', { ...${JSON.stringify({ ...options, digest: 7 })}, digest: 7n })
      for (let i = 0; i <= 1000; i++) fs.appendFileSync(${JSON.stringify(home + '/ids')}, job.next(${start}n + BigInt(i * 7919 % 1000) * 1000000n) + ' ')
      process.kill(process.pid, 'SIGKILL')
      setInterval(() => {}, 1000)`
    assert.strictEqual(spawnSync(process.execPath, ['-e', half]).signal, 'SIGKILL')
    const written = fs.readFileSync(home + '/ids', 'utf8').trim().split(' ').map(BigInt)
    assert.strictEqual(written.length, 1001)
    const again = new firn.Job('snowflake', options)
    const beside = await firn.Job.open('snowflake', options)
    const others = new firn.Job('snowflake', { ...options, name: 'others' })
    assert.deepStrictEqual([again.again, beside.again, others.again], [true, true, false])
    const ids = times.map(time => again.next(time))
    assert.deepStrictEqual(ids.slice(0, 1001), written)
    assert.deepStrictEqual(times.map(time => beside.next(time)), ids)
    const gen = firn.open('snowflake', { store: options.store, unsafe: true })
    assert.strictEqual(new Set([...ids, ...times.map(time => others.next(time)), ...gen.many(10)]).size, 6010)
    gen.close()
    for (const other of [{ digest: 8n }, { disorder: 3 }, { seed: 'other' }]) {
      code('TAKEN', () => new firn.Job('snowflake', { ...options, ...other }))
    }
    await assert.rejects(firn.Job.open('snowflake', { ...options, digest: 8n }), { code: 'ERR_FIRN_TAKEN' })
  })

  test('what a job takes', () => {
    const full = new firn.Job('snowflake', { node: 3, maxShift: 0 })
    const time = new Date('2019-05-04T12:00:00Z')
    const first = Array.from({ length: 4096 }, () => full.next(time))
    code('FULL', () => full.next(time))
    assert.deepStrictEqual([full.next('2019-05-04T12:00:00.001Z') - first[0], full.shiftNs, full.again], [1n << 22n, 0, false])
    full.close()
    full.close()
    code('USAGE', () => full.next(time))
    code('USAGE', () => full.shiftNs)
    const job = new firn.Job('snowflake', { node: 3 })
    assert.deepStrictEqual(first.map(() => job.next(time)), first)
    job.next(time)
    assert.strictEqual(job.shiftNs, 1000000)
    assert.strictEqual(typeof new firn.Job('uuid7', { seed: 'a seed of sixteen' }).next(time), 'string')
    assert.strictEqual(new firn.Job('uuid7', { seed: 'a seed of sixteen', output: 'buffer' }).next(time).length, 16)
    code('USAGE', () => new firn.Job('uuid7'))
    code('USAGE', () => new firn.Job('snowflake', { name: 'orders' }))
    code('USAGE', () => new firn.Job('snowflake', { store: 'memory:', digest: 1n }))
    code('USAGE', () => new firn.Job('snowflake', { node: 3, window: '3s' }))
    code('USAGE', () => new firn.Job('uuid7', { seed: 'x', output: 'bigint' }))
    code('RANGE', () => new firn.Job('snowflake', { node: 3, digest: 1n << 64n }))
    assert.throws(() => new firn.Job('snowflake', { node: 3, digest: '' }), /digest is a BigInt, such as .*, not string/)
    code('RANGE', () => new firn.Job('snowflake', { node: 3, maxShift: 86400001 }))
    assert.throws(() => new firn.Job('snowflake', { node: 3, maxShift: '1s' }), TypeError)
  })

  test('segments and statuses', () => {
    const store = `sqlite:${folder()}/ids.db`
    const segment = new firn.Segment('orders', { store, kind: 'serial' })
    for (const n of ['x', '3', 1.5, undefined]) assert.throws(() => segment.block(n), /TypeError: n is an integer, not/)
    code('RANGE', () => segment.block(2 ** 60))
    assert.deepStrictEqual([segment.next(), segment.block(3), segment.next(), segment.advance(100), segment.next()],
      [1n, 2n, 5n, 100n, 100n])
    segment.close()
    segment.close()
    code('USAGE', () => segment.next())
    const gen = memory('snowflake', { node: 33 })
    gen.next()
    assert.strictEqual(gen.status().node, 33)
    assert.strictEqual(gen.status().stays, false)
    gen.close()
  })

  test('series', async () => {
    const store = `sqlite:${folder()}/ids.db`
    const invoices = new firn.Series('invoices', { store, unsafe: true, template: 'INV{counter:4}' })
    assert.deepStrictEqual([invoices.peek(), invoices.next(), invoices.many(2)], ['INV0001', 'INV0001', ['INV0002', 'INV0003']])
    assert.deepStrictEqual([invoices.read('INV0003'), invoices.definition], [3n, 'template=INV{counter:4} zone=UTC restart=never late=0 grow=0'])
    assert.deepStrictEqual(await Promise.all([invoices.nextAsync(), invoices.manyAsync(2), invoices.peekAsync(new Date())]),
      ['INV0004', ['INV0005', 'INV0006'], 'INV0007'])
    const again = await firn.Series.open('invoices', { store, unsafe: true })
    assert.strictEqual(again.next('2026-11-20T12:00:00Z'), 'INV0007')
    code('USAGE', () => again.next('2026-11-20'))
    const waits = again.nextAsync()
    await Promise.resolve().then(() => {})
    code('USAGE', () => again.next())
    assert.strictEqual(await waits, 'INV0008')
    code('TEXT', () => invoices.read('INV3'))
    code('RANGE', () => invoices.many(0))
    code('END', () => invoices.many(9999))
    await Promise.all([again.closeAsync(), again.closeAsync()])
    invoices.close()
    invoices.close()
    code('USAGE', () => invoices.next())
    code('USAGE', () => new firn.Series('none', { store, unsafe: true }))
  })

  test('masks', () => {
    const file = `${folder()}/mask.key`
    fs.writeFileSync(file, `1 ${'0'.repeat(64)}\n`, { mode: 0o600 })
    const orders = new firn.Mask('orders', file, { width: 'uuid', fingerprint: '78555f0c' })
    const [id, masked] = ['017f22e2-79b0-7cc3-98c4-dc0c0c07398f', 'ee4010b4-ae5e-47e1-b9da-ad69663a79d9']
    assert.deepStrictEqual([orders.mask(id), orders.unmask(masked), orders.fingerprint], [masked, id, '78555f0c'])
    const numbers = new firn.Mask('orders', file)
    assert.deepStrictEqual([numbers.mask(1541815603606036480n), numbers.unmask('1545844954938404436')],
      [1545844954938404436n, '1541815603606036480'])
    const coded = new firn.Mask('orders', file, { as: 'base58' })
    assert.deepStrictEqual([coded.mask('1541815603606036480'), coded.unmask('4b7xxg9Yn5Zy77y')], ['4b7xxg9Yn5Zy77y', '1541815603606036480'])
    code('MISMATCH', () => coded.unmask('4b7xxg9Yn5Zy77x'))
    const ring = `${folder()}/ring.key`
    fs.writeFileSync(ring, `1 ${'0'.repeat(64)}\n2 ${'7'.repeat(64)}\n`, { mode: 0o600 })
    const after = new firn.Mask('orders', ring, { prefix: 'ord', key_number: 2 })
    assert.strictEqual(after.unmask('ord_1_4b7xxg9Yn5Zy77y'), '1541815603606036480')
    assert.match(after.mask('77'), /^ord_2_/)
    code('USAGE', () => after.mask(77n))
    code('USAGE', () => new firn.Mask('orders', ring))
    // Published by the ports of UUIDv47 for Go and Ruby: see test/vectors/uuid47.tsv.
    for (const [key, plain, hidden] of [
      ['efcdab89674523011032547698badcfe', '018f2d9f-9a2a-7def-8c3f-7b1a2c4d5e6f', '2463c780-7fca-4def-8c3f-7b1a2c4d5e6f'],
      ['efcdab89674523011032547698badcfe', '00000000-0000-7000-8000-000000000000', '22d97126-9609-4000-8000-000000000000'],
      ['efcdab89674523011032547698badcfe', '00000010-007b-7aad-9032-547698badcfe', 'bc75bd50-97ef-4aad-9032-547698badcfe'],
      ['1581e97df4102211b10cb7e3b8871089', '01996ba2-996c-7472-aece-b7c149213a7b', '8874573e-e474-4472-aece-b7c149213a7b']]) {
      const half = `${folder()}/half.key`
      fs.writeFileSync(half, `1 ${key}\n`, { mode: 0o600 })
      const old = new firn.Mask('old', half, { width: 'uuid47' })
      assert.deepStrictEqual([old.mask(plain), old.unmask(hidden)], [hidden, plain])
    }
    code('TEXT', () => orders.mask('x'))
    code('RANGE', () => numbers.mask(-1n))
    code('USAGE', () => new firn.Mask('orders', file, { fingerprint: '78555f0c' }))
    code('IO', () => new firn.Mask('orders', `${file}.none`))
  })

  test('errors', () => {
    assert.throws(() => firn.open('snowflak'), { name: 'FirnError', code: 'ERR_FIRN_USAGE', reason: 'USAGE', errno: -1, cure: /did you mean/, cureName: 'SPELLING', value: 'snowflak', limit: '' })
    code('TEXT', () => firn.parse('nonsense', 'uuid7'))
    code('RANGE', () => firn.pack('snowflake', { time: '2020-01-01', datacenter: 32, worker: 0, sequence: 0 }))
    code('USAGE', () => memory('snowflake', { nonsense: 1 }))
    const gen = memory()
    for (const n of [-1, 1e9, Number.MAX_SAFE_INTEGER]) code('RANGE', () => gen.many(n))
    for (const n of [NaN, Infinity, 1.5, '3', null, undefined, {}, 3n]) assert.throws(() => gen.many(n), TypeError)
    for (const maxAge of [0, -1, 1001, NaN, Infinity, '1', null]) code('RANGE', () => gen.ids({ maxAge }))
    for (const bad of [null, undefined, 1.5, {}, [], NaN, true, Symbol('x'), new Date(NaN)]) {
      assert.throws(() => gen.at(bad))
      assert.throws(() => firn.pack('uuid7', { time: bad, sequence: 0, random: 0 }))
      assert.throws(() => firn.open(bad))
      assert.throws(() => firn.parse(bad, 'uuid7'))
    }
    for (const text of ['\0', 'a\0b', '\ud800', 'x\udfff', '', 'x'.repeat(100000), 'é', '😀', ' ']) {
      assert.throws(() => firn.open(text))
      assert.throws(() => firn.parse(text, 'uuid7'))
      assert.throws(() => firn.pack('snowflake', { time: '2020-01-01', datacenter: 1, worker: 1, sequence: text }))
      assert.throws(() => firn.pack('snowflake', { time: '2020-01-01', [text]: 1 }))
    }
    for (const value of [-1, 4096, 1n << 64n, 1n << 200n, 1.5, NaN, [], '0'.repeat(250) + '1']) {
      assert.throws(() => firn.pack('snowflake', { time: '2020-01-01', datacenter: 1, worker: 1, sequence: value }))
    }
    assert.throws(() => firn.show(2124449430815301632, 'snowflake'), /rounded/) // a number
    code('RANGE', () => firn.show(1n << 64n, 'snowflake'))
    assert.throws(() => firn.Generator.prototype.next.call({}), TypeError)
    gen.close()
    gen.close()
    for (const call of [() => gen.next(), () => gen.many(1), () => gen.array(1), () => gen.status(), () => gen.at(new Date())]) {
      code('USAGE', call)
    }
  })

  test('many generators, collected', { skip: !global.gc }, async () => {
    let gens = Array.from({ length: 10000 }, () => memory('uuid7'))
    assert.strictEqual(new Set(gens.map(gen => gen.next())).size, 10000)
    gens = null
    for (let i = 0; i < 5; i++) {
      global.gc()
      await new Promise(resolve => setImmediate(resolve))
    }
  })

  test('a window is renewed by the timer, and not after close', async () => {
    const gen = firn.open('snowflake', { store: `sqlite:${folder()}/ids.db`, window: '50ms', unsafe: true })
    const seen = new Set()
    const limit = Date.now() + 60000
    while (gen.status().renewals < 3 && Date.now() < limit) {
      try {
        seen.add(gen.next())
      } catch (error) { // a busy machine may renew late
        if (error.code !== 'ERR_FIRN_WINDOW') throw error
      }
      await new Promise(resolve => setTimeout(resolve, 5))
    }
    assert.ok(gen.status().renewals >= 3)
    gen.close()
  })

  test('worker threads', async () => {
    const store = `sqlite:${folder()}/ids.db`
    for (const [scheme, options] of [['snowflake', { store, unsafe: true }], ['uuid7', {}]]) {
      const parts = await Promise.all(Array.from({ length: 4 }, () => new Promise((resolve, reject) => {
        const worker = new Worker(__filename, { workerData: { scheme, options } })
        worker.once('message', resolve)
        worker.once('error', reject)
      })))
      const ids = parts.flat()
      assert.strictEqual(ids.length, 4 * 1500)
      assert.strictEqual(new Set(ids).size, ids.length)
      assert.strictEqual(new Set([...ids, ids[7]]).size, ids.length) // what this would find
    }
  })

  test('processes of a cluster repeat nothing', () => {
    const script = `const cluster = require('node:cluster'); const firn = require(${JSON.stringify(here)})
      const seen = new Set()
      let count = 0
      if (cluster.isPrimary) {
        for (let i = 0; i < 3; i++) cluster.fork()
        cluster.on('message', (worker, ids) => {
          for (const id of ids) seen.add(id) && count++
          if (count === 3000) console.log(seen.size)
          worker.disconnect()
        })
      } else {
        const gen = firn.open('snowflake', { store: 'sqlite:${folder()}/ids.db', unsafe: true })
        const it = gen.ids()
        const ids = gen.many(500)
        for (let i = 0; i < 250; i++) ids.push(gen.next(), it.next().value)
        process.send(ids.map(String))
      }`
    const file = path.join(folder(), 'cluster.js')
    fs.writeFileSync(file, script)
    const done = spawnSync(process.execPath, [file], { encoding: 'utf8', timeout: 300000 })
    assert.strictEqual(done.stderr + done.stdout, '3000\n')
  })

  test('arguments that throw, and a package that is loaded again', () => {
    const mine = new RangeError('mine')
    const evil = { toString () { throw mine }, valueOf () { throw mine }, [Symbol.toPrimitive] () { throw mine } }
    const traps = new Proxy({}, { get () { throw mine }, ownKeys () { throw mine } })
    const gen = memory()
    for (const call of [() => firn.open('snowflake', traps), () => firn.pack('snowflake', traps), () => firn.show('1', 'snowflake', traps),
      () => gen.ids(traps), () => new firn.Order(new Uint8Array(16), traps), () => new firn.Segment('x', traps)]) {
      assert.throws(call, error => error === mine)
    }
    for (const call of [() => gen.many(evil), () => firn.open(evil), () => firn.show(evil), () => memory('snowflake', { node: evil })]) assert.throws(call)
    for (let i = 0; i < 20; i++) {
      for (const name of Object.keys(require.cache).filter(name => name.startsWith(here))) delete require.cache[name]
      const again = require(here)
      assert.notStrictEqual(again, firn)
      assert.throws(() => again.open('snowflak'), again.FirnError)
      assert.ok(gen.next() < gen.next())
    }
    gen.close()
  })

  test('nothing leaks', { skip: !global.gc || process.env.LD_PRELOAD !== undefined }, async () => {
    const work = n => {
      for (let i = 0; i < n; i++) {
        const gen = memory('uuid7')
        gen.ids().next()
        gen.many(10)
        firn.show(gen.array(1), 'uuid7')
        firn.recognize('V1StGXR8_Z5jdHi6B-myT')
        assert.throws(() => firn.parse('x', 'uuid7'))
        gen.close()
      }
    }
    const grown = []
    work(500)
    while (grown.length < 6 && !(grown.at(-1) < 2000 * 200)) { // a leak grows each time, a heap does not
      const before = process.memoryUsage().rss
      for (let i = 0; i < 4; i++) {
        work(500)
        global.gc()
        await new Promise(resolve => setImmediate(resolve))
      }
      grown.push(process.memoryUsage().rss - before)
    }
    assert.ok(grown.at(-1) < 2000 * 200, `${grown}`)
  })

  test('the process ends with generators open', () => {
    for (const end of ['', 'process.exit(3)', 'gen.next(); new Promise(() => {})']) {
      const script = `const firn = require(${JSON.stringify(here)}); const gen = firn.open('snowflake', { store: 'memory:' }); ` +
        `const it = gen.ids(); it.next(); ${end}`
      const done = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8', timeout: 300000 })
      assert.strictEqual(done.stderr, '')
      assert.strictEqual(done.status, end.includes('3') ? 3 : 0)
    }
  })

  test('functions that need no store', () => {
    for (const [call, scheme] of [[firn.uuid7, 'uuid7'], [firn.uuid4, 'uuid4'], [firn.ulid, 'ulid'], [firn.ksuid, 'ksuid'], [() => firn.typeid('user'), 'typeid']]) {
      const ids = Array.from({ length: 1000 }, () => call())
      assert.strictEqual(new Set(ids).size, 1000)
      assert.ok(firn.parse(ids[0], scheme))
      if (scheme !== 'uuid4' && scheme !== 'ksuid') assert.deepStrictEqual([...ids].sort(), ids)
    }
    assert.match(firn.typeid('user'), /^user_01/)
    assert.match(firn.typeid(), /^01/)
  })

  test('an ES module has the same exports', () => {
    const script = `import * as all from ${JSON.stringify(path.join(here, 'index.mjs'))}; console.log(Object.keys(all).sort().join())`
    const done = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
    assert.strictEqual(done.stdout.trim(), [...Object.keys(firn), 'default'].sort().join())
    const types = fs.readFileSync(path.join(here, 'index.d.ts'), 'utf8')
    const declared = [...types.matchAll(/^export (?:class|function|const) (\w+)/gm)].map(([, name]) => name)
    assert.deepStrictEqual([...new Set(declared)].sort(), Object.keys(firn).sort())
    const list = name => [...types.match(new RegExp(`type ${name} =([^\n]*\n(?:  [^\n]*\n)*)`))[1].matchAll(/'([^']+)'/g)].map(([, word]) => word)
    const schemes = firn.schemes().map(name => firn.scheme(name)).filter(({ name }) => name !== 'order')
    const isNumber = ({ bits, form }) => bits <= 64 && (form === 'dec' || form === 'unsigned')
    const named = test => schemes.filter(test).map(({ name }) => name).sort()
    assert.deepStrictEqual(list('NumberScheme').sort(), named(isNumber))
    assert.deepStrictEqual(list('TextSchemeOf64Bits').sort(), named(scheme => !isNumber(scheme) && scheme.bits <= 64))
    assert.deepStrictEqual([...list('TextSchemeOf64Bits'), ...list('TextScheme')].sort(), named(scheme => !isNumber(scheme)))
  })
}
