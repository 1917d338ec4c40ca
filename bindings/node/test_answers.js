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
