// SPDX-License-Identifier: MIT
// The driver of the client for JavaScript: see test/clients/clients.py.
'use strict'
const { Client, OverloadError, UnreachableError, RequestError } = require('./client.js')

const clients = new Map()
const kept = new Map()
const verbs = {
  open (name, ...words) {
    const given = Object.fromEntries(words.map(word => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]))
    const options = { token: given.token }
    for (const [key, option] of [['timeout', 'timeout'], ['max_wait', 'maxWait'], ['block', 'block']]) {
      if (given[key]) options[option] = Number(given[key])
    }
    clients.set(name, new Client(given.addresses.split(','), options))
    return []
  },
  next: async (name, scheme) => [await clients.get(name).next(scheme)],
  many: (name, scheme, n) => clients.get(name).many(scheme, n),
  at: (name, scheme, time, n) => clients.get(name).at(scheme, time, n),
  cure: (name, scheme) => clients.get(name).next(scheme).catch(error =>
    [error.cure, error.cureName, error.value, error.limit].map(encodeURIComponent)),
  kind: async (name, scheme) => [typeof await clients.get(name).next(scheme) === 'bigint' ? 'integer' : 'text'],
  async ids (name, scheme, age, n, pause) {
    const key = [name, scheme, age].join(' ')
    if (!kept.has(key)) kept.set(key, clients.get(name).ids(scheme, { maxAge: Number(age) }))
    const taken = []
    for (let i = 0; i < n; i++) {
      if (i && pause > 0) await new Promise(resolve => setTimeout(resolve, pause))
      taken.push((await kept.get(key).next()).value)
    }
    return taken
  },
  async show (name, id) {
    const { scheme, timeText } = await clients.get(name).show(id)
    return [scheme, timeText]
  },
  range: (name, ...words) => clients.get(name).range(...words),
  convert: async (name, id, form) => [await clients.get(name).format(id, undefined, form)],
  guess: async (name, id) => (await clients.get(name).guess(id)).map(({ scheme }) => scheme),
  integer: async (name, key) => [await clients.get(name).segment(key).next()],
  async integers (name, key, n) {
    const segment = clients.get(name).segment(key)
    const first = await segment.block(n)
    const step = await segment.increment()
    return [first, first + BigInt(n - 1) * step, step]
  },
  async crowd (name, scheme) {
    const ids = clients.get(name).ids(scheme, { maxAge: 3600000 })
    const taking = Array.from({ length: 800 }, () => ids.next().then(({ value }) => value))
    const asking = Array.from({ length: 160 }, () => clients.get(name).next(scheme))
    return Promise.all([...taking, ...asking])
  },
  async spend (name, scheme, n) {
    const ids = clients.get(name).ids(scheme, { maxAge: 3600000 })
    const spent = []
    for (const [call, count] of [[() => clients.get(name).next(scheme), n], [() => ids.next(), n * 100]]) {
      const begun = performance.now()
      for (let i = 0; i < count; i++) await call()
      spent.push(Math.round((performance.now() - begun) * 1e6 / count))
    }
    return spent
  },
  print: name => [encodeURIComponent(require('util').inspect(clients.get(name), { showHidden: true, depth: 9 }))]
}

async function main () {
  for await (const line of require('readline').createInterface({ input: process.stdin })) {
    const [verb, ...words] = line.split(' ').map(decodeURIComponent)
    let said
    try {
      said = ['ok', ...await verbs[verb](...words)]
    } catch (error) {
      const kind = error instanceof OverloadError ? 'overload' : error instanceof UnreachableError ? 'unreachable' : error instanceof RequestError && 'request'
      if (!kind) throw error
      said = ['error', kind, error.reason || '-', error.message.replace(/\s+/g, ' ')]
    }
    process.stdout.write(said.join(' ') + '\n')
  }
}
main()
