// SPDX-License-Identifier: MIT
// The package, on top of the functions of the addon or of WebAssembly, called native here. README.md has the rules;
// index.d.ts the types. `addonError` says why WebAssembly takes the place of the addon. A script of a page, or a module of CommonJS.
'use strict'

function firnApi (native, addonError) {
  // ---- errors ---------------------------------------------------------------------------------------------------

  const nameOf = new Map(Object.entries(native.codes).map(([name, code]) => [code, name]))

  /** An error of firn: code "ERR_FIRN_BUSY", name in `reason` ("BUSY"), number in `errno`, what to do in `cure`, the name of
   * that in firn.h in `cureName` ("RAISE_SHIFT", or "NONE"), the wrong value in `value`, its limit in `limit`. */
  class FirnError extends Error {
    constructor (errno, text, { cure = '', cureName = 'NONE', value = '', limit = '' } = {}) {
      super(text)
      this.name = 'FirnError'
      this.errno = errno
      this.reason = nameOf.get(errno) ?? 'UNKNOWN'
      this.code = `ERR_FIRN_${this.reason}`
      if (addonError && this.reason === 'SYSTEM') this.cause = addonError
      Object.assign(this, { cure, cureName, value, limit })
    }
  }

  // The addon's errors are plain objects.
  function ours (thrown) {
    const plain = thrown !== null && typeof thrown === 'object' && 'text' in thrown
    return plain ? new FirnError(thrown.code, thrown.text, thrown) : thrown
  }

  function call (name, ...args) {
    try {
      return native[name](...args)
    } catch (thrown) {
      throw ours(thrown)
    }
  }

  // The same in the thread pool. WebAssembly has nothing that waits.
  async function promised (name, ...args) {
    const run = native[name + 'Async']
    if (run === undefined) return call(name, ...args)
    try {
      return await run(...args)
    } catch (thrown) {
      throw ours(thrown)
    }
  }

  const refuse = (reason, what, cure) => new FirnError(native.codes[reason], `${what}: ${cure}`, { cure, cureName: 'OTHER' })

  // ---- arguments ------------------------------------------------------------------------------------------------

  function text (name, value) {
    if (typeof value !== 'string') throw new TypeError(`${name} is a string, not ${value === null ? 'null' : typeof value}`)
    if (value.includes('\0')) throw refuse('USAGE', `${name} has a zero character`, 'remove it')
    if (/[\ud800-\udfff]/u.test(value)) throw refuse('USAGE', `${name} has half of a surrogate pair`, 'remove it')
    return value
  }

  const optional = (name, value) => value === undefined || value === null ? null : text(name, value)

  function integer (name, value, least, greatest) {
    if (!Number.isInteger(value)) throw new TypeError(`${name} is an integer, not ${String(value)}`)
    if (value < least || value > greatest) {
      throw refuse('RANGE', `${name} is ${value}`, `give ${least} to ${greatest}`)
    }
    return value
  }

  // A time as firn reads it: a Date, RFC 3339 text, or a BigInt of nanoseconds since 1970.
  function time (name, value) {
    if (value instanceof Date) {
      if (Number.isNaN(value.getTime())) throw new FirnError(native.codes.USAGE, `${name} is an invalid Date`)
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
    if (/\s/.test(given)) throw refuse('USAGE', `${name} has a blank`, 'remove it')
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

  const hexOf = bytes => Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')

  const isNumber = ({ bits, form }) => bits <= 64 && (form === 'dec' || form === 'unsigned')
  const natural = (described, bytes, args) => isNumber(described)
    ? BigInt('0x' + hexOf(bytes))
    : call('format', ...args, null, bytes)

  // A scheme by its name alone is described once.
  const described = new Map()
  function describe (args) {
    const known = described.get(args[0])
    if (args[1] !== null || args[2] !== null || args[3] !== null) return call('describe', ...args)
    if (known) return known
    const found = call('describe', ...args)
    if (described.size < 100) described.set(args[0], found)
    return found
  }

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

  // ---- generators -----------------------------------------------------------------------------------------------

  const BLOCK = 256
  const TRIES = 4 // renewals that one call waits for: each follows a window that others used up
  let renewals = 0 // how often the identity was renewed: blocks from before are dropped

  // Takes IDs from blocks. No process that runs JavaScript forks, so a block may be in its memory.
  class Ids {
    #gen
    #kind
    #maxAge
    #list = []
    #next = 0
    #until = 0
    #renewals = 0
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
      this.#renewals = renewals
      this.#list = this.#kind === 'bigint'
        ? new BigUint64Array(call('array', this.#gen, this.#want))
        : call('many', this.#gen, this.#want)
    }

    next () {
      const now = performance.now()
      if (this.#next === this.#list.length || now >= this.#until || this.#renewals !== renewals) this.#fill(now)
      return { value: this.#list[this.#next++], done: false }
    }

    [Symbol.iterator] () {
      return this
    }
  }

  const listed = new Set(native.names(false))

  /** Issues IDs. Made by open(). */
  class Generator {
    #gen
    #kind
    #bits
    #timer
    #open = true
    #renews
    #step
    #closed

    constructor (gen, output, hasStore) {
      const { scheme: name, layout } = call('status', gen)
      const { bits } = scheme(layout)
      const { form } = scheme(listed.has(name) ? name : layout)
      this.#gen = gen
      this.#bits = bits
      this.#kind = output ?? (isNumber({ bits, form }) ? 'bigint' : 'string')
      this.#renews = hasStore
      if (hasStore) this.#renew(1)
    }

    // Renews the window in the thread pool before it ends. Does not keep the process alive.
    #renew (ms) {
      const self = new WeakRef(this)
      this.#timer = setTimeout(() => {
        const still = self.deref()
        if (still?.#open) still.#renewal().then(wait => self.deref()?.#again(wait), () => self.deref()?.#again(50))
      }, ms)
      this.#timer.unref?.()
    }

    // A step of the renewal: one at a time, which all wait for, so that a store that hangs takes one thread of the pool.
    #renewal () {
      this.#step ??= promised('step', this.#gen).finally(() => { this.#step = undefined })
      return this.#step
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

    /** next() that waits for the store in the thread pool, and only if no slot is left. */
    async nextAsync () {
      return (await this.manyAsync(1))[0]
    }

    /** many() that waits in the same way. */
    async manyAsync (n) {
      integer('n', n, 0, 1 << 24)
      for (let tries = 0; tries <= TRIES && native.manyNow; tries++) {
        const ids = call('manyNow', this.#gen, n)
        if (ids !== undefined) return ids
        if (!this.#renews) break
        await this.#renewal()
      }
      return promised('many', this.#gen, n)
    }

    /** n IDs of a past time, from a node that issues no others. */
    at (when, n = 1) {
      return call('many', this.#gen, integer('n', n, 0, 1 << 24), time('time', when))
    }

    /** at() in the thread pool. */
    async atAsync (when, n = 1) {
      return promised('many', this.#gen, integer('n', n, 0, 1 << 24), time('time', when))
    }

    /** n IDs as a BigUint64Array for up to 64 bits, else as bytes, most significant first. */
    array (n) {
      const raw = call('array', this.#gen, integer('n', n, 0, 1 << 24))
      return this.#bits <= 64 ? new BigUint64Array(raw) : new Uint8Array(raw)
    }

    /** An endless iterator that takes IDs from blocks. An ID is at most maxAge milliseconds old, at most 1000. */
    ids ({ maxAge = 1 } = {}) {
      if (typeof maxAge !== 'number' || !(maxAge >= 0.001 && maxAge <= 1000)) {
        throw refuse('RANGE', `maxAge is ${String(maxAge)}`, 'give 0.001 to 1000 milliseconds')
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

    /** close() in the thread pool, after the calls that it still runs. */
    closeAsync () {
      this.#open = false
      clearTimeout(this.#timer)
      this.#closed ??= promised('close', this.#gen)
      return this.#closed
    }
  }

  const openArgs = (scheme, { store, output, note, moduleDir, unsafe = false, ...keys }) => [text('scheme', scheme), keysOf(keys),
    optional('store', store), optional('moduleDir', moduleDir), optional('note', note), optional('output', output), Boolean(unsafe)]
  const opened = (gen, { output, mode }) => new Generator(gen, output, mode !== 'online' && call('status', gen).reserved)

  /** Opens a generator: open('snowflake', { store: 'sqlite:/srv/firn.db', node: 3 }). */
  function open (scheme, options = {}) {
    return opened(call('open', ...openArgs(scheme, options)), options)
  }

  /** open() in the thread pool. */
  async function openAsync (scheme, options = {}) {
    return opened(await promised('open', ...openArgs(scheme, options)), options)
  }

  // Generators of the functions below, opened at their first call.
  const own = new Map()
  function one (scheme) {
    if (!own.has(scheme)) own.set(scheme, open(scheme))
    return own.get(scheme).next()
  }

  /** One ID of a scheme that needs no store. */
  const [uuid7, uuid4, ulid, ksuid] = ['uuid7', 'uuid4', 'ulid', 'ksuid'].map(scheme => () => one(scheme))
  const typeid = (prefix = '') => prefixed(prefix, schemeArgs('typeid'), one('typeid'))

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
    advance (from) { return call('segment', this.#segment, 'advance', BigInt(from)) }
    close () { call('segment', this.#segment, 'close') }

    /** The first of n integers; the others follow in steps of increment(). */
    block (n) { return call('segment', this.#segment, 'block', BigInt(n)) }

    async nextAsync () { return this.#queued('next') }
    async peekAsync () { return this.#queued('peek') }
    async blockAsync (n) { return this.#queued('block', BigInt(n)) }
    async advanceAsync (from) { return this.#queued('advance', BigInt(from)) }

    /** close() in the thread pool, after the calls that it still runs. */
    closeAsync () {
      this.#closed ??= promised('segment', this.#segment, 'close').then(() => {})
      return this.#closed
    }
  }

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

  for (const kind of [Generator, Segment, Series]) {
    if (Symbol.dispose) kind.prototype[Symbol.dispose] = kind.prototype.close
    if (Symbol.asyncDispose) kind.prototype[Symbol.asyncDispose] = kind.prototype.closeAsync
  }

  /** Order numbers: integers encrypted with a key of 16 bytes. */
  class Order {
    #order

    constructor (key, { moduleDir, ...keys } = {}) {
      if (!(key instanceof Uint8Array)) throw new TypeError('the key is a Uint8Array of 16 bytes')
      this.#order = call('openOrder', new Uint8Array(key), keysOf(keys), optional('moduleDir', moduleDir))
    }

    write (integer) { return call('writeOrder', this.#order, BigInt(integer)) }
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
      return typeof id === 'bigint' ? BigInt(turned) : turned
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

  /** Returns the contents of an ID. Without a scheme, the best reading of a text, which must be likely: a number has none. */
  function show (id, scheme, options = {}) {
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
  function parse (id, scheme, options = {}) {
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

  /** For the restore hook of a host that starts processes from a snapshot: other nodes, random bytes and integers. */
  function renewIdentity () {
    renewals++
    call('renewIdentity')
  }

  /** Describes a scheme: name, layout, bits, form, sorts. */
  function scheme (name, options) {
    return { ...describe(schemeArgs(name, options)) }
  }

  const schemes = () => call('names', false)
  const forms = () => call('names', true)

  return { open, openAsync, uuid7, uuid4, ulid, ksuid, typeid, Generator, Segment, Series, Order, Mask, FirnError, pack, show, parse, format, range,
    convert,
    guess, recognize, digest, scheme, schemes, forms, renewIdentity, version: native.version, backend: native.backend }
}

if (typeof module === 'object') module.exports = firnApi
