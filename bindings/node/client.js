// SPDX-License-Identifier: MIT
// Unique IDs from firn serve, over HTTP, with fetch: Node.js 18, Deno, Bun and edge runtimes. One file, without
// dependencies, addon or libfirn.
//
//     const { Client } = require('firn/client')
//     const ids = new Client(['http://ids1:7380', 'http://ids2:7380'])
//     await ids.next('snowflake')                        // one ID: strict order, fresh time
//     await ids.many('uuid7', 3)                         // an array of three
//     for await (const id of ids.ids('snowflake')) break // from blocks, at most 1 ms old
//
// IDs are BigInts up to 64 bits, else strings. Worker threads and processes make their own clients.
'use strict'

// Next.js caches what fetch returns by default: a kept reply would issue its IDs again. Workers that have
// no such option refuse it.
const UNCACHED = 'cache' in Request.prototype ? { cache: 'no-store' } : {}

// Every error of this file. `reason` is the name of the server's error ('USAGE', 'STORE'), or its HTTP status, or ''; so is
// `code`, the older word, which means 'ERR_FIRN_USAGE' in the package firn.
// `cure` (what to do, a part of the message), `cureName` (its name in firn.h), `value` and `limit`: '' if the server's
// error has none.
class FirnClientError extends Error {
  constructor (message, code = '', { cure = '', cure_name: cureName = '', value = '', limit = '' } = {}) {
    super(message)
    Object.assign(this, { name: this.constructor.name, code, reason: code, cure, cureName, value, limit })
  }
}

// Servers answered that they cannot issue now, for longer than maxWait. Try again later.
class OverloadError extends FirnClientError {}

// No server answered within maxWait.
class UnreachableError extends FirnClientError {}

// The request is wrong: an unknown scheme, a count out of range, a wrong token, the end of a segment. Never retried.
class RequestError extends FirnClientError {}

// A client of one or several servers that share a store. It asks the first one that answers, and stays with it until it
// fails.
class Client {
  #addresses; #options; #headers; #current = 0; #outputs = new Map()

