// SPDX-License-Identifier: MIT
// Errors, arguments and generators, on top of the functions of the addon or of WebAssembly, called native here.
// api.js adds the rest. `addonError` says why WebAssembly takes the place of the addon. A script of a page, or a module of CommonJS.
'use strict'

function firnGenerators (native, addonError) {
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

    // Errors of firn/client have this mark.
    static [Symbol.hasInstance] (error) {
      return super[Symbol.hasInstance](error) || (this === FirnError && !!error?.isFirn)
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

  const isNumber = ({ bits, form }) => bits <= 64 && (form === 'dec' || form === 'unsigned')

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

  /** Describes a scheme: name, layout, bits, form, sorts. */
  function scheme (name, options) {
    return { ...describe(schemeArgs(name, options)) }
  }

  // ---- generators -----------------------------------------------------------------------------------------------

  const BLOCK = 256
  const TRIES = 4 // renewals that one call waits for: each follows a window that others used up
  let renewals = 0 // how often the identity was renewed: blocks from before are dropped

  // IDs of the addon, which issues one faster than a block could give it.
  class FreshIds {
    #gen

    constructor (gen) { this.#gen = gen }
    next () { return { value: this.#gen.next(), done: false } }
    [Symbol.iterator] () { return this }
  }

  // Takes IDs from blocks, in WebAssembly. No process that runs JavaScript forks, so a block may be in its memory.
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
      try {
        return this.#gen.next()
      } catch (thrown) {
        throw ours(thrown)
      }
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

    /** An endless iterator. An ID is at most maxAge milliseconds old, at most 1000: WebAssembly takes IDs from blocks. */
    ids ({ maxAge = 1 } = {}) {
      if (typeof maxAge !== 'number' || !(maxAge >= 0.001 && maxAge <= 1000)) {
        throw refuse('RANGE', `maxAge is ${String(maxAge)}`, 'give 0.001 to 1000 milliseconds')
      }
      return native.backend === 'addon' ? new FreshIds(this) : new Ids(this.#gen, this.#kind, maxAge)
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

  // A function that opens a generator at its first call.
  function one (scheme) {
    let gen
    return () => (gen ??= open(scheme)).next()
  }

  /** One ID of a scheme that needs no store. */
  const [uuid7, uuid4, ulid, ksuid] = ['uuid7', 'uuid4', 'ulid', 'ksuid'].map(one)

  // `using` and `await using` close it.
  function disposable (kind) {
    if (Symbol.dispose) kind.prototype[Symbol.dispose] = kind.prototype.close
    if (Symbol.asyncDispose && kind.prototype.closeAsync) kind.prototype[Symbol.asyncDispose] = kind.prototype.closeAsync
  }
  disposable(Generator)

  /** For the restore hook of a host that starts processes from a snapshot: other nodes, random bytes and integers. */
  function renewIdentity () {
    renewals++
    call('renewIdentity')
  }

  return {
    open, openAsync, uuid7, uuid4, ulid, ksuid, Generator, FirnError, renewIdentity, version: native.version, backend: native.backend,
    parts: { ours, call, promised, refuse, text, optional, integer, time, word, keysOf, schemeArgs, isNumber, describe, scheme, listed, one, disposable }
  }
}

if (typeof module === 'object') module.exports = firnGenerators
