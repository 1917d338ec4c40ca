// SPDX-License-Identifier: MIT
// firn/issue for Vercel's edge runtime: see edge.mjs.
import module from './issue.wasm?module'
import make from './issue_make.mjs'

const firn = make(module)

export const { open, openAsync, uuid7, uuid4, ulid, ksuid, Generator, FirnError, renewIdentity, version, backend } = firn
export default firn
