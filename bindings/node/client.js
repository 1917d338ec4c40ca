// SPDX-License-Identifier: MIT
// Unique IDs from firn serve, over HTTP, with fetch: Node.js 18, Deno, Bun and edge runtimes. One file, without
// dependencies, addon or libfirn.
//
//     const { Client } = require('firn/client')
//     const ids = new Client(['http://ids1:7380', 'http://ids2:7380'])
//     await ids.next('snowflake')                        // one ID: strict order, fresh time
//     await ids.many('uuid7', 3)                         // an array of three
//     const gen = ids.open('snowflake')                  // with the methods of firn.open('snowflake'), which return promises
//     await gen.next()
//     for await (const id of gen) break                  // from blocks, at most 1 ms old
//
// IDs are BigInts up to 64 bits, else strings. Methods, arguments, results and errors have the names of the package firn.
// Worker threads and processes make their own clients.
'use strict'

// Next.js caches what fetch returns by default: a kept reply would issue its IDs again. Workers that have
// no such option refuse it.
const UNCACHED = 'cache' in Request.prototype ? { cache: 'no-store' } : {}

// The names of firn.h: the first has the number -1.
const NAMES = ('USAGE RANGE LAYOUT TEXT MISMATCH NAMESPACE BUSY EXHAUSTED WINDOW CLOCK STORE UNKNOWN FORKED CLONED ENTROPY MEMORY IO ' +
  'UNSORTED SYSTEM BACK TAKEN END FULL').split(' ')

// Every error of this file; `instanceof FirnError` of the package firn, if the program has it. `reason` is the name of the
// server's error ('STORE'; 'USAGE' of a wrong request without a name), `status` the status of HTTP; the others as in FirnError.
class FirnClientError extends Error {
  constructor (message, reason = 'USAGE', { cure = '', cure_name: cureName = 'NONE', value = '', limit = '' } = {}, status) {
    super(message)
    if (!NAMES.includes(reason)) reason = 'USAGE' // of a server that is not firn
    const errno = -1 - NAMES.indexOf(reason)
    Object.assign(this, { name: this.constructor.name, code: `ERR_FIRN_${reason}`, reason, errno, cure, cureName, value, limit, status })
    Object.defineProperty(this, 'isFirn', { value: true }) // for FirnError
  }
}

// Servers answered that they cannot issue now, for longer than maxWait. Try again later.
class OverloadError extends FirnClientError {}

