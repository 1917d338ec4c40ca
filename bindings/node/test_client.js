// SPDX-License-Identifier: MIT
// firn/client has the words of the package firn: each check runs with both. FIRN_SERVE names the server.
'use strict'

const assert = require('node:assert')
const { spawn } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const test = require('node:test')

const NOON = new Date('2024-02-29T12:00:00Z')
const UUID7 = '018df4bc-5600-7000-8000-000000000001'

module.exports = (firn, here) => {
  const { Client, RequestError, UnreachableError } = require(path.join(here, 'client.js'))
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'firn-client-'))
  let server, client

  // The address that the server prints.
  const started = () => new Promise((resolve, reject) => {
    let said = ''
    server = spawn(process.env.FIRN_SERVE, ['--auto-create', '--store', `sqlite:${folder}/firn.db?create=yes`, '--unsafe', '--resp', 'none',
      '--http', '127.0.0.1:0'], { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, LD_PRELOAD: '' } })
    server.stderr.on('data', data => {
      said += data
      const found = /listener=http address=(\S+)/.exec(said)
      if (found && said.includes('event=serving')) resolve(`http://${found[1]}`)
    })
    server.on('error', reject).on('exit', () => reject(new Error(said)))
  })

  test('the client has the words of the package', { skip: !process.env.FIRN_SERVE }, async t => {
    client = new Client(await started(), { timeout: 60000, maxWait: 60000 })
    const both = (scheme, options) => [client.open(scheme, options), firn.open(scheme, { store: 'memory:', ...options })]

    await t.test('generators', async () => {
      for (const gen of both('snowflake')) {
        const ids = [await gen.next(), await gen.nextAsync(), ...await gen.many(3), ...await gen.manyAsync(2)]
        for await (const id of gen) { ids.push(id); break }
        for await (const id of gen.ids({ maxAge: 1 })) { ids.push(id); break }
        assert.deepStrictEqual([...new Set(ids.map(id => typeof id))], ['bigint'])
        assert.strictEqual(new Set(ids).size, 9)
        for (const time of [NOON, '2024-02-29T12:00:00Z', 1709208000000000000n]) {
          const [old] = await gen.at(time)
          assert.strictEqual(firn.show(old, 'snowflake').time.getTime(), NOON.getTime())
          assert.strictEqual((await gen.atAsync(time, 2)).length, 2)
        }
        await gen.closeAsync()
        await gen.close()
      }
    })

    await t.test('outputs', async () => {
      for (const [scheme, output, type, length] of [['uuid7', undefined, 'string', 36], ['uuid7', 'string', 'string', 36],
        ['uuid7', 'hex', 'string', 32], ['uuid7', 'buffer', 'object', 16], ['tsid', 'bigint', 'bigint']]) {
        for (const gen of both(scheme, { output })) {
          const id = await gen.next()
          assert.strictEqual(typeof id, type)
          assert.strictEqual(id.length, length)
          if (type === 'object') assert.ok(id instanceof Uint8Array)
          await gen.close()
        }
      }
      await assert.rejects(client.next('uuid7', { output: 'bigint' }), /output=bigint does not fit uuid7, which has 128 bits/)
    })

    await t.test('segments', async () => {
      for (const segment of [client.segment('tickets'), new firn.Segment('tickets', { store: 'memory:' })]) {
        assert.strictEqual(await segment.next(), 1n)
        const first = await segment.block(5)
        assert.ok(first > 1n)
        assert.strictEqual(await segment.increment(), 1n)
        assert.strictEqual(await segment.nextAsync() > 1n, true)
        assert.ok(await segment.blockAsync(2) > first + 4n)
        await segment.close()
      }
    })

    await t.test('what an ID contains', async () => {
      for (const [id, scheme] of [[1541815603606036480n, 'snowflake'], ['1541815603606036480', 'snowflake'], [UUID7], ['01ARZ3NDEKTSV4RRFFQ69G5FAV'],
        ['user_01kb1jc2hyfxzr2kx2ppqvv1wd'], ['f81d4fae-7dec-41d0-a765-00a0c91e6bf6', 'uuid4']]) {
        const { fields: { time, ...fields }, ...own } = firn.show(id, scheme)
        assert.deepStrictEqual(await client.show(id, scheme), { ...own, fields })
      }
      for (const text of ['1541815603606036480', 'no id']) {
        assert.throws(() => firn.show(text), firn.FirnError)
        await assert.rejects(client.show(text), firn.FirnError)
      }
    })

    await t.test('guesses, ranges, forms', async () => {
      for (const text of [UUID7, '1541815603606036480']) {
        const [own, asked] = [firn.guess(text), await client.guess(text)]
        assert.deepStrictEqual(asked.map(({ scheme }) => scheme), own.map(({ scheme }) => scheme))
        assert.strictEqual(asked[0].sure, own[0].sure)
      }
      for (const args of [['snowflake', '2026-01-06', '2026-01-07'], ['uuid7', NOON, 1767744000000000000n]]) {
        assert.deepStrictEqual(await client.range(...args), firn.range(...args))
      }
      for (const args of [[1541815603606036480n, 'snowflake', 'hex'], [1541815603606036480n, 'snowflake'], [UUID7, 'uuid7', 'base58']]) {
        assert.strictEqual(await client.format(...args), firn.format(...args))
      }
    })

    await t.test('wrong arguments', async () => {
      for (const id of [1541815603606036481, new Uint8Array(16), null]) {
        for (const show of [firn.show, client.show.bind(client)]) {
          if (!(id instanceof Uint8Array && show === firn.show)) await assert.rejects(async () => show(id, 'snowflake'), TypeError)
        }
        await assert.rejects(client.format(id, 'snowflake', 'hex'), TypeError)
      }
      assert.match(await client.next('typeid', { prefix: undefined }), /^[0-9a-z]{26}$/)
      const fetch = async () => new Response('1 1 3\n')
      const segment = new Client('http://x', { fetch, maxWait: 0 }).segment('x')
      assert.strictEqual(await segment.block(3n), 1n)
      await assert.rejects(segment.block(5), /malformed reply/)
      const other = async () => new Response('{"detail":"Not Found","code":404}', { status: 404 }) // another program's
      await assert.rejects(new Client('http://x', { fetch: other }).next('x'), { message: 'Not Found', reason: 'USAGE', code: 'ERR_FIRN_USAGE', errno: -1 })
    })

    await t.test('errors', async () => {
      const fetch = async () => new Response('{"detail":"no: wait","code":"END","cure":"wait","cure_name":"OTHER"}', { status: 409 })
      for (const [call, kind, reason] of [[() => client.next('snowfall'), RequestError, 'USAGE'], [() => firn.open('snowfall'), null, 'USAGE'],
        [() => new Client('http://127.0.0.1:1', { maxWait: 0 }).next('uuid7'), UnreachableError, 'STORE'],
        [() => new Client('http://x', { fetch }).segment('x').next(), RequestError, 'END']]) {
        await assert.rejects(async () => call(), error => {
          assert.ok(error instanceof firn.FirnError && error instanceof Error)
          assert.ok(kind === null || error instanceof kind)
          const { code, errno, cure, cureName, value, limit } = error
          assert.deepStrictEqual([error.reason, code], [reason, 'ERR_FIRN_' + reason])
          assert.strictEqual(errno, { USAGE: -1, STORE: -11, END: -22 }[reason])
          for (const part of [cure, cureName, value, limit]) assert.strictEqual(typeof part, 'string')
          return true
        })
      }
      for (const other of [new Error('x'), null, undefined, 'x', {}]) assert.ok(!(other instanceof firn.FirnError))
      assert.ok(!(new RequestError('x') instanceof UnreachableError))
      for (const [name, errno] of Object.entries(require(path.join(here, 'firn.node')).codes)) {
        assert.strictEqual(new RequestError('x', name).errno, errno)
      }
    })
  })

  test.after(() => {
    server?.removeAllListeners('exit')
    server?.kill()
    fs.rmSync(folder, { recursive: true, force: true })
  })
}
