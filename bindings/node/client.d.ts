// SPDX-License-Identifier: MIT
export type ID = bigint | string | Uint8Array
/** A Date, RFC 3339 text, or nanoseconds since 1970. */
export type Time = Date | string | bigint
/** `output`: 'bigint', 'string', 'buffer' or the name of a text form; the others are fields of the scheme. */
export type Fields = { output?: string } & Record<string, string | number | bigint | Date | undefined>
export interface Options {
  token?: string
  timeout?: number
  maxWait?: number
  block?: number
  fetch?: typeof fetch
}
export interface Shown {
  /** of a TypeID, which `text` has too; else "" */
  prefix: string
  scheme: string, id: ID, text: string, fields: Record<string, string>, time?: Date, timeText?: string, unixNs?: bigint
}
export interface Reading { scheme: string, form?: string, sure: 'likely' | 'possible' }
export class Client {
  constructor(addresses?: string | string[], options?: Options)
  open(scheme: string, options?: Fields & { maxAge?: number }): Generator
  segment(key: string): Segment
  next(name: string, fields?: Fields): Promise<ID>
  many(name: string, n: number, fields?: Fields): Promise<ID[]>
  at(name: string, time: Time, n?: number, fields?: Fields): Promise<ID[]>
  ids(name: string, options?: Fields & { maxAge?: number }): Ids
  show(id: bigint | string, scheme?: string): Promise<Shown>
  guess(id: string): Promise<Reading[]>
  range(scheme: string, from: Time, to: Time): Promise<[ID, ID]>
  format(id: bigint | string, scheme: string, form?: string): Promise<string>
}
/** Issues IDs of one scheme. Made by Client.open(). */
export class Generator implements AsyncIterable<ID> {
  private constructor ()
  next(): Promise<ID>
  nextAsync(): Promise<ID>
  many(n: number): Promise<ID[]>
  manyAsync(n: number): Promise<ID[]>
  at(when: Time, n?: number): Promise<ID[]>
  atAsync(when: Time, n?: number): Promise<ID[]>
  /** From blocks: an ID is at most maxAge milliseconds old. */
  ids(options?: { maxAge?: number }): Ids
  [Symbol.asyncIterator](): Ids
  close(): Promise<void>
  closeAsync(): Promise<void>
}
/** Integers that are unique under a key. Made by Client.segment(). */
export class Segment {
  private constructor ()
  next(): Promise<bigint>
  nextAsync(): Promise<bigint>
  /** The first of n integers; the others follow in steps of increment(). */
  block(n: number | bigint): Promise<bigint>
  blockAsync(n: number | bigint): Promise<bigint>
  increment(): Promise<bigint>
  close(): Promise<void>
  closeAsync(): Promise<void>
}
export class Ids implements AsyncIterableIterator<ID> {
  [Symbol.asyncIterator](): this
  next(): Promise<{ value: ID, done: false }>
  return(value?: unknown): Promise<{ value: undefined, done: true }>
}
/** As FirnError of the package firn, and an instance of it. */
export class FirnClientError extends Error {
  /** "ERR_FIRN_USAGE" */
  code: string
  /** "USAGE" */
  reason: string
  errno: number
  cure: string
  cureName: string
  value: string
  limit: string
  /** of HTTP, if a server answered */
  status?: number
}
export class OverloadError extends FirnClientError {}
export class UnreachableError extends FirnClientError {}
export class RequestError extends FirnClientError {}