  // addresses: 'http://host:7380' or 'https://host:7380', or an array of them
  // token: authenticates
  // timeout: milliseconds for a connection and a reply (more than the server's wait)
  // maxWait: milliseconds of retries. A call ends within timeout + maxWait
  // block: the greatest number of IDs that an iterator keeps
  // fetch: instead of the global one, for certificates, proxies, tests
  constructor (addresses = 'http://127.0.0.1:7380', { token, timeout = 2500, maxWait = 5000, block = 256, fetch } = {}) {
    this.#addresses = [addresses].flat().map(address => address.replace(/\/+$/, ''))
    for (const address of this.#addresses) {
      if (!/^https?:\/\/[^/?#@]+(\/[^?#@]*)?$/.test(address)) {
        throw new TypeError(`the address ${address.replace(/\/\/.*@/, '//')} is not valid: use http://HOST:PORT`)
      }
    }
    if (token !== undefined && !/^[!-~]+$/.test(token)) throw new TypeError('the token has a character that is not printable ASCII, such as a line end: remove it')
    if (!this.#addresses.length) throw new TypeError('there are no addresses: give at least one')
    this.#options = { timeout, maxWait, block, fetch: fetch || globalThis.fetch }
    this.#headers = { accept: 'text/plain', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) }
  }

  // Returns one ID. fields: as: a text form; other fields belong to the scheme, such as { prefix: 'user' }.
  async next (name, fields = {}) {
    return (await this.many(name, 1, fields))[0]
  }

  // n IDs (1 to 65536), in order.
  async many (name, n, { as, ...fields } = {}) {
    const output = as ? { as, integers: false } : await this.#output(name)
    const query = Object.entries(fields).map(([key, value]) => [key, text(value)])
    return this.#call('POST', ['new', name], [...query, ['n', n], ['as', output.as]], body => idsOf(body, n, output.integers))
  }

  // n IDs of a past time: a Date, or text such as '2024-02-29T12:00:00Z'.
  at (name, time, n = 1, fields = {}) {
    return this.many(name, n, { ...fields, time })
  }

  // An endless asynchronous iterator that takes IDs from blocks: an ID is at most maxAge milliseconds old.
  ids (name, { maxAge = 1, ...fields } = {}) {
    return new Ids(this, name, maxAge, this.#options.block, fields)
  }

  // The fields of an ID: scheme, timeText, unixNs, fields, candidates ... `time` and `unix_ns`, the older words, are the
  // texts of the server; in the package firn, `time` is a Date.
  show (id, scheme) {
    return this.#call('GET', ['show', id], [...(scheme ? [['scheme', scheme]] : []), ['format', 'json']], body => {
      const shown = JSON.parse(body)
      if (!shown || !shown.id) return undefined
      return shown.unix_ns ? { ...shown, timeText: shown.time, unixNs: BigInt(shown.unix_ns) } : shown
    })
  }

  // The schemes that an ID may be of, the likeliest first.
  async guess (id) {
    return (await this.show(id)).candidates || []
  }

  // The least and the greatest ID of a time span; `to` is not included.
  async range (scheme, from, to) {
    const { integers } = await this.#output(scheme)
    return this.#call('GET', ['range', scheme], [['from', text(from)], ['to', text(to)]], body => idsOf(body, 2, integers))
  }

  // An ID in another form or scheme, as text.
  async convert (id, form) {
    return (await this.#call('GET', ['convert', id], [['to', form]], body => idsOf(body, 1, false)))[0]
  }

  // The next integer of a segment, as a BigInt.
  async integer (key) {
    return (await this.#call('POST', ['segments', key], [['n', 1]], body => idsOf(body, 1, true)))[0]
  }

  // Reserves n integers of a segment: { first, last, step } as BigInts.
  integers (key, n) {
    return this.#call('POST', ['block', key], [['n', n]], body => {
      const found = /^(\d{1,19}) (\d{1,19}) (\d{1,19})\n$/.exec(body)
      if (!found) return undefined
      const [first, step, count] = found.slice(1).map(BigInt)
      return { first, last: first + (count - 1n) * step, step }
    })
  }

  // The form to ask for, and whether that is a BigInt. Asked of a server once per name.
  async #output (name) {
    if (!this.#outputs.has(name)) {
      this.#outputs.set(name, await this.#call('GET', ['schemes', name], [], body => {
        const bits = /^bits (\d+)$/m.exec(body)
        const form = /^form (\S+)$/m.exec(body)
        return bits && form ? { as: form[1], integers: ['dec', 'unsigned'].includes(form[1]) && bits[1] <= 64 } : undefined
      }))
    }
    return this.#outputs.get(name)
  }

  // Sends a request to one server after the other until one replies. read() checks the reply; undefined: it is malformed.
  // Sending it again issues nothing twice: IDs that got lost are skipped.
  async #call (method, path, query, read) {
    if (query.every(([key]) => key !== 'format')) query.push(['format', 'text'])
    const target = `/v1/${path.map(encodeURIComponent).join('/')}?${new URLSearchParams(query)}`
    const deadline = performance.now() + this.#options.maxWait
    const failures = new Map()
    let pause = 0
    let busy
    for (let attempt = 1; attempt === 1 || performance.now() + pause <= deadline; attempt++) {
      const here = this.#current
      const { status, body } = await this.#ask(method, this.#addresses[here] + target)
      const problem = status === 200 ? {} : json(body)
      if (status === 200) {
        const result = tried(() => read(body))
        if (result !== undefined) return result
        failures.set(here, 'malformed reply')
      } else if (status === 429 || status === 503) {
        busy = [problem.detail || `HTTP status ${status}`, problem.code || String(status), problem]
      } else if (status >= 400 && status < 500 && typeof problem.detail === 'string') {
        throw new RequestError(problem.detail, problem.code || String(status), problem)
      } else {
        failures.set(here, status === 0 ? body : `HTTP status ${status}`)
      }
      if (this.#current === here) this.#current = (here + 1) % this.#addresses.length
      if (attempt % this.#addresses.length === 0) { // a pause after each round
        await new Promise(resolve => setTimeout(resolve, pause * (0.5 + Math.random() / 2)))
        pause = pause ? Math.min(pause * 2, 500) : 10
      }
    }
    if (busy) throw new OverloadError(`the servers are overloaded (${busy[0]}): try again later`, busy[1])
    const told = [...failures].map(([i, why]) => `${this.#addresses[i]}: ${why}`).join('; ')
    throw new UnreachableError(`no server answered (${told}): start firn serve there, or correct the addresses`)
  }

  // Status and body; status 0: no reply, and why.
  async #ask (method, url) {
    try {
      const response = await this.#options.fetch(url, {
        method, headers: this.#headers, redirect: 'manual', ...UNCACHED, signal: AbortSignal.timeout(this.#options.timeout)
      })
      return { status: response.status, body: await bodyOf(response) }
    } catch (error) {
      return { status: 0, body: String((error.cause && (error.cause.message || error.cause.code)) || error.message) }
    }
  }
}

