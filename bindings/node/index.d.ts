// SPDX-License-Identifier: MIT
/// <reference lib="esnext.disposable" />
/** BigInt for 64-bit schemes, else text; a Buffer with output "buffer". */
export type ID = bigint | string | Uint8Array
/** A Date, RFC 3339 text, or nanoseconds since 1970. */
export type Time = Date | string | bigint
export type Value = string | number | bigint | boolean | Date | null | undefined

/** The schemes whose IDs are BigInts, and the others: as text. A test compares them with firn's own. */
export type NumberScheme = 'snowflake' | 'leaf' | 'seata' | 'region' | 'instagram' | 'simpleflake' | 'baidu' | 'sonyflake' | 'discord' |
  'js53' | 'mastodon'
type TextSchemeOf64Bits = 'lable-spread' | 'lable-sequential' | 'tsid' | 'tid' | 'scru64'
export type TextScheme = TextSchemeOf64Bits | 'objectid' | 'objectid-legacy' | 'xid' | 'pushid' | 'flake' | 'locality' |
  'locality-sequential' | 'uuid1' | 'uuid1-swapped' | 'uuid6' | 'uuid7' | 'typeid' | 'ulid' | 'timeflake' | 'scru128' | 'uuid4' | 'uuid3' |
  'uuid5' | 'ksuid' | 'time-random' | 'time-member' | 'uuid2' | 'uuid8' | 'nil' | 'max'
export type KnownScheme = NumberScheme | TextScheme
/** The type of the IDs of a scheme, with `output`. */
export type IDOf<S, O = undefined> = O extends 'bigint' ? bigint : O extends 'buffer' ? Uint8Array : O extends string ? string :
  S extends NumberScheme ? bigint : S extends TextScheme ? string : ID
type ArrayOf<S> = S extends NumberScheme | TextSchemeOf64Bits ? BigUint64Array : S extends TextScheme ? Uint8Array : BigUint64Array | Uint8Array
/** A scheme or layout that has no type here. */
type Other<S> = S extends KnownScheme ? never : S

export class FirnError extends Error {
  /** "ERR_FIRN_BUSY" */
  code: string
  /** "BUSY" */
  reason: string
  errno: number
  /** what to do, or "" */
  cure: string
  /** its name in firn.h: "RAISE_SHIFT", or "NONE" */
  cureName: string
  /** the wrong value, or "" */
  value: string
  /** its limit, such as "0 to 1023", or "" */
  limit: string
}