// No server answered within maxWait. Its reason is STORE.
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

  // A generator with the methods of firn.open(). Nothing is opened, so that it need not be closed.
  open (scheme, { output, maxAge = 1, ...fields } = {}) {
    return new Generator(this, scheme, maxAge, this.#options.block, output === undefined ? fields : { output, ...fields })
  }

  // An endless asynchronous iterator that takes IDs from blocks: an ID is at most maxAge milliseconds old.
  ids (name, options) {
    return this.open(name, options).ids()
  }

  // Integers that are unique under a key, with the methods of firn.Segment.
  segment (key) {
    return new Segment(key, n => this.#call('POST', ['block', key], [['n', n]], body => {
      const found = /^(\d{1,19}) (\d{1,19}) (\d{1,19})\n$/.exec(body)?.slice(1).map(BigInt)
      return found && found[2] === BigInt(n) ? found : undefined
    }), () => this.#call('POST', ['segments', key], [['n', 1]], body => idsOf(body, 1, DEC)))
  }

  // Returns one ID. fields: output: 'string', 'bigint', 'buffer' or a form, as firn.open() takes it; other fields belong to
  // the scheme, such as { prefix: 'user' }.
  async next (name, fields = {}) {
    return (await this.many(name, 1, fields))[0]
  }

  // n IDs (1 to 65536), in order.
  async many (name, n, { output, ...fields } = {}) {
    let [form, kind] = OUTPUTS[output] ?? [output, TEXT]
    if (output === undefined || output === 'string' || output === 'bigint') { // which depend on the scheme
      const [own, natural, bits] = await this.#output(name)
      if (output === 'bigint' && bits > 64) throw new RequestError(`output=bigint does not fit ${name}, which has ${bits} bits: bigint (up to 64), buffer, string or a form`)
      if (output !== 'bigint') form = own
      if (output === undefined) kind = natural
    }
    const query = Object.entries(fields).filter(([, value]) => value !== undefined).map(([key, value]) => [key, text(value)])
    return this.#call('POST', ['new', name], [...query, ['n', n], ['as', form]], body => idsOf(body, n, kind))
  }

  // n IDs of a past time: a Date, RFC 3339 text, or a BigInt of nanoseconds since 1970.
  at (name, time, n = 1, fields = {}) {
    return this.many(name, n, { ...fields, time: timeText(time) })
  }

  // The contents of an ID. Without a scheme, the text must have a best reading that is likely: a number has none.
  async show (id, scheme) {
    const { unix_ns: ns, fields, prefix = '', time: shownTime, ...shown } = await this.#shown(id, scheme)
    if (!shown.scheme) {
      const [best] = shown.candidates ?? []
      throw new RequestError(`${JSON.stringify(String(id))} ${best ? `may be an ID of ${best} or of another scheme` : 'is not an ID of a known scheme'}: name its scheme`, 'TEXT')
    }
    const [, kind] = await this.#output(shown.scheme)
    const digits = prefix ? shown.id.slice(prefix.length + 1) : shown.id
    const unixNs = ns ? BigInt(ns) : undefined
    const time = ns ? new Date(Number(unixNs / 1000000n) - (unixNs % 1000000n < 0n ? 1 : 0)) : undefined
    return { scheme: shown.scheme,
      id: typeof id === 'bigint' || (kind === DEC && DEC.shape.test(digits)) ? BigInt(id) : digits,
      text: shown.id,
      prefix,
      fields: Object.fromEntries(Object.entries(fields ?? {}).map(([name, value]) => [name, String(value)])),
      time: time && !Number.isNaN(time.getTime()) ? time : undefined,
      timeText: ns ? shownTime : undefined,
      unixNs }
  }

  // The schemes that a text is plausibly an ID of, best first; `form` if the server says it.
  async guess (id) {
    const { candidates = [], readings = [], sure } = await this.#shown(id)
    return candidates.map((scheme, i) => ({ scheme, form: readings.find(reading => reading.scheme === scheme)?.form,
      sure: i > 0 || sure === 'possible' ? 'possible' : 'likely' }))
  }

  // [least, greatest] ID of from <= time < to.
  async range (scheme, from, to) {
    const [, kind] = await this.#output(scheme)
    return this.#call('GET', ['range', scheme], [['from', timeText(from)], ['to', timeText(to)]], body => idsOf(body, 2, kind))
  }

  // An ID as text in a form; without one, the scheme's own.
  async format (id, scheme, form) {
    form ??= (await this.#output(scheme))[0]
    return (await this.#call('GET', ['convert', idText(id)], [['to', form]], body => idsOf(body, 1, TEXT)))[0]
  }

  #shown (id, scheme) {
    return this.#call('GET', ['show', idText(id)], [...(scheme ? [['scheme', scheme]] : []), ['format', 'json']], body => {
      const shown = JSON.parse(body)
      return shown && shown.id ? shown : undefined
    })
  }

  // The form to ask for, the kind of the lines, and the bits. Asked of a server once per name.
  async #output (name) {
    if (!this.#outputs.has(name)) {
      this.#outputs.set(name, await this.#call('GET', ['schemes', name], [], body => {
        const bits = /^bits (\d+)$/m.exec(body)
        const form = /^form (\S+)$/m.exec(body)
        return bits && form ? [form[1], ['dec', 'unsigned'].includes(form[1]) && bits[1] <= 64 ? DEC : TEXT, Number(bits[1])] : undefined
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
        busy = [typeof problem.detail === 'string' ? problem.detail : `HTTP status ${status}`, problem.code || 'BUSY', problem, status]
      } else if (status >= 400 && status < 500 && typeof problem.detail === 'string') {
        throw new RequestError(problem.detail, problem.code || 'USAGE', problem, status)
      } else {
        failures.set(here, status === 0 ? body : `HTTP status ${status}`)
      }
      if (this.#current === here) this.#current = (here + 1) % this.#addresses.length
      if (attempt % this.#addresses.length === 0) { // a pause after each round
        await new Promise(resolve => setTimeout(resolve, pause * (0.5 + Math.random() / 2)))
        pause = pause ? Math.min(pause * 2, 500) : 10
      }
    }
    if (busy) throw new OverloadError(`the servers are overloaded (${busy[0]}): try again later`, ...busy.slice(1))
    const told = [...failures].map(([i, why]) => `${this.#addresses[i]}: ${why}`).join('; ')
    throw new UnreachableError(`no server answered (${told}): start firn serve there, or correct the addresses`, 'STORE')
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

