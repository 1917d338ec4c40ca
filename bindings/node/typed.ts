// SPDX-License-Identifier: MIT
// The types of IDs: test/frameworks/run compiles this file in strict mode. Each expected error is one there.
import * as firn from 'firn'
import { Client } from 'firn/client'

export async function typed () {
  using gen = firn.open('snowflake', { store: 'memory:', node: 3, datacenter: 1 })
  const number: bigint = gen.next()
  const numbers: BigUint64Array = gen.array(3)
  await using other = await firn.openAsync('uuid7')
  const text: string = await other.nextAsync()
  const bytes: Uint8Array = firn.open('uuid7').array(3)
  const words: string[] = firn.open('snowflake', { output: 'base32' }).many(2)
  const raw: Uint8Array = firn.open('ulid', { output: 'buffer' }).next()
  const id: firn.ID = firn.open('time:41 shelf:10 sequence:12', { shelf: 1 }).next()
  const read: bigint = firn.parse('1541815603606036480', 'snowflake')
  const [least]: [string, string] = firn.range('uuid7', '2026-01-06', '2026-01-07')
  using segment = await firn.Segment.open('orders', { store: 'memory:' })
  const integer: bigint = await segment.nextAsync()
  using job = new firn.Job('snowflake', { name: 'orders', digest: 7n, store: 'memory:' })
  const old: bigint = job.next(new Date('2019-05-04'))
  const oldText: string = (await firn.Job.open('uuid7', { seed: 'of the orders' })).next('2019-05-04')
  // @ts-expect-error a key that a job has not
  new firn.Job('snowflake', { name: 'orders', digest: 7n, window: '3s' })
  // @ts-expect-error a snowflake is a bigint
  const wrong: string = firn.open('snowflake').next()
  // @ts-expect-error a key with a typing error
  firn.open('snowflake', { windw: '3s' })
  // @ts-expect-error no output is a number
  const none: number = firn.open('snowflake', { output: 'base32' }).next()
  return { old, oldText, number, numbers, text, bytes, words, raw, id, read, least, integer, wrong, none, new: firn.typeid('user') }
}

/** The client of the server has the same names. */
export async function asked () {
  const client = new Client('http://127.0.0.1:7380', { maxWait: 1000 })
  const gen = client.open('snowflake', { output: 'hex', maxAge: 1 })
  const ids: firn.ID[] = [await gen.next(), ...await gen.manyAsync(2), ...await gen.at(new Date(), 2)]
  for await (const id of gen) ids.push(id)
  const block: bigint = await client.segment('tickets').block(5n)
  const shown: firn.Shown = await client.show('x', 'ulid')
  const [guessed] = await client.guess('x')
  const scheme: string | undefined = guessed?.scheme
  return { ids, block, shown, scheme }
}