export interface SchemeOptions { epoch?: Time, bits?: string, digits?: number }
export interface Keys {
  // keys: written by bindings/keys
  /** the namespace in the store; by default the scheme's name, with epoch and bits if they are changed */
  ns?: string
  /** the node as one number; or ordinal: the number after the last dash of the host name; or ip: the low bits of the address; without this key firn claims a free node */
  node?: number | string
  /** how many nodes to hold at the same time; with more than one, IDs sort per node */
  nodes?: number | bigint
  /** the time of tick 0, RFC 3339 or @SECONDS */
  epoch?: Date | string
  /** the widths of the fields, most significant first: a/b/c */
  bits?: string
  /** of typeid: the prefix before the _ of each text, at most 63 of a-z and _ */
  prefix?: string
  /** the number of random digits of time-random, 1 to 18; by default 6 */
  digits?: number | string
  /** strict: a later call gets a greater ID; thread: only within one thread, which is faster with many threads */
  ordering?: 'strict' | 'thread'
  /** fresh: read at most stale=100us ago; exact: read in every call; tick: the coarse clock of the kernel */
  clock?: 'fresh' | 'exact' | 'tick'
  /** with clock=fresh: how long a reading of the clock stays valid */
  stale?: string
  /** where random bits come from. auto: the kernel, and after 1 MiB a generator in the process with a key from the kernel; system: the kernel alone */
  entropy?: 'auto' | 'system'
  /** when a tick is used up: borrow from later ticks, up to max_lead; wait: borrow, then sleep up to max_wait; fail: return an error */
  full?: 'borrow' | 'wait' | 'fail'
  /** where the sequence of a new tick begins: zero, random:N (below N) or rolling */
  start?: string
  /** after a clock rollback beyond max_back: leave the node for another one, wait for the clock, or fail; auto: leave a claimed node, wait on a fixed one; without a store the time of IDs stays until the clock has caught up */
  back?: 'auto' | 'leave' | 'wait' | 'fail'
  /** clock rollbacks up to this are absorbed */
  max_back?: string
  /** how far IDs may run ahead of the clock; at least max_back */
  max_lead?: string
  /** how long a call may wait where a policy says wait, and for a node that is in use */
  max_wait?: string
  /** how far the clock may differ from the clock of the store; with a larger difference, claims of nodes fail */
  max_skew?: string
  /** the length of a window; by default 2s on an embedded store, 3s for a fixed node on a shared store, 10s for a claimed one; with max_lead and max_skew at most 14s, or 614s with a longer reach= */
  window?: string
  /** how far ahead of the store's clock a reservation of the namespace may end, fixed by its first generator: 10min allows windows of up to 10min, the default then for a claimed node on a shared store; 1h is for reserves of machines; IDs pause so long after the store lost reservations */
  reach?: '15s' | '10min' | '1h'
  /** how long this machine can issue without the store: a local file holds nodes for so long, and processes that start during this time use them; at most the reach of the namespace, as reach=1h */
  reserve?: string
  /** the file of the reserve; by default reserve.db in the folder of the default store of the user */
  reserve_path?: string
  /** how many nodes the reserve holds, for all processes of the machine that share its file: two for each, so that a process that restarts does not wait for its old window */
  reserve_nodes?: number | bigint
  /** with reach=1h: the nodes that reserves of machines claim, as 900..1023, at one end of the nodes, fixed by the first generator of the namespace: only these have reach=1h, and a loss of the store stops all others for 15s only */
  reserve_claim?: string
  /** 1 uses a reserve whose file was moved or copied while the store is away: nothing else may use its slots */
  reserve_trust?: boolean
  /** window: slots are reserved ahead; online: each call reserves what it needs */
  mode?: 'window' | 'online'
  /** back-dated IDs come from the common history node of the namespace, or from a node that only this generator uses */
  history?: 'common' | 'job'
  /** 0 refuses IDs that are negative as signed 64-bit numbers, 1 issues them; auto: 0 for schemes whose text is such a number, else 1 */
  unsigned?: 'auto' | '0' | '1'
  // end of keys
}
/** The keys, and the fields of firn's schemes that can be fixed. Layouts of your own have other fields. */
export interface OpenOptions<O extends string | undefined = string | undefined> extends Keys {
  store?: string
  /** "bigint", "string", "buffer" or the name of a text form */
  output?: O
  note?: string
  moduleDir?: string
  unsafe?: boolean
  cluster?: Value
  datacenter?: Value
  machine?: Value
  member?: Value
  process?: Value
  region?: Value
  shard?: Value
  worker?: Value
}
export interface SegmentOptions { store?: string, moduleDir?: string, unsafe?: boolean, [key: string]: Value }
export interface Status {
  reserved: boolean, held: boolean, node: number, claims: number, renewals: number, giveBacks: number, storeErrors: number
  scheme: string, layout: string
  /** After a clock rollback, the time of IDs stays until the clock catches up. Not in WebAssembly. */
  stays?: boolean
}
export interface Scheme { name: string, layout: string, bits: number, form: string, sorts: string }
export interface Shown {
  /** of a TypeID, which `text` has too; else "" */
  prefix: string
  scheme: string, id: ID, text: string, fields: Record<string, string>, time?: Date, timeText?: string, unixNs?: bigint
}
/** A format that a text may have, and that firn does not issue: docs/reference/recognised.md. */
export interface Match {
  format: string, sure: 'certain' | 'likely' | 'possible', reason: string, fields: Record<string, string>, time?: Date, timeText?: string
  /** The format describes the text better than any scheme. */
  leads: boolean
}
export interface Reading { scheme: string, form: string, id: ID, sure: 'likely' | 'possible' }

