// SPDX-License-Identifier: MIT
// WebAssembly for browsers, Deno, Bun, and import 'firn/wasm' everywhere. Nothing is fetched.
import base64 from './bytes.mjs'
import make from './make.mjs'

// Node.js 18 has no globalThis.crypto. No literal, so that bundlers do not look for the module.
const [name] = ['node:crypto']
const ours = !globalThis.crypto && globalThis.process?.versions?.node &&
  (await import(/* webpackIgnore: true */ /* @vite-ignore */ name)).webcrypto
const firn = make(await WebAssembly.compile(Uint8Array.from(atob(base64), char => char.charCodeAt(0))), ours)

export const {
  open, openAsync, uuid7, uuid4, ulid, ksuid, typeid, Generator, Segment, Series, Order, Mask,
  FirnError, pack, show, parse, format, range, convert, guess, recognize, digest, scheme, schemes, forms,
  renewIdentity, version, backend
} = firn
export default firn
