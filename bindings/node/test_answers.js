// SPDX-License-Identifier: MIT
// Known answers, for the addon and for WebAssembly: every case of the folder spec/, and the formats of other systems.
'use strict'

const assert = require('node:assert')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const firnSpec = require('./spec.js')

module.exports = (firn, spec) => {
  const named = (folder, ending) => fs.readdirSync(folder).filter(name => name.endsWith(ending))

  test('every case of spec/', () => {
    const files = named(spec, '.json').map(name => JSON.parse(fs.readFileSync(path.join(spec, name))))
    const { passed, failed } = firnSpec(firn, files)
    assert.deepStrictEqual(failed, [])
    assert.ok(passed > 3000)
  })

  test('a TypeID has a prefix', () => {
    const gen = firn.open('typeid', { prefix: 'user' })
    for (const id of [gen.next(), ...gen.many(2), gen.ids().next().value]) {
      assert.match(id, /^user_[0-7][0-9a-z]{25}$/)
      const { prefix, text } = firn.show(id, 'typeid')
      assert.deepStrictEqual([prefix, text], ['user', id])
      assert.strictEqual(firn.format(firn.parse(id, 'typeid', { prefix: 'user' }), 'typeid', null, { prefix: 'user' }), id)
      assert.throws(() => firn.parse(id, 'typeid', { prefix: 'org' }), { reason: 'MISMATCH' })
    }
    gen.close()
    assert.strictEqual(firn.show('prefix_0123456789abcdefghjkmnpqrs', 'typeid').fields.version, '5')
    assert.deepStrictEqual(firn.range('typeid', '2024-02-29T00:00:00Z', '2024-03-01T00:00:00Z', { prefix: 'user' }),
      ['user_01hqs2ja00e008000000000000', 'user_01hqvmz0zzfzzvzzzzzzzzzzzz'])
    assert.throws(() => firn.open('typeid', { prefix: 'User' }), { reason: 'USAGE' })
    assert.throws(() => firn.open('uuid7', { prefix: 'user' }), { reason: 'USAGE' })
    assert.throws(() => firn.format('01h455vb4pex5vsknk084sn02q', 'typeid', null, { prefix: '_' }), { reason: 'TEXT' })
  })

  test('formats of other systems', () => {
    const folder = path.join(spec, '../test/vectors/formats')
    const names = named(folder, '.tsv')
    for (const name of names) {
      const lines = fs.readFileSync(path.join(folder, name), 'utf8').trimEnd().split('\n')
      assert.deepStrictEqual(firnSpec.formats(firn, name.slice(0, -4), lines), [])
    }
    assert.ok(names.length > 25)
    const [{ format, leads, sure, time }] = firn.recognize('01HMJ0000000000000000000000-') // not an ID of anybody
      .concat(firn.recognize('00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'))
    assert.deepStrictEqual([format, leads, sure, time], ['traceparent', true, 'certain', undefined])
    for (const bad of [null, undefined, 1, {}, '\0', '\ud800']) assert.throws(() => firn.recognize(bad))
  })
}
