// SPDX-License-Identifier: MIT
// Calls while a store is stopped: a file of SQLite that another process has locked. The loop lets it continue, so a call that
// blocks the loop waits for ever.
'use strict'

const assert = require('node:assert')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const test = require('node:test')
const { Worker } = require('node:worker_threads')

const LOCK = `
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60)
connection.execute("BEGIN EXCLUSIVE")
print(1, flush=True)
sys.stdin.read()`

module.exports = (firn, here) => {
  class Store {
    constructor (busy = 60000) {
      this.path = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'firn-node-')), 'ids.db')
      this.options = { store: `sqlite:${this.path}?busy=${busy}ms`, unsafe: true, max_wait: `${busy}ms` }
      firn.open('snowflake', this.options).close()
    }

    async stop () {
      const holder = this.holder = spawn('python3', ['-c', LOCK, this.path], { stdio: ['pipe', 'pipe', 'inherit'] })
      test.after(() => holder.kill())
      await once(this.holder.stdout, 'data')
    }

    async go () {
      this.holder.stdin.end()
      await once(this.holder, 'exit')
    }

    // After turns of the loop and a task of the thread pool, which must both have room.
    async goLater () {
      for (let turns = 0; turns < 20; turns++) await new Promise(resolve => setTimeout(resolve, 1))
      await fs.promises.readFile(__filename)
      await this.go()
    }
  }

  const code = reason => ({ name: 'FirnError', code: 'ERR_FIRN_' + reason })

  test('promises wait for a store in the thread pool', async () => {
    const store = new Store()
    await store.stop()
    let going = store.goLater()
    const gen = await firn.openAsync('snowflake', store.options)
    await going
    await store.stop()
    going = store.goLater()
    const ids = await Promise.all(Array.from({ length: 100 }, () => gen.nextAsync()))
    ids.push(...await gen.manyAsync(50), gen.next(), ...await gen.manyAsync(0))
    assert.strictEqual(new Set(ids).size, 151)
    await going
    await store.stop()
    going = store.goLater()
    const [old] = await gen.atAsync('2024-02-29T12:00:00Z', 3)
    assert.strictEqual(firn.show(old, 'snowflake').timeText, '2024-02-29T12:00:00.000Z')
    await going
    await store.stop()
    going = store.goLater()
    await Promise.all([gen.closeAsync(), gen.closeAsync(), going])
    gen.close()
    await assert.rejects(gen.nextAsync(), code('USAGE'))
  })

  test('a window that is left needs no store, and no thread', async () => {
    const store = new Store()
    const gen = firn.open('snowflake', { ...store.options, window: '10s' })
    gen.next()
    await store.stop()
    const going = store.goLater()
    assert.ok(await gen.nextAsync() < gen.next())
    await going
    gen.close()
  })

  test('integers of a segment as promises', async () => {
    const store = new Store()
    await store.stop()
    let going = store.goLater()
    const segment = await firn.Segment.open('orders', { ...store.options, max_wait: undefined, kind: 'segment', step: 10 })
    await going
    await store.stop()
    going = store.goLater()
    const all = await Promise.all(Array.from({ length: 25 }, () => segment.nextAsync()))
    await going
    assert.strictEqual(new Set(all).size, 25)
    const [bad, good] = await Promise.allSettled([segment.blockAsync(-1), segment.nextAsync()])
    assert.strictEqual(bad.reason.code, 'ERR_FIRN_RANGE')
    assert.ok(good.value > all[24])
    const first = await segment.blockAsync(5)
    assert.ok(await segment.peekAsync() >= first + 5n)
    assert.ok(await segment.advanceAsync(1000) >= 1000n)
    await segment.closeAsync()
    segment.close()
    await assert.rejects(segment.nextAsync(), code('USAGE'))
  })

  test('a store that fails, fails all that wait for it', async () => {
    const store = new Store(500)
    const segment = new firn.Segment('bills', { ...store.options, max_wait: undefined })
    const gen = firn.open('snowflake', { ...store.options, window: '200ms' })
    await store.stop()
    const all = waits => Promise.allSettled(Array.from({ length: 200 }, () => waits.nextAsync()))
    const codes = async waits => [...new Set((await all(waits)).map(({ reason }) => reason?.code))].join()
    assert.strictEqual(await codes(segment), 'ERR_FIRN_STORE')
    while (await codes(gen) !== 'ERR_FIRN_STORE'); // once the window has ended
    await store.go()
    for (const waits of [segment, gen]) while (await codes(waits) !== ''); // a renewal that began before may still fail
    gen.close()
    segment.close()
  })

  test('closed while calls are in progress', async () => {
    for (const close of ['close', 'closeAsync']) {
      const store = new Store()
      const gen = firn.open('snowflake', store.options)
      const segment = new firn.Segment('a', { ...store.options, max_wait: undefined })
      await store.stop()
      const calls = Promise.allSettled([gen.nextAsync(), gen.atAsync('2024-02-29T12:00:00Z'), segment.peekAsync(), segment.nextAsync()])
      await new Promise(resolve => setTimeout(resolve, 20))
      const closed = [gen[close](), segment[close]()]
      await store.goLater()
      for (const { status, reason } of await calls) {
        assert.ok(status === 'fulfilled' || reason.code === 'ERR_FIRN_USAGE', String(reason))
      }
      await Promise.all(closed)
      assert.throws(() => gen.next(), code('USAGE'))
      assert.throws(() => segment.next(), code('USAGE'))
    }
  })

  test('calls that wait in the library wait in the pool', async () => {
    const store = new Store()
    for (const more of [{ mode: 'online' }, { full: 'wait' }, { back: 'wait' }]) {
      const gen = await firn.openAsync('snowflake', { ...store.options, ...more })
      assert.ok(await gen.nextAsync() < await gen.nextAsync())
      await gen.closeAsync()
    }
    const gen = await firn.openAsync('uuid7')
    assert.ok(await gen.nextAsync() < gen.next())
    await gen.closeAsync()
    await assert.rejects(firn.openAsync('snowflak'), code('USAGE'))
    await assert.rejects(firn.openAsync('snowflake', { store: 'nonsense' }), code('USAGE'))
    await assert.rejects(firn.Segment.open('x', { store: 'memory:', kind: 'nonsense' }), code('USAGE'))
    await assert.rejects(firn.openAsync(1), TypeError)
  })

  test('a worker thread that ends while its calls wait', async () => {
    const store = new Store()
    await store.stop()
    const worker = new Worker(`
      const { parentPort } = require('node:worker_threads')
      const firn = require(${JSON.stringify(here)})
      const gen = firn.open('uuid7')
      for (const call of [() => firn.openAsync('snowflake', ${JSON.stringify(store.options)}), () => gen.nextAsync()]) call()
      parentPort.postMessage(1)`, { eval: true })
    await once(worker, 'message')
    const ended = worker.terminate()
    await store.goLater()
    await ended
  })
}
