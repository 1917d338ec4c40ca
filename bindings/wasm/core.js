// SPDX-License-Identifier: MIT
// The functions of firn.wasm under the names that the addon of Node.js has, for api.js. This file only moves arguments and
// results. A script of a page, or a module of CommonJS.
'use strict'

const firnCore = (() => {
  const NULL = 0xffffffff
  const ERROR_TEXT = 32 // where the text of a firn_error begins, and its size
  const ERROR_SIZE = 512
  const KINDS = { bigint: 0, string: 1, buffer: 2 }
  const encoder = new TextEncoder()
  const decoder = new TextDecoder()

  // The imports of firn.wasm. A page, a worker and every other host has its own instance, so its own state.
  const imports = (memory, crypto) => ({
    firn: {
      wall: () => Date.now(),
      random (at, size) {
        try {
          for (let done = 0; done < size; done += 65536) { // the maximum of one call
            (globalThis.crypto ?? crypto).getRandomValues(new Uint8Array(memory().buffer, at + done, Math.min(65536, size - done)))
          }
          return 0
        } catch {
          return 1
        }
      }
    }
  })

  // Makes the functions from a WebAssembly.Module. `crypto`: for a host without globalThis.crypto.
  function core (module, crypto) {
    const wasm = new WebAssembly.Instance(module, imports(() => wasm.memory, crypto)).exports
    if (wasm._initialize) wasm._initialize()
    // Some hosts, such as Workers of an old date, have none: there a generator that is not closed stays.
    const freed = globalThis.FinalizationRegistry && new FinalizationRegistry(([close, handle]) => close(handle))
    const slot = wasm.slot()
    let bytes = new Uint8Array(0)
    let numbers

    // The memory moves when it grows.
    function view () {
      if (bytes.buffer !== wasm.memory.buffer) {
        bytes = new Uint8Array(wasm.memory.buffer)
        numbers = new DataView(wasm.memory.buffer)
      }
      return bytes
    }
    // api.js makes a FirnError of it
    const error = (code, what, cure) => ({ code, text: cure ? `${what}: ${cure}` : what, cure, cureName: cure && 'OTHER' })
    const u32 = at => view() && numbers.getUint32(at, true)
    const u64 = raw => numbers.getBigUint64(raw.byteOffset, true)

    // Puts arguments, text, bytes or null, where the next call finds them.
    function put (args) {
      const parts = args.map(arg => typeof arg === 'string' ? encoder.encode(arg) : arg)
      let at = wasm.room(parts.reduce((size, part) => size + 5 + (part === null ? 0 : part.length), 0))
      if (at === 0) throw error(codes.MEMORY, 'out of memory')
      const memory = view()
      for (const part of parts) {
        numbers.setUint32(at, part === null ? NULL : part.length, true)
        at += 4
        if (part === null) continue
        memory.set(part, at)
        at += part.length
        memory[at++] = 0
      }
    }

    // The firn_error at `from`, and the name of its cure after it.
    function failure (from) {
      const memory = view()
      const u16 = at => numbers.getUint16(from + at, true)
      const part = (at, length) => decoder.decode(memory.subarray(at, at + length))
      const textTo = at => decoder.decode(memory.subarray(at, memory.indexOf(0, at)))
      const text = from + ERROR_TEXT
      return {
        code: numbers.getInt32(from, true),
        text: textTo(text),
        cure: u16(6) === 0 ? '' : textTo(text + u16(6)),
        cureName: textTo(from + ERROR_SIZE),
        value: part(text + u16(8), u16(10)),
        limit: part(text + u16(12), u16(14))
      }
    }

    // The result of a call, at out(): `size` bytes, or an error.
    function taken (size) {
      const from = wasm.out()
      if (from === 0) throw error(codes.MEMORY, 'out of memory')
      if (size >= 0) return view().subarray(from, from + size)
      throw failure(from)
    }

    function bytesFrom (name, ...args) {
      put(args)
      return taken(wasm[name]()).slice()
    }
    function withFields (name, args, fields) {
      put([...args, ...fields])
      return taken(wasm[name](fields.length)).slice()
    }
    const textFrom = (...args) => decoder.decode(bytesFrom(...args))
    const textsFrom = (...args) => textFrom(...args).split('\0').slice(0, -1)

    function pairsOf (list, step) {
      const out = []
      for (let i = 0; i < list.length; i += step) out.push(list.slice(i, i + step))
      return out
    }
    const hexBytes = hex => Uint8Array.from(hex.match(/../g), two => parseInt(two, 16))

    // ---- handles ----------------------------------------------------------------------------------------------

    function wrapped (handle, what, close) {
      const self = { handle, what }
      freed?.register(self, [close, handle], self)
      return self
    }

    function handleOf (self) {
      if (self.handle === 0) throw error(codes.USAGE, `the ${self.what} is closed`, 'open another one')
      return self.handle
    }

    // IDs of many(), as `kind` says.
    function ids (raw, kind, count) {
      if (kind === 'bigint') return Array.from(new BigUint64Array(raw.slice().buffer))
      if (kind === 'string') return decoder.decode(raw).split('\0').slice(0, -1)
      return Array.from({ length: count }, (_, i) => raw.slice(i * raw.length / count, (i + 1) * raw.length / count))
    }

    function many (gen, count, time, kind) {
      handleOf(gen)
      if (count === 0) return new Uint8Array(0)
      put([time ?? null])
      return taken(wasm.many(gen.handle, count, kind))
    }

    const codes = { USAGE: -1, MEMORY: -16 }
    Object.assign(codes, Object.fromEntries(pairsOf(textsFrom('names', 'codes'), 2).map(([name, code]) => [name, Number(code)])))
    const version = textsFrom('names', 'version')[0]

    return {
      codes,
      version,
      backend: 'wasm',

      pack: (...args) => withFields('pack', args.slice(0, -1), args.at(-1)),
      parse: (...args) => bytesFrom('parse', ...args),
      format: (...args) => textFrom('format', ...args),
      convert: (...args) => bytesFrom('convert', ...args),
      digest: (...args) => bytesFrom('digest', ...args),
      renewIdentity: () => wasm.renew_identity(),
      names: forms => textsFrom('names', forms ? 'forms' : 'schemes'),
      guess: text => pairsOf(textsFrom('guess', text), 4).map(([scheme, form, hex, sure]) => ({ scheme, form, bytes: hexBytes(hex), sure })),
      recognize (text) {
        const texts = textsFrom('recognize', text)
        const out = []
        while (texts.length > 0) {
          const [format, sure, leads, reason, timeText, count] = texts.splice(0, 6)
          const fields = Object.fromEntries(pairsOf(texts.splice(0, 2 * count), 2))
          out.push({ format, sure, leads: leads !== '', reason, fields, ...(timeText === '' ? {} : { timeText }) })
        }
        return out
      },
      range (...args) {
        const both = withFields('range', args.slice(0, -1), args.at(-1))
        return [both.slice(0, both.length / 2), both.slice(both.length / 2)]
      },
      unpack (...args) {
        const [timeText, unixNs, ...fields] = textsFrom('unpack', ...args)
        const out = { fields: Object.fromEntries(pairsOf(fields, 2)) }
        return timeText === '' ? out : { ...out, timeText, unixNs }
      },
      describe (...args) {
        const [name, layout, bits, form, sorts] = textsFrom('describe', ...args)
        return { name, layout, bits: Number(bits), form, sorts }
      },
      // The object that the command prints with --json, for the console.
      showObject: (text, scheme, form) => JSON.parse(textFrom('show', text, scheme, form)),
      schemeObject: (...args) => JSON.parse(textFrom('row', ...args)),

      // Without a store nothing needs the options store, moduleDir, note and unsafe.
      open (scheme, keys, store, moduleDir, note, output) {
        put([scheme, keys, output])
        const kind = decoder.decode(taken(wasm.open(slot)).slice(0, -1))
        const gen = wrapped(u32(slot), 'generator', wasm.close)
        return Object.assign(gen, {
          kind,
          next () {
            const raw = taken(wasm.next(handleOf(gen)))
            return kind === 'string' ? decoder.decode(raw) : kind === 'bigint' ? u64(raw) : raw.slice()
          }
        })
      },
      many: (gen, count, time) => ids(many(gen, count, time, -1), gen.kind, count),
      array (gen, count) {
        const wide = Number(wasm.bits(handleOf(gen))) > 64
        return many(gen, count, null, wide ? KINDS.buffer : KINDS.bigint).slice().buffer
      },
      status (gen) {
        const [scheme, layout] = decoder.decode(taken(wasm.status(handleOf(gen)))).split('\0')
        return { reserved: false, held: true, node: 0, claims: 0, renewals: 0, giveBacks: 0, storeErrors: 0, scheme, layout }
      },
      close (gen) {
        if (gen.handle === 0) return
        freed?.unregister(gen)
        wasm.close(gen.handle)
        gen.handle = 0
      },

      openOrder (key, keys) {
        put([keys, key])
        taken(wasm.open_order(slot))
        return wrapped(u32(slot), 'key', wasm.close_order)
      },
      writeOrder: (order, integer) => {
        if (integer < 0n || integer >= 1n << 64n) throw error(codes.RANGE, 'an integer of an order number is 0 to 18446744073709551615')
        return decoder.decode(taken(wasm.write_order(order.handle, integer)))
      },
      readOrder (order, text) {
        put([text])
        return u64(taken(wasm.read_order(order.handle)))
      },
      openMask () {
        throw error(codes.SYSTEM, 'a mask has a key file, and WebAssembly reads none', 'use the addon of Node.js, or firn serve')
      },
      openSeries () {
        throw error(codes.SYSTEM, 'numbers of a series come from a store, and WebAssembly has none', 'take them from firn serve, ' +
          'or use the addon of Node.js')
      },
      openSegment () {
        throw error(codes.SYSTEM, 'integers of a segment come from a store, and WebAssembly has none', 'take them from firn serve, ' +
          'or use the addon of Node.js')
      }
    }
  }

  return core
})()

if (typeof module === 'object') module.exports = firnCore
