// SPDX-License-Identifier: MIT
/** BigInt for 64-bit schemes, else text; a Buffer with output "buffer". */
export type ID = bigint | string | Uint8Array
/** A Date, RFC 3339 text, or nanoseconds since 1970. */
export type Time = Date | string | bigint
export type Value = string | number | bigint | boolean | Date | null | undefined

export class FirnError extends Error {
  /** "ERR_FIRN_BUSY" */
  code: string
  /** "BUSY" */
  reason: string
  errno: number
  cure: string
}

export interface SchemeOptions { epoch?: Time, bits?: string, digits?: number }
export interface OpenOptions {
  store?: string
  /** "bigint", "string", "buffer" or the name of a text form */
  output?: string
  note?: string
  moduleDir?: string
  unsafe?: boolean
  [key: string]: Value
}
export interface Status {
  reserved: boolean, held: boolean, node: number, claims: number, renewals: number, giveBacks: number, storeErrors: number
  scheme: string, layout: string
}
export interface Scheme { name: string, layout: string, bits: number, form: string, sorts: string }
export interface Shown {
  scheme: string, id: ID, text: string, fields: Record<string, string>, time?: Date, timeText?: string, unixNs?: bigint
}
/** A format that a text may have, and that firn does not issue: docs/reference/recognised.md. */
export interface Match {
  format: string, sure: 'certain' | 'likely' | 'possible', reason: string, fields: Record<string, string>, time?: Date, timeText?: string
  /** It describes the text better than any scheme. */
  leads: boolean
}
export interface Reading { scheme: string, form: string, id: ID }

export class Generator<T extends ID = any> implements Iterable<T> {
  private constructor ()
  next (): T
  many (n: number): T[]
  at (when: Time, n?: number): T[]
  array (n: number): BigUint64Array | Uint8Array
  ids (options?: { maxAge?: number }): IterableIterator<T>
  [Symbol.iterator] (): IterableIterator<T>
  status (): Status
  close (): void
}
export class Segment {
  constructor (key: string, options?: OpenOptions)
  next (): bigint
  block (n: number | bigint): bigint
  peek (): bigint
  increment (): bigint
  advance (from: number | bigint): bigint
  close (): void
}
export class Order {
  constructor (key: Uint8Array, options?: { moduleDir?: string, [key: string]: Value })
  write (integer: number | bigint): string
  read (number: string): bigint
}

export function open<T extends ID = any> (scheme: string, options?: OpenOptions): Generator<T>
export function pack (scheme: string, fields: Record<string, Value>, options?: SchemeOptions): ID
export function show (id: ID, scheme?: string | null, options?: SchemeOptions & { form?: string }): Shown
export function parse (id: string, scheme: string, options?: SchemeOptions & { form?: string }): ID
export function format (id: ID, scheme: string, form?: string | null, options?: SchemeOptions): string
export function range (scheme: string, from: Time, to: Time,
  options?: SchemeOptions & { pinned?: Record<string, Value> }): [ID, ID]
export function convert (id: ID, from: string, to: string): ID
export function guess (id: string): Reading[]
export function recognize (id: string): Match[]
export function digest (scheme: string, namespace: string, name: string | Uint8Array): ID
export function scheme (name: string, options?: SchemeOptions): Scheme
export function schemes (): string[]
export function forms (): string[]
export const version: string
/** "addon" or "wasm", which has no stores */
export const backend: 'addon' | 'wasm'
