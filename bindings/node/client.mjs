// SPDX-License-Identifier: MIT
import client from './client.js'

export const { Client, Ids, FirnClientError, OverloadError, UnreachableError, RequestError } = client
