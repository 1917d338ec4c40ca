// SPDX-License-Identifier: MIT
// firn/issue for Cloudflare Workers: see workerd.mjs.
import module from './issue.wasm'
import make from './issue_make.mjs'

const firn = make(module)

export const { open, openAsync, uuid7, uuid4, ulid, ksuid, Generator, FirnError, renewIdentity, version, backend } = firn
export default firn
