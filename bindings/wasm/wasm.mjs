// SPDX-License-Identifier: MIT
// WebAssembly for browsers, Deno, Bun, and import 'firn/wasm' everywhere. Bundlers copy firn.wasm, because its place is written as
// new URL.
import load from './load.mjs'
import make from './make.mjs'

const { module, crypto } = await load(new URL('./firn.wasm', import.meta.url), 'firn/sync')
const firn = make(module, crypto)

export const {
  open, openAsync, uuid7, uuid4, ulid, ksuid, typeid, Generator, Segment, Series, Order, Mask,
  FirnError, pack, show, parse, format, range, convert, guess, recognize, digest, scheme, schemes, forms,
  renewIdentity, version, backend
} = firn
export default firn
