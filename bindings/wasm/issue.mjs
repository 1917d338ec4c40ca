// SPDX-License-Identifier: MIT
// firn/issue: only what issues IDs. Bundlers copy issue.wasm, because its place is written as new URL.
import make from './issue_make.mjs'
import load from './load.mjs'

const { module, crypto } = await load(new URL('./issue.wasm', import.meta.url), 'firn/issue/sync')
const firn = make(module, crypto)

export const { open, openAsync, uuid7, uuid4, ulid, ksuid, Generator, FirnError, renewIdentity, version, backend } = firn
export default firn