// An endless asynchronous iterator of Client.ids().
class Ids {
  #client; #name; #maxAge; #most; #fields; #block = []; #taken = 0; #asked = 0; #refilling

  constructor (client, name, maxAge, most, fields) {
    this.#client = client
    this.#name = name
    this.#maxAge = maxAge
    this.#most = most
    this.#fields = fields
  }

  [Symbol.asyncIterator] () {
    return this
  }

  // { value, done: false } with the next ID, from the block if it is fresh.
  async next () {
    if (!this.#fresh()) {
      // Calls that wait at the same time share the refill; each takes an ID, or refills again.
      const mine = this.#refilling === undefined
      this.#refilling ||= this.#refill().finally(() => { this.#refilling = undefined })
      await this.#refilling
      // While this call waited, others may have taken the IDs, all of them from a small block.
      if (mine ? this.#taken >= this.#block.length : !this.#fresh()) return this.next()
    }
    return { value: this.#block[this.#taken++], done: false }
  }

  async return (value) {
    return { value, done: true }
  }

  #fresh () {
    return this.#taken < this.#block.length && performance.now() - this.#asked <= this.#maxAge
  }

  // A new block is as large as the used part of the last one, or twice as large if all of it was used.
  async #refill () {
    const size = this.#taken < this.#block.length ? Math.max(this.#taken, 1) : Math.max(this.#block.length * 2, 1)
    const asked = performance.now() // an ID is issued after this
    this.#block = await this.#client.many(this.#name, Math.min(size, this.#most), this.#fields)
    this.#asked = asked
    this.#taken = 0
  }
}

function text (value) {
  return value instanceof Date ? value.toISOString() : String(value)
}

const MOST_TEXT = 8 << 20 // bytes of a reply

async function bodyOf (response) {
  if (!response.body || !response.body.getReader) return response.text()
  const [reader, decoder] = [response.body.getReader(), new TextDecoder()]
  let [text, size] = ['', 0]
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return text + decoder.decode()
    size += value.length
    if (size > MOST_TEXT) {
      reader.cancel().catch(() => {})
      throw new Error(`a reply of more than ${MOST_TEXT} bytes`)
    }
    text += decoder.decode(value, { stream: true })
  }
}

function tried (read) {
  try {
    return read()
  } catch {
    return undefined
  }
}

function json (body) {
  const problem = tried(() => JSON.parse(body))
  return problem && typeof problem === 'object' ? problem : {}
}

// The lines of a reply, which must be n IDs; else undefined.
function idsOf (body, n, integers) {
  const ids = body.split('\n')
  const shape = integers ? /^-?[0-9]{1,20}$/ : /^[!-~]+$/
  if (ids.pop() !== '' || ids.length !== Number(n) || !ids.every(id => shape.test(id))) return undefined
  return integers ? ids.map(BigInt) : ids
}

module.exports = { Client, Ids, FirnClientError, OverloadError, UnreachableError, RequestError }
