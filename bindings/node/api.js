// SPDX-License-Identifier: MIT
// The package: pure functions, integers, order numbers and masks, on top of generators.js. README.md has the rules; index.d.ts the
// types. A script of a page, or a module of CommonJS.
'use strict'

function firnApi (native, generators) {
  const { parts, ...issuing } = generators
  const { call, promised, refuse, text, optional, integer, time, word, keysOf, schemeArgs, isNumber, describe, scheme, listed, one, disposable } = parts
  const { FirnError } = issuing
  const nothing = {}

  function pairs (fields) {
    const out = []
    for (const [name, value] of Object.entries(fields)) {
      out.push(text('field', name), name === 'time' ? time(name, value) : word(name, value))
    }
    return out
  }

  const big = (name, value) => typeof value === 'bigint' ? value : BigInt(integer(name, value, 0, 2 ** 53))

  const hexOf = bytes => Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')

  const natural = (described, bytes, args) => isNumber(described)
    ? BigInt('0x' + hexOf(bytes))
    : call('format', ...args, null, bytes)

  const outOf = (args, bytes) => natural(describe(args), bytes, args)

  // The bytes of an ID: a BigInt, text or a Uint8Array.
  function bytesOf (id, args, form) {
    if (typeof id === 'string') return call('parse', ...args, form, text('id', id))
    if (id instanceof Uint8Array) return new Uint8Array(id)
    if (typeof id === 'bigint') {
      const { bits, name } = describe(args)
      const size = Math.ceil(bits / 8)
      if (id >= 1n << BigInt(8 * size) || id < (size === 8 ? -(1n << 63n) : 0n)) {
        throw new FirnError(native.codes.RANGE, `${id} does not fit in ${size} bytes; ${name} has ${bits} bits`)
      }
      const unsigned = BigInt.asUintN(8 * size, id)
      return Uint8Array.from({ length: size }, (_, i) => Number(unsigned >> BigInt(8 * (size - 1 - i)) & 255n))
    }
    throw new TypeError(`an ID is a BigInt, a string or a Uint8Array, not ${typeof id}: numbers above 2^53 are rounded`)
  }

  // A TypeID with its prefix. What reads one knows which prefixes are valid.
  function prefixed (prefix, args, digits) {
    const id = text('prefix', prefix) === '' ? digits : `${prefix}_${digits}`
    call('parse', ...args, 'typeid', id)
    return id
  }

  const noPrefix = (prefix, form) =>
    refuse('USAGE', `prefix=${prefix} applies to the form typeid, not ${form}`, 'leave it out, or use that form')

  const prefixOf = id => typeof id === 'string' ? id.slice(0, Math.max(id.lastIndexOf('_'), 0)) : ''

  const anyTypeid = one('typeid')
  const typeid = (prefix = '') => prefixed(prefix, schemeArgs('typeid'), anyTypeid())

  // ---- integers, order numbers, masks ---------------------------------------------------------------------------

  const segmentArgs = (key, { store, moduleDir, unsafe = false, ...keys }) => [text('key', key), keysOf(keys),
    optional('store', store), optional('moduleDir', moduleDir), Boolean(unsafe)]
  const isOpen = Symbol('an open segment')

  /** Integers that are unique under a key. Calls may wait for the store; those that end in Async wait in the thread pool. */
  class Segment {
    #segment
    #last = Promise.resolve() // what the thread pool does for this segment: one call at a time
    #failed = 0
    #closed

    constructor (key, options = {}) {
      this.#segment = options[isOpen] ?? call('openSegment', ...segmentArgs(key, options))
    }

    static async open (key, options = {}) {
      return new Segment(key, { [isOpen]: await promised('openSegment', ...segmentArgs(key, options)) })
    }

    // If the store fails, so do the calls that waited for their turn until then: each would wait as long.
    #queued (verb, argument) {
      const failed = this.#failed
      const turn = this.#last.then(undefined, error => { if (error.reason === 'STORE' && failed !== this.#failed) throw error })
        .then(() => this.#now(verb) ?? promised('segment', this.#segment, verb, argument))
      turn.catch(() => { this.#failed++ })
      this.#last = turn
      return turn
    }

    // The next integer of the block, or undefined if next would wait.
    #now (verb) {
      if (verb !== 'next') return undefined
      try {
        return call('segment', this.#segment, 'now')
      } catch (error) {
        if (error.reason === 'WINDOW') return undefined
        throw error
      }
    }

    next () { return call('segment', this.#segment, 'next') }
    peek () { return call('segment', this.#segment, 'peek') }
    increment () { return call('segment', this.#segment, 'increment') }
    advance (from) { return call('segment', this.#segment, 'advance', big('from', from)) }
    close () { call('segment', this.#segment, 'close') }

    /** The first of n integers; the others follow in steps of increment(). */
    block (n) { return call('segment', this.#segment, 'block', big('n', n)) }

    async nextAsync () { return this.#queued('next') }
    async peekAsync () { return this.#queued('peek') }
    async blockAsync (n) { return this.#queued('block', big('n', n)) }
    async advanceAsync (from) { return this.#queued('advance', big('from', from)) }

    /** close() in the thread pool, after the calls that it still runs. */
    closeAsync () {
      this.#closed ??= promised('segment', this.#segment, 'close').then(() => {})
      return this.#closed
    }
  }

  disposable(Segment)
  const isOpenSeries = Symbol('an open series')

  /** Dated numbers for people: new Series('invoices', { template: 'INV{year}/{counter:7}', zone: 'Europe/Berlin' }). Without
   * template, the definition that the store has. One call at a time; those that end in Async wait in the thread pool. */
  class Series {
    #series
    #last = Promise.resolve()

    constructor (name, options = {}) {
      this.#series = options[isOpenSeries] ?? call('openSeries', ...segmentArgs(name, options))
    }

    static async open (name, options = {}) {
      return new Series(name, { [isOpenSeries]: await promised('openSeries', ...segmentArgs(name, options)) })
    }

    /* As a time, a date alone is a midnight in UTC, which can be the day before in the zone of the series. */
    #args (verb, n, at) {
      if (typeof at === 'string' && /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(at)) {
        throw refuse('USAGE', `${at} has no time of day`, `write ${at}T12:00:00Z, or another time of that day in the zone of the series`)
      }
      return [this.#series, verb, integer('n', n, 1, 1000000), at === undefined || at === null ? null : time('time', at)]
    }

    #queued (verb, n, at) {
      const args = this.#args(verb, n, at)
      const turn = this.#last.then(() => promised('series', ...args))
      this.#last = turn.catch(() => {})
      return turn
    }

    /** The next number, of now or of a time. */
    next (at) { return this.many(1, at)[0] }
    /** n numbers of one period. */
    many (n, at) { return call('series', ...this.#args('next', n, at)) }
    /** The number that the store would grant next. Reserves nothing. */
    peek (at) { return call('series', ...this.#args('peek', 1, at))[0] }
    /** The counter of a number. */
    read (number) { return call('readSeries', this.#series, text('number', number)) }
    get definition () { return call('defineSeries', this.#series) }
    close () { call('series', this.#series, 'close', 1, null) }

    async nextAsync (at) { return (await this.#queued('next', 1, at))[0] }
    async manyAsync (n, at) { return this.#queued('next', n, at) }
    async peekAsync (at) { return (await this.#queued('peek', 1, at))[0] }
    async closeAsync () { await this.#queued('close', 1) }
  }

  disposable(Series)

  /** Order numbers: integers encrypted with a key of 16 bytes. */
  class Order {
    #order

    constructor (key, { moduleDir, ...keys } = {}) {
      if (!(key instanceof Uint8Array)) throw new TypeError('the key is a Uint8Array of 16 bytes')
      this.#order = call('openOrder', new Uint8Array(key), keysOf(keys), optional('moduleDir', moduleDir))
    }

    write (integer) { return call('writeOrder', this.#order, big('integer', integer)) }
    read (number) { return call('readOrder', this.#order, text('number', number)) }
  }

  /** Other IDs for IDs, which show neither time nor volume: new Mask('orders', 'mask.key', { width: 'uuid' }). */
  class Mask {
    #mask

    constructor (name, keyFile, { moduleDir, ...keys } = {}) {
      this.#mask = call('openMask', keysOf({ name, ...keys }), text('keyFile', keyFile), optional('moduleDir', moduleDir))
    }

    mask (id) { return this.#turn(id, false) }
    unmask (masked) { return this.#turn(masked, true) }
    get fingerprint () { return call('printMask', this.#mask) }

    #turn (id, back) {
      const turned = call('turnMask', this.#mask, typeof id === 'bigint' ? String(id) : text('id', id), back)
      if (typeof id !== 'bigint') return turned
      if (!/^\d+$/.test(turned)) throw refuse('USAGE', `the mask gives the text ${turned}, and the ID is a BigInt`, 'give the ID as text, String(id)')
      return BigInt(turned)
    }
  }

  // The changes of the scheme that a text shows: the digits after the time, of time-random.
  const changesOf = ({ scheme, form }, id) => scheme === 'time-random' && form === 'dated' ? { digits: id.length - 17 } : {}

  // ---- pure functions -------------------------------------------------------------------------------------------

  /** The ID with these fields; `time` is a Date, RFC 3339 text or a BigInt of nanoseconds since 1970. */
  function pack (scheme, fields, options) {
    const args = schemeArgs(scheme, options)
    return outOf(args, call('pack', ...args, pairs(fields)))
  }

  // The addon's reader of a scheme of the list, one call for an ID. The other calls read all other IDs, and have the errors.
  const readers = new Map()
  function readerOf (scheme) {
    const known = readers.get(scheme)
    if (known !== undefined) return known
    const reader = listed.has(scheme) && native.reader?.(scheme) || {}
    if (reader.read) {
      reader.ids = new BigUint64Array(reader.numbers)
      reader.ns = new BigInt64Array(reader.numbers)
      reader.ms = new Float64Array(reader.numbers)
    }
    if (listed.has(scheme)) readers.set(scheme, reader)
    return reader
  }

  function showQuickly (reader, scheme, id) {
    const shown = reader.show(id)
    if (shown === undefined) return undefined
    const texts = shown.split('\n')
    const text = texts[0]
    const fields = {}
    for (let i = 0; i < reader.names.length; i++) fields[reader.names[i]] = texts[i + 2]
    const time = new Date(reader.ms[2])
    return { scheme, id: reader.integer ? reader.ids[0] : text, text, prefix: '', fields,
      time: Number.isNaN(time.getTime()) ? undefined : time, timeText: texts[1], unixNs: reader.ns[1] }
  }

  /** Returns the contents of an ID. Without a scheme, the best reading of a text, which must be likely: a number has none. */
  function show (id, scheme, options = nothing) {
    const reader = options === nothing && readerOf(scheme)
    const quick = reader && reader.show && showQuickly(reader, scheme, id)
    if (quick) return quick
    let form = optional('form', options.form)
    let bytes
    if (scheme === undefined || scheme === null) {
      const [best] = call('guess', text('id', id))
      if (best === undefined) throw refuse('TEXT', `${JSON.stringify(id)} is not an ID of a known scheme`, 'name one')
      if (best.sure === 'possible') {
        throw refuse('TEXT', `${JSON.stringify(id)} may be an ID of ${best.scheme} or of another scheme`, 'name its scheme')
      }
      ;({ scheme, form, bytes } = best)
      options = changesOf(best, id)
    }
    const args = schemeArgs(scheme, options)
    bytes ??= bytesOf(id, args, form)
    const { fields, timeText, unixNs: ns } = call('unpack', ...args, bytes)
    const unixNs = ns === undefined ? undefined : BigInt(ns)
    const date = ns === undefined ? undefined : new Date(Number(unixNs / 1000000n) - (unixNs % 1000000n < 0n ? 1 : 0))
    const digits = call('format', ...args, null, bytes)
    const prefix = describe(args).form === 'typeid' ? prefixOf(id) : ''
    return { scheme, id: outOf(args, bytes), text: prefix && `${prefix}_${digits}` || digits, prefix, fields,
      time: date && !Number.isNaN(date.getTime()) ? date : undefined, timeText,
      unixNs }
  }

  /** The ID of a text; refuses what is not an ID of the scheme, and a TypeID with another prefix than `prefix`. */
  function parse (id, scheme, options = nothing) {
    const quick = options === nothing && typeof id === 'string' && readerOf(scheme).read?.(id)
    if (quick || quick === 0n) return quick
    const args = schemeArgs(scheme, options)
    const bytes = call('parse', ...args, optional('form', options.form), text('id', id))
    if (options.prefix !== undefined && options.prefix !== prefixOf(id)) {
      throw refuse('MISMATCH', `the prefix of ${JSON.stringify(id)} is not ${JSON.stringify(options.prefix)}`, 'name another prefix')
    }
    return outOf(args, bytes)
  }

  /** An ID as text in a form; without one, the scheme's own. `prefix`: of a TypeID. */
  function format (id, scheme, form, options = {}) {
    const args = schemeArgs(scheme, options)
    const digits = call('format', ...args, optional('form', form), bytesOf(id, args, null))
    if (options.prefix === undefined) return digits
    if ((form ?? describe(args).form) !== 'typeid') throw noPrefix(options.prefix, form ?? describe(args).form)
    return prefixed(options.prefix, args, digits)
  }

  /** [least, greatest] ID of from <= time < to. `pinned` has the fields before the time; `prefix`: of TypeIDs. */
  function range (scheme, from, to, { pinned = {}, prefix, ...options } = {}) {
    const args = schemeArgs(scheme, options)
    const ends = call('range', ...args, time('from', from), time('to', to), pairs(pinned)).map(bytes => outOf(args, bytes))
    if (prefix === undefined) return ends
    if (describe(args).form !== 'typeid') throw noPrefix(prefix, describe(args).form)
    return ends.map(digits => prefixed(prefix, args, digits))
  }

  /** The same fields in another scheme: uuid1, uuid6, uuid1-swapped. */
  function convert (id, from, to) {
    const args = schemeArgs(from)
    const bytes = call('convert', ...args, text('to', to), bytesOf(id, args, null))
    return outOf(schemeArgs(to), bytes)
  }

  /** The schemes that a text is plausibly an ID of, best first. The schemes of a number are only possible, the most frequent owner first. */
  function guess (id) {
    return call('guess', text('id', id))
      .map(best => ({ scheme: best.scheme, form: best.form, id: outOf(schemeArgs(best.scheme, changesOf(best, id)), best.bytes), sure: best.sure }))
  }

  /** The formats of other systems that a text may have, such as "stripe" or "nanoid", best first. */
  function recognize (id) {
    return call('recognize', text('id', id)).map(match => {
      const time = new Date(match.timeText) // invalid without a time, and outside the years of a Date
      return { ...match, time: Number.isNaN(time.getTime()) ? undefined : time }
    })
  }

  /** A uuid3 or uuid5 of a namespace ("dns", "url", "oid", "x500" or a UUID) and a name (string or bytes). */
  function digest (scheme, namespace, name) {
    const args = schemeArgs(scheme)
    if (typeof name !== 'string' && !(name instanceof Uint8Array)) throw new TypeError('a name is a string or a Uint8Array')
    const bytes = typeof name === 'string' ? new TextEncoder().encode(name) : name
    return outOf(args, call('digest', ...args, text('namespace', namespace), bytes))
  }

  const schemes = () => call('names', false)
  const forms = () => call('names', true)

  return { ...issuing, typeid, Segment, Series, Order, Mask, pack, show, parse, format, range, convert, guess, recognize, digest, scheme, schemes,
    forms }
}

if (typeof module === 'object') module.exports = firnApi
