// SPDX-License-Identifier: MIT
// firn for Node.js. README.md has the rules; index.d.ts the types.
'use strict'

const { performance } = require('node:perf_hooks')

const native = load()

function load () {
  const tried = []
  for (const path of [process.env.FIRN_NODE, './firn.node', './build/Release/firn.node']) {
    if (!path) continue
    try {
      return require(path)
    } catch (error) {
      tried.push(`${path}: ${error.message}`)
    }
  }
  throw new Error(`firn: the addon cannot be loaded: build it with bindings/build node\n${tried.join('\n')}`)
}

// ---- errors ---------------------------------------------------------------------------------------------------

const nameOf = new Map(Object.entries(native.codes).map(([name, code]) => [code, name]))

/** An error of firn: code "ERR_FIRN_BUSY", name in `reason` ("BUSY"), number in `errno`, what to do in `cure`. */
class FirnError extends Error {
  constructor (errno, text) {
    super(text)
    this.name = 'FirnError'
    this.errno = errno
    this.reason = nameOf.get(errno) ?? 'UNKNOWN'
    this.code = `ERR_FIRN_${this.reason}`
    this.cure = text.includes(': ') ? text.slice(text.lastIndexOf(': ') + 2) : ''
  }
}

// Calls the addon, whose errors are plain objects.
function call (name, ...args) {
  try {
    return native[name](...args)
  } catch (thrown) {
    throw thrown !== null && typeof thrown === 'object' && 'text' in thrown ? new FirnError(thrown.code, thrown.text) : thrown
  }
}

const usage = text => new FirnError(native.codes.USAGE, text)

if (native.version !== native.builtFor) {
  throw new Error(`libfirn is version ${native.version}, this package is for ${native.builtFor}: install both from one release`)
}

// ---- arguments ------------------------------------------------------------------------------------------------

function text (name, value) {
  if (typeof value !== 'string') throw new TypeError(`${name} is a string, not ${value === null ? 'null' : typeof value}`)
  if (value.includes('\0')) throw usage(`${name} has a zero character: remove it`)
  if (/[\ud800-\udfff]/u.test(value)) throw usage(`${name} has half of a surrogate pair: remove it`)
  return value
}

const optional = (name, value) => value === undefined || value === null ? null : text(name, value)

function integer (name, value, least, greatest) {
  if (!Number.isInteger(value)) throw new TypeError(`${name} is an integer, not ${String(value)}`)
  if (value < least || value > greatest) throw new FirnError(native.codes.RANGE, `${name} is ${value}: give ${least} to ${greatest}`)
  return value
}

// A time as firn reads it: a Date, RFC 3339 text, or a BigInt of nanoseconds since 1970.
function time (name, value) {
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw usage(`${name} is an invalid Date`)
    return time(name, BigInt(value.getTime()) * 1000000n)
  }
  if (typeof value === 'bigint') {
    const negative = value < 0n
    const ns = String(negative ? -value : value).padStart(10, '0')
    return `@${negative ? '-' : ''}${ns.slice(0, -9)}.${ns.slice(-9)}`
  }
  if (typeof value === 'string') return text(name, value)
  throw new TypeError(`${name} is a Date, RFC 3339 text or a BigInt of nanoseconds, not ${typeof value}`)
}

function word (name, value) {
  if (value instanceof Date) return time(name, value)
  if (typeof value === 'boolean') return value ? '1' : '0'
  if (typeof value === 'bigint' || Number.isInteger(value)) return String(value)
  const given = text(name, value)
  if (/\s/.test(given)) throw usage(`${name} has a blank: remove it`)
  return given
}

const keysOf = keys => Object.entries(keys).filter(([, value]) => value !== undefined && value !== null)
  .map(([name, value]) => `${name}=${word(name, value)}`).join(' ')

const schemeArgs = (scheme, { epoch, bits, digits } = {}) => [text('scheme', scheme),
  epoch === undefined ? null : time('epoch', epoch), optional('bits', bits), digits === undefined ? null : String(digits)]

function pairs (fields) {
  const out = []
  for (const [name, value] of Object.entries(fields)) {
    out.push(text('field', name), name === 'time' ? time(name, value) : word(name, value))
  }
  return out
}

const natural = (described, bytes, args) => described.bits <= 64 && (described.form === 'dec' || described.form === 'unsigned')
  ? BigInt('0x' + bytes.toString('hex'))
  : call('format', ...args, null, bytes)

const outOf = (args, bytes) => natural(call('describe', ...args), bytes, args)

