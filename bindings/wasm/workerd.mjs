// SPDX-License-Identifier: MIT
// WebAssembly for Cloudflare Workers, which compile .wasm files when they are deployed, and refuse to do so later.
import module from './firn.wasm'
import make from './make.mjs'

const firn = make(module)

export const {
  open, openAsync, uuid7, uuid4, ulid, ksuid, typeid, Generator, Segment, Series, Order, Mask,
  FirnError, pack, show, parse, format, range, convert, guess, recognize, digest, scheme, schemes, forms,
  renewIdentity, version, backend
} = firn
export default firn
