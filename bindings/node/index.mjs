// SPDX-License-Identifier: MIT
import firn from './index.js'

export const {
  open, openAsync, uuid7, uuid4, ulid, ksuid, typeid, Generator, Segment, Series, Job, Order, Mask,
  FirnError, pack, show, parse, format, range, convert, guess, recognize, digest, scheme,
  schemes, forms, renewIdentity, version, backend
} = firn
export default firn