/** Issues IDs. Made by open(). */
export class Generator<T extends ID = ID, A = BigUint64Array | Uint8Array> implements Iterable<T> {
  private constructor ()
  /** One ID: strict order, fresh time. */
  next (): T
  /** n IDs, in order. */
  many (n: number): T[]
  /** next() that waits for the store in the thread pool, and only if no slot is left. */
  nextAsync (): Promise<T>
  /** many() that waits in the same way. */
  manyAsync (n: number): Promise<T[]>
  /** n IDs of a past time, from a node that issues no others. */
  at (when: Time, n?: number): T[]
  /** at() in the thread pool. */
  atAsync (when: Time, n?: number): Promise<T[]>
  /** n IDs as a BigUint64Array for up to 64 bits, else as bytes, most significant first. */
  array (n: number): A
  /** An endless iterator that takes IDs from blocks. An ID is at most maxAge milliseconds old, at most 1000. */
  ids (options?: { maxAge?: number }): IterableIterator<T>
  [Symbol.iterator] (): IterableIterator<T>
  /** The state: reserved, held, node, claims, renewals, giveBacks, storeErrors, scheme, layout. */
  status (): Status
  /** Gives the window back to the store. Calling it again does nothing. */
  close (): void
  /** close() in the thread pool. */
  closeAsync (): Promise<void>
  [Symbol.dispose] (): void
  [Symbol.asyncDispose] (): Promise<void>
}
/** Integers that are unique under a key. Calls may wait for the store; those that end in Async wait in the thread pool. */
export class Segment {
  constructor (key: string, options?: SegmentOptions)
  /** new Segment() in the thread pool. */
  static open (key: string, options?: SegmentOptions): Promise<Segment>
  nextAsync (): Promise<bigint>
  blockAsync (n: number | bigint): Promise<bigint>
  peekAsync (): Promise<bigint>
  advanceAsync (from: number | bigint): Promise<bigint>
  closeAsync (): Promise<void>
  /** The next integer. */
  next (): bigint
  /** The first of n integers; the others follow in steps of increment(). */
  block (n: number | bigint): bigint
  /** The next integer that the store would give. Reserves nothing. */
  peek (): bigint
  increment (): bigint
  /** The store gives nothing below `from` any more. */
  advance (from: number | bigint): bigint
  /** Calling it again does nothing. */
  close (): void
  [Symbol.dispose] (): void
  [Symbol.asyncDispose] (): Promise<void>
}
/** Dated numbers for people: new Series('invoices', { template: 'INV{year}/{counter:7}', zone: 'Europe/Berlin' }). Without
 * template, the definition that the store has. One call at a time; those that end in Async wait in the thread pool. */
export class Series {
  constructor (name: string, options?: SegmentOptions)
  /** new Series() in the thread pool. */
  static open (name: string, options?: SegmentOptions): Promise<Series>
  /** The next number, of now or of a time. */
  next (at?: Time | null): string
  /** n numbers of one period. */
  many (n: number, at?: Time | null): string[]
  /** The number that the store would grant next. Reserves nothing. */
  peek (at?: Time | null): string
  /** The counter of a number. */
  read (number: string): bigint
  /** The keys that the store keeps. */
  readonly definition: string
  nextAsync (at?: Time | null): Promise<string>
  manyAsync (n: number, at?: Time | null): Promise<string[]>
  peekAsync (at?: Time | null): Promise<string>
  /** Calling it again does nothing. */
  close (): void
  closeAsync (): Promise<void>
  [Symbol.dispose] (): void
  [Symbol.asyncDispose] (): Promise<void>
}
/** IDs for records that have a time but no ID: the same IDs at each run for the same records in the same order. Of the addon:
 * WebAssembly has no Job. */
export interface Job<T extends ID = ID> {
  /** The ID of the next record. After an error the job is as before, so that you may skip the record. */
  next (when: Time): T
  /** By how many nanoseconds the ID of the last record is later than the record. */
  readonly shiftNs: number
  /** Was the job started before? False without a store. */
  readonly again: boolean
  /** Erases what follows from the seed. Calling it again does nothing. */
  close (): void
  [Symbol.dispose] (): void
}
export interface JobOptions<O extends string | undefined = string | undefined> {
  /** of the job: the store reserves a node under it, for ever; without name and store, set `node` or its fields */
  name?: string
  /** of the input, such as 64 bits of a hash; needed with a name, which belongs to one digest */
  digest?: bigint
  /** of random bits, for schemes that have some: another one for each job */
  seed?: string
  /** how many milliseconds a record of a full tick may move ahead; by default 1000 */
  maxShift?: number
  /** by how many milliseconds a record may be earlier than the latest one; 0, the default: any order */
  disorder?: number
  store?: string
  /** "bigint", "string", "buffer" or the name of a text form */
  output?: O
  moduleDir?: string
  unsafe?: boolean
  ns?: string
  node?: number | string
  epoch?: Date | string
  bits?: string
  digits?: number | string
  unsigned?: 'auto' | '0' | '1'
  datacenter?: Value
  worker?: Value
}
export const Job: {
  new <S extends KnownScheme, O extends string | undefined = undefined> (scheme: S, options?: JobOptions<O>): Job<IDOf<S, O>>
  new <S extends string, O extends string | undefined = undefined> (scheme: Other<S>,
    options?: JobOptions<O> & Record<string, Value>): Job<IDOf<string, O>>
  /** new Job() in the thread pool. */
  open<S extends KnownScheme, O extends string | undefined = undefined> (scheme: S, options?: JobOptions<O>): Promise<Job<IDOf<S, O>>>
  open<S extends string, O extends string | undefined = undefined> (scheme: Other<S>,
    options?: JobOptions<O> & Record<string, Value>): Promise<Job<IDOf<string, O>>>
}
/** Order numbers: integers encrypted with a key of 16 bytes. */
export class Order {
  constructor (key: Uint8Array, options?: { moduleDir?: string, [key: string]: Value })
  write (integer: number | bigint): string
  read (number: string): bigint
}

