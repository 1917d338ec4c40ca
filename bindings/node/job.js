// SPDX-License-Identifier: MIT
// Named jobs, which need the addon: a file of Node.js alone, so that pages do not load it.
'use strict'

function firnJob ({ call, promised, refuse, text, optional, integer, time, keysOf, disposable }) {
  const isOpenJob = Symbol('an open job')
  function jobDigest (value) {
    if (value === null) return null
    if (typeof value !== 'bigint') throw new TypeError(`digest is a BigInt, such as BigInt('0x' + hex.slice(0, 16)), not ${typeof value}`)
    if (value < 0n || value >= 1n << 64n) throw refuse('RANGE', `digest is ${value}`, 'give 0 to 2^64 - 1')
    return value
  }
  function jobArgs (scheme, { name = null, digest = null, seed, maxShift = 1000, disorder = 0, store = null, output, moduleDir,
    unsafe = false, ...keys }) {
    if (digest === null && (name ?? store) !== null) {
      throw refuse('USAGE', 'a job with a name needs the digest of its input', 'set digest, such as a hash of a file')
    }
    return [text('scheme', scheme), keysOf(keys), optional('name', name), jobDigest(digest), optional('seed', seed),
      integer('maxShift', maxShift, 0, 86400000), integer('disorder', disorder, 0, Number.MAX_SAFE_INTEGER), optional('store', store),
      optional('moduleDir', moduleDir), Boolean(unsafe), optional('output', output)]
  }

  /** IDs for records that have a time but no ID, the same at each run: new Job('snowflake', { name: 'orders-2019', digest }).
   * Opening may wait for the store; next() does not need it. */
  class Job {
    #job

    constructor (scheme, options = {}) {
      this.#job = options[isOpenJob] ?? call('openJob', ...jobArgs(scheme, options))
    }

    static async open (scheme, options = {}) {
      return new Job(scheme, { [isOpenJob]: await promised('openJob', ...jobArgs(scheme, options)) })
    }

    /** The ID of the next record, which has this time. */
    next (when) { return call('nextJob', this.#job, time('time', when)) }
    get shiftNs () { return call('shiftJob', this.#job) }
    get again () { return call('againJob', this.#job) }
    close () { call('closeJob', this.#job) }
  }

  disposable(Job)
  return Job
}

/** In place of the addon. */
firnJob.refused = FirnError => class Job {
  constructor () {
    throw new FirnError(-19, 'the node of a job comes from a store, and WebAssembly has none: use the addon, or firn stamp', // SYSTEM
      { cure: 'use the addon, or firn stamp', cureName: 'OTHER' })
  }

  static async open () { return new Job() }
}

module.exports = firnJob
