// SPDX-License-Identifier: MIT
// Checks the package with the cases of spec/, on any host: firnSpec(firn, [parsed file...]) gives { passed, failed }.
'use strict'

function firnSpec (firn, files) {
  const failed = []
  let passed = 0
  const same = (case_, found, wanted) => {
    const text = value => JSON.stringify(value, (_, one) => typeof one === 'bigint' ? `${one}n` : one)
    if (text(found) === text(wanted)) passed++
    else failed.push(`${text(case_)}: ${text(found)}, not ${text(wanted)}`)
  }
  const hex = text => Uint8Array.from(text.match(/../g) ?? [], two => parseInt(two, 16))
  const found = call => {
    try {
      return call()
    } catch (error) {
      return error instanceof firn.FirnError ? error.message : Promise.reject(error) // another error is never right
    }
  }

  const refused = call => {
    try {
      return call()
    } catch (error) {
      return error.reason
    }
  }

  // A case with fields gives [text, ID, tick]; the text alone gives an ID; an error gives null.
  function read (file, one) {
    const { scheme } = file
    const form = one.form ?? file.form
    const digits = one.layout && scheme === 'time-random'
      ? Array.from({ length: 18 }, (_, i) => i + 1).find(n => firn.scheme(scheme, { digits: n }).layout === one.layout)
      : undefined
    const name = digits || !one.layout ? scheme : one.layout
    try {
      if (!one.fields) return [firn.parse(one.text, name, { form, digits })]
      const id = firn.pack(name, one.fields, { digits })
      const shown = firn.show(one.also ?? one.text, name, { form, digits })
      return [firn.format(id, name, form, { digits }), id === shown.id, one.tick && shown.fields.time,
        firn.format(id, name, 'hex', { digits }).padStart(one.bytes.length, '0')]
    } catch (error) {
      if (error instanceof firn.FirnError) return null
      throw error
    }
  }

  for (const file of files) {
    for (const one of file.valid ?? []) {
      const text = (one.form ?? file.form) === 'typeid' ? one.text.split('_').pop() : one.text
      same(one, read(file, one), [text, true, one.tick, one.bytes])
    }
    for (const one of file.invalid ?? []) same(one, read(file, one), null)
    for (const one of file.ranges ?? []) {
      const range = () => firn.range(file.scheme, one.from, one.to).map(id => firn.format(id, file.scheme))
      if (file.scheme === 'time-member') same(one, refused(range), 'UNSORTED') // texts of several lengths bound no range
      else same(one, found(range), [one.least, one.greatest])
    }
    for (const pair of file.pairs ?? []) {
      const order = pair.map(text => firn.format(firn.parse(text, file.scheme), file.scheme, 'hex').padStart(40, '0'))
      same(pair, order[0] < order[1], true)
    }
    for (const one of file.convert ?? []) {
      const names = ['uuid1', 'uuid6', 'uuid1-swapped'].filter(name => one[name])
      for (const from of names) for (const to of names) same(one, found(() => firn.convert(one[from], from, to)), one[to])
    }
    for (const one of file.digest ?? []) {
      for (const name of ['uuid3', 'uuid5']) same(one, found(() => firn.digest(name, one.namespace, hex(one.name_hex))), one[name])
    }
    for (const one of file.guess ?? []) same(one, firn.guess(one.text)[0]?.scheme ?? null, one.scheme)
    for (const { key, tweak, digits, check, key_id: keyId, integer, text } of file.order ?? []) {
      const order = new firn.Order(hex(key), { digits, check, key_id: keyId, tweak: tweak || undefined })
      same(text, [order.write(BigInt(integer)), order.read(text)], [text, BigInt(integer)])
    }
  }
  return { passed, failed }
}

// The same with the lines of test/vectors/formats/NAME.tsv: text, time, fields of the match.
function firnFormats (firn, name, lines) {
  const failed = []
  for (const line of lines) {
    const [id, time, fields = ''] = line.split('\t')
    if (line.startsWith('#') || time === undefined) continue
    const match = firn.recognize(id).find(({ format }) => format === name)
    const wanted = [...fields.matchAll(/(\S+?)=(.*?)(?= \S+=|$)/g)].map(([, key, value]) => [key, value])
    const good = match && (match.timeText ?? '-') === time && (time === '-' || time[0] === '+' || match.time instanceof Date) &&
      wanted.every(([key, value]) => match.fields[key] === value || match.fields[key]?.startsWith(value + ' ('))
    if (!good) failed.push(`${name}: ${line}: ${JSON.stringify(match)}`)
  }
  return failed
}

if (typeof module === 'object') module.exports = Object.assign(firnSpec, { formats: firnFormats })