// The bytes of an ID: a BigInt, text or a Uint8Array.
function bytesOf (id, args, form) {
  if (typeof id === 'string') return call('parse', ...args, form, text('id', id))
  if (id instanceof Uint8Array) return Buffer.from(id)
  if (typeof id === 'bigint') {
    const { bits, name } = call('describe', ...args)
    const size = Math.ceil(bits / 8)
    if (id >= 1n << BigInt(8 * size) || id < (size === 8 ? -(1n << 63n) : 0n)) {
      throw new FirnError(native.codes.RANGE, `${id} does not fit in ${size} bytes: ${name} has ${bits} bits`)
    }
    return Buffer.from(BigInt.asUintN(8 * size, id).toString(16).padStart(2 * size, '0'), 'hex')
  }
  throw new TypeError(`an ID is a BigInt, a string or a Uint8Array, not ${typeof id}: numbers above 2^53 are rounded`)
}

// ---- generators -----------------------------------------------------------------------------------------------

const BLOCK = 256

// Takes IDs from blocks. Node.js never forks a process that runs JavaScript, so a block may lie in its memory.
class Ids {
  #gen
  #kind
  #maxAge
  #list = []
  #next = 0
  #until = 0
  #want = 16

  constructor (gen, kind, maxAge) {
    this.#gen = gen
    this.#kind = kind
    this.#maxAge = maxAge
  }