/** Other IDs for IDs, which show neither time nor volume. A masked ID authorises nobody. The key file is one of
 * `firn mask keygen`. A BigInt becomes a BigInt, a text a text. */
export class Mask {
  constructor (name: string, keyFile: string, options?: { moduleDir?: string, [key: string]: Value })
  mask<T extends string | bigint> (id: T): T
  unmask<T extends string | bigint> (masked: T): T
  /** 8 hex digits that another key, name, width or version changes. Not secret. */
  readonly fingerprint: string
}

/** Opens a generator: open('snowflake', { store: 'sqlite:/srv/firn.db', node: 3 }). */
export function open<S extends KnownScheme, O extends string | undefined = undefined> (scheme: S, options?: OpenOptions<O>):
  Generator<IDOf<S, O>, ArrayOf<S>>
export function open<S extends string, O extends string | undefined = undefined> (scheme: Other<S>,
  options?: OpenOptions<O> & Record<string, Value>): Generator<IDOf<string, O>>
/** open() in the thread pool. */
export function openAsync<S extends KnownScheme, O extends string | undefined = undefined> (scheme: S, options?: OpenOptions<O>):
  Promise<Generator<IDOf<S, O>, ArrayOf<S>>>
export function openAsync<S extends string, O extends string | undefined = undefined> (scheme: Other<S>,
  options?: OpenOptions<O> & Record<string, Value>): Promise<Generator<IDOf<string, O>>>
/** One ID of a scheme that needs no store; uuid7 and ulid in order. */
export function uuid7 (): string
export function uuid4 (): string
export function ulid (): string
export function ksuid (): string
/** typeid('user') is 'user_01kb...'. */
export function typeid (prefix?: string): string
/** The ID with these fields; `time` is a Date, RFC 3339 text or a BigInt of nanoseconds since 1970. */
export function pack<S extends string> (scheme: S, fields: Record<string, Value>, options?: SchemeOptions): IDOf<S>
/** Returns the contents of an ID. Without a scheme, the best reading of a text. */
export function show (id: ID, scheme?: string | null, options?: SchemeOptions & { form?: string }): Shown
/** The ID of a text; refuses what is not an ID of the scheme. */
export function parse<S extends string> (id: string, scheme: S, options?: SchemeOptions & { form?: string, prefix?: string }): IDOf<S>
/** An ID as text in a form; without one, the scheme's own. */
export function format (id: ID, scheme: string, form?: string | null, options?: SchemeOptions & { prefix?: string }): string
/** [least, greatest] ID of from <= time < to. `pinned` has the fields before the time. */
export function range<S extends string> (scheme: S, from: Time, to: Time,
  options?: SchemeOptions & { pinned?: Record<string, Value>, prefix?: string }): [IDOf<S>, IDOf<S>]
/** The same fields in another scheme: uuid1, uuid6, uuid1-swapped. */
export function convert<S extends string> (id: ID, from: string, to: S): IDOf<S>
/** The schemes that a text is plausibly an ID of, best first. */
export function guess (id: string): Reading[]
/** The formats of other systems that a text may have, such as "stripe" or "nanoid", best first. */
export function recognize (id: string): Match[]
/** A uuid3 or uuid5 of a namespace ("dns", "url", "oid", "x500" or a UUID) and a name (string or bytes). */
export function digest (scheme: string, namespace: string, name: string | Uint8Array): string
/** Describes a scheme: name, layout, bits, form, sorts. */
export function scheme (name: string, options?: SchemeOptions): Scheme
export function schemes (): string[]
/** For the restore hook of a host that starts processes from a snapshot: other nodes, random bytes and integers. In each worker. */
export function renewIdentity (): void
export function forms (): string[]
export const version: string
/** "addon" or "wasm", which has no stores */
export const backend: 'addon' | 'wasm'