// Issues IDs of one scheme. Made by Client.open().
class Generator {
  #client; #name; #maxAge; #most; #fields

  constructor (client, name, maxAge, most, fields) {
    this.#client = client
    this.#name = name
    this.#maxAge = maxAge
    this.#most = most
    this.#fields = fields
  }

  next () { return this.#client.next(this.#name, this.#fields) }
  many (n) { return this.#client.many(this.#name, n, this.#fields) }
  at (time, n = 1) { return this.#client.at(this.#name, time, n, this.#fields) }
  ids ({ maxAge = this.#maxAge } = {}) { return new Ids(n => this.many(n), maxAge, this.#most) }
  [Symbol.asyncIterator] () { return this.ids() }
  async close () {}
}

// Integers that are unique under a key. Made by Client.segment().
class Segment {
  #key; #reserve; #take; #step

  constructor (key, reserve, take) {
    this.#key = key
    this.#reserve = reserve
    this.#take = take
  }

  // The next integer.
  async next () { return (await this.#take())[0] }

  // The first of n integers; the others follow in steps of increment().
  async block (n) {
    const [first, step] = await this.#reserve(n)
    this.#step = step
    return first
  }

  // Reserves a block of one integer, if there was none before.
  async increment () {
    if (this.#step === undefined) await this.block(1)
    return this.#step
  }

  async close () {}
}

// Calls of the package firn that wait in its thread pool: here all do.
for (const made of [Generator, Segment]) {
  for (const name of ['next', 'many', 'at', 'block', 'close']) {
    if (made.prototype[name]) made.prototype[name + 'Async'] = made.prototype[name]
  }
}

// An endless asynchronous iterator of Generator.ids().
class Ids {
  #many; #maxAge; #most; #block = []; #taken = 0; #asked = 0; #refilling

  constructor (many, maxAge, most) {
    this.#many = many
    this.#maxAge = maxAge
    this.#most = most
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
    this.#block = await this.#many(Math.min(size, this.#most))
    this.#asked = asked
    this.#taken = 0
  }
}

function text (value) {
  return value instanceof Date ? value.toISOString() : String(value)
}

function idText (id) {
  if (typeof id === 'bigint' || typeof id === 'string') return String(id)
  throw new TypeError(`an ID is a BigInt or a string, not ${typeof id}: numbers above 2^53 are rounded`)
}

function timeText (time) {
  if (typeof time !== 'bigint') return text(time)
  const ns = String(time < 0n ? -time : time).padStart(10, '0')
  return `@${time < 0n ? '-' : ''}${ns.slice(0, -9)}.${ns.slice(-9)}`
}

// The lines of a reply: their shape, and what they become.
const TEXT = { shape: /^[!-~]+$/, read: line => line }
const DEC = { shape: /^-?[0-9]{1,20}$/, read: BigInt }
const HEX = { shape: /^([0-9a-f]{2})+$/, read: line => Uint8Array.from(line.match(/../g), pair => parseInt(pair, 16)) }
const OUTPUTS = { bigint: ['dec', DEC], buffer: ['hex', HEX] }

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
function idsOf (body, n, { shape, read }) {
  const ids = body.split('\n')
  return ids.pop() === '' && ids.length === Number(n) && ids.every(id => shape.test(id)) ? ids.map(read) : undefined
}

module.exports = { Client, Generator, Segment, Ids, FirnClientError, OverloadError, UnreachableError, RequestError }