  // Twice as many IDs when all were taken, half as many when most were dropped.
  #fill (now) {
    if (this.#next === this.#list.length) this.#want = Math.min(2 * this.#want, BLOCK)
    else if (this.#next < this.#list.length / 2) this.#want = Math.max(this.#want >> 1, 1)
    this.#list = []
    this.#next = 0
    this.#until = now + this.#maxAge
    this.#list = this.#kind === 'bigint' ? new BigUint64Array(call('array', this.#gen, this.#want)) : call('many', this.#gen, this.#want)
  }

  next () {
    const now = performance.now()
    if (this.#next === this.#list.length || now >= this.#until) this.#fill(now)
    return { value: this.#list[this.#next++], done: false }
  }

  [Symbol.iterator] () {
    return this
  }
}

/** Issues IDs. Made by open(). */
class Generator {
  #gen
  #kind
  #bits
  #timer
  #open = true

  constructor (gen, output, hasStore) {
    const { scheme: name, layout } = call('status', gen)
    const { bits } = scheme(layout)
    const { form } = scheme(schemes().includes(name) ? name : layout)
    this.#gen = gen
    this.#bits = bits
    this.#kind = output ?? (bits <= 64 && (form === 'dec' || form === 'unsigned') ? 'bigint' : 'string')
    if (hasStore) this.#renew(1)
  }

  // Renews the window in the thread pool before it ends. Does not keep the process alive.
  #renew (ms) {
    const self = new WeakRef(this)
    this.#timer = setTimeout(() => {
      const still = self.deref()
      if (still?.#open) native.step(still.#gen)?.then(wait => self.deref()?.#again(wait))
    }, ms)
    this.#timer.unref()
  }

  #again (wait) {
    if (this.#open) this.#renew(wait)
  }

  /** One ID: strict order, fresh time. */
  next () {
    return call('next', this.#gen)
  }

  /** n IDs, in order. */
  many (n) {
    return call('many', this.#gen, integer('n', n, 0, 1 << 24))
  }

  /** n IDs of a past time, from a node that issues no others. */
  at (when, n = 1) {
    return call('many', this.#gen, integer('n', n, 0, 1 << 24), time('time', when))
  }

  /** n IDs as a BigUint64Array for up to 64 bits, else as bytes, most significant first. */
  array (n) {
    const raw = call('array', this.#gen, integer('n', n, 0, 1 << 24))
    return this.#bits <= 64 ? new BigUint64Array(raw) : new Uint8Array(raw)
  }

  /** An endless iterator that takes IDs from blocks. An ID is at most maxAge milliseconds old, at most 1000. */
  ids ({ maxAge = 1 } = {}) {
    if (typeof maxAge !== 'number' || !(maxAge >= 0.001 && maxAge <= 1000)) {
      throw new FirnError(native.codes.RANGE, `maxAge is ${String(maxAge)}: give 0.001 to 1000 milliseconds`)
    }
    return new Ids(this.#gen, this.#kind, maxAge)
  }

  [Symbol.iterator] () {
    return this.ids()
  }

  /** The state: reserved, held, node, claims, renewals, giveBacks, storeErrors, scheme, layout. */
  status () {
    return call('status', this.#gen)
  }

  /** Gives the window back to the store. Calling it again does nothing. */
  close () {
    this.#open = false
    clearTimeout(this.#timer)
    call('close', this.#gen)
  }
}

if (Symbol.dispose) Generator.prototype[Symbol.dispose] = Generator.prototype.close

/** Opens a generator: open('snowflake', { store: 'sqlite:/srv/firn.db', node: 3 }). */
function open (scheme, { store, output, note, moduleDir, unsafe = false, ...keys } = {}) {
  const gen = call('open', text('scheme', scheme), keysOf(keys), optional('store', store), optional('moduleDir', moduleDir),
    optional('note', note), optional('output', output), Boolean(unsafe))
  return new Generator(gen, output, keys.mode !== 'online' && call('status', gen).reserved)
}

/** Integers that are unique under a key. Calls may wait for the store. */
class Segment {
  #segment

  constructor (key, { store, moduleDir, unsafe = false, ...keys } = {}) {
    this.#segment = call('openSegment', text('key', key), keysOf(keys), optional('store', store),
      optional('moduleDir', moduleDir), Boolean(unsafe))
  }

  next () { return call('segment', this.#segment, 'next') }
  peek () { return call('segment', this.#segment, 'peek') }
  increment () { return call('segment', this.#segment, 'increment') }
  advance (from) { return call('segment', this.#segment, 'advance', BigInt(from)) }
  close () { call('segment', this.#segment, 'close') }

  /** The first of n integers; the others follow in steps of increment(). */
  block (n) { return call('segment', this.#segment, 'block', BigInt(n)) }
}

/** Order numbers: integers encrypted with a key of 16 bytes. */
class Order {
  #order

  constructor (key, { moduleDir, ...keys } = {}) {
    if (!(key instanceof Uint8Array)) throw new TypeError('the key is a Uint8Array of 16 bytes')
    this.#order = call('openOrder', Buffer.from(key), keysOf(keys), optional('moduleDir', moduleDir))
  }

  write (integer) { return call('writeOrder', this.#order, BigInt(integer)) }
  read (number) { return call('readOrder', this.#order, text('number', number)) }
}

// ---- pure functions -------------------------------------------------------------------------------------------

/** The ID with these fields; `time` is a Date, RFC 3339 text or a BigInt of nanoseconds since 1970. */
function pack (scheme, fields, options) {
  const args = schemeArgs(scheme, options)
  return outOf(args, call('pack', ...args, pairs(fields)))
}

/** What an ID contains. Without a scheme, the best reading of a text. */
function show (id, scheme, options = {}) {
  let form = optional('form', options.form)
  let bytes
  if (scheme === undefined || scheme === null) {
    const [best] = call('guess', text('id', id))
    if (best === undefined) throw new FirnError(native.codes.TEXT, `${JSON.stringify(id)} is no ID that firn knows: name its scheme`)
    ;({ scheme, form, bytes } = best)
  }
  const args = schemeArgs(scheme, options)
  bytes ??= bytesOf(id, args, form)
  const { fields, timeText, unixNs, unixMs } = call('unpack', ...args, bytes)
  const date = unixMs === undefined ? undefined : new Date(unixMs)
  return { scheme, id: outOf(args, bytes), text: call('format', ...args, null, bytes), fields,
    time: date && !Number.isNaN(date.getTime()) ? date : undefined, timeText,
    unixNs: unixNs === undefined ? undefined : BigInt(unixNs) }
}

/** The ID of a text; refuses what is not an ID of the scheme. */
function parse (id, scheme, options = {}) {
  const args = schemeArgs(scheme, options)
  return outOf(args, call('parse', ...args, optional('form', options.form), text('id', id)))
}

/** An ID as text in a form; without one, the scheme's own. */
function format (id, scheme, form, options) {
  const args = schemeArgs(scheme, options)
  return call('format', ...args, optional('form', form), bytesOf(id, args, null))
}

/** [least, greatest] ID of from <= time < to. `pinned` has the fields before the time. */
function range (scheme, from, to, { pinned = {}, ...options } = {}) {
  const args = schemeArgs(scheme, options)
  return call('range', ...args, time('from', from), time('to', to), pairs(pinned)).map(bytes => outOf(args, bytes))
}

/** The same fields in another scheme: uuid1, uuid6, uuid1-swapped. */
function convert (id, from, to) {
  const args = schemeArgs(from)
  const bytes = call('convert', ...args, text('to', to), bytesOf(id, args, null))
  return outOf(schemeArgs(to), bytes)
}

/** The schemes that a text is plausibly an ID of, best first. */
function guess (id) {
  return call('guess', text('id', id)).map(({ scheme, form, bytes }) => ({ scheme, form, id: outOf(schemeArgs(scheme), bytes) }))
}

/** A uuid3 or uuid5 of a namespace ("dns", "url", "oid", "x500" or a UUID) and a name (string or bytes). */
function digest (scheme, namespace, name) {
  const args = schemeArgs(scheme)
  return outOf(args, call('digest', ...args, text('namespace', namespace), Buffer.from(name)))
}

/** Describes a scheme: name, layout, bits, form, sorts. */
function scheme (name, options) {
  return call('describe', ...schemeArgs(name, options))
}

const schemes = () => call('names', false)
const forms = () => call('names', true)

module.exports = { open, Generator, Segment, Order, FirnError, pack, show, parse, format, range, convert, guess, digest, scheme,
  schemes, forms, version: native.version }
