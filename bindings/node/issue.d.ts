// SPDX-License-Identifier: MIT
// The types of firn/issue, all from index.d.ts.
import { open, openAsync, uuid7, uuid4, ulid, ksuid, Generator, FirnError, renewIdentity, version, backend } from './index'

export { open, openAsync, uuid7, uuid4, ulid, ksuid, Generator, FirnError, renewIdentity, version, backend }
declare const firn: {
  open: typeof open, openAsync: typeof openAsync, uuid7: typeof uuid7, uuid4: typeof uuid4, ulid: typeof ulid, ksuid: typeof ksuid,
  Generator: typeof Generator, FirnError: typeof FirnError, renewIdentity: typeof renewIdentity, version: typeof version,
  backend: typeof backend
}
export default firn
