// SPDX-License-Identifier: MIT
import client from './client.js'

export const { Client, Generator, Segment, Ids, FirnClientError, OverloadError, UnreachableError, RequestError } = client
