// SPDX-License-Identifier: MIT
export type ID = bigint | string
export type Fields = { as?: string } & Record<string, string | number | bigint | Date | undefined>
export interface Options {
  token?: string
  timeout?: number
  maxWait?: number
  block?: number
  fetch?: typeof fetch
}
export interface Shown {
  id: string
  scheme: string | null
  bits: number | null
  sure: 'named' | 'certain' | 'likely' | 'possible' | 'none'
  /** RFC 3339 */
  timeText?: string
  unixNs?: bigint
  /** @deprecated timeText has the same text; in the package firn, `time` is a Date */
  time?: string
  /** @deprecated use unixNs */
  unix_ns?: string
  fields: Record<string, number | string>
  candidates: string[]
  remark?: string
}
export class Client {
  constructor(addresses?: string | string[], options?: Options)
  next(name: string, fields?: Fields): Promise<ID>
  many(name: string, n: number, fields?: Fields): Promise<ID[]>
  at(name: string, time: Date | string, n?: number, fields?: Fields): Promise<ID[]>
  ids(name: string, options?: Fields & { maxAge?: number }): Ids
  show(id: ID, scheme?: string): Promise<Shown>
  guess(id: ID): Promise<string[]>
  range(scheme: string, from: Date | string, to: Date | string): Promise<[ID, ID]>
  convert(id: ID, form: string): Promise<string>
  integer(key: string): Promise<bigint>
  integers(key: string, n: number): Promise<{ first: bigint, last: bigint, step: bigint }>
}
export class Ids implements AsyncIterableIterator<ID> {
  [Symbol.asyncIterator](): this
  next(): Promise<{ value: ID, done: false }>
  return(value?: unknown): Promise<{ value: undefined, done: true }>
}
export class FirnClientError extends Error {
  /** "USAGE", as in the package firn */
  reason: string
  /** @deprecated use reason; in the package firn, `code` is "ERR_FIRN_USAGE" */
  code: string
  cure: string
  cureName: string
  value: string
  limit: string
}
export class OverloadError extends FirnClientError {}
export class UnreachableError extends FirnClientError {}
export class RequestError extends FirnClientError {}
