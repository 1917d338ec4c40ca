// SPDX-License-Identifier: MIT
// npm packages, asked by check.py: read, write, time, pack, convert, digest. A package that lacks one says "-".
import { createInterface } from 'node:readline'
import { readFileSync } from 'node:fs'

const versions = { uuid1: 1, uuid3: 3, uuid4: 4, uuid5: 5, uuid6: 6, uuid7: 7, uuid8: 8, nil: 0, max: 15 }
const uuids = Object.keys(versions).join()
const hex = bytes => Buffer.from(bytes).toString('hex')
const bytes = text => Buffer.from(text, 'hex')
const dashed = h => [h.slice(0, 8), h.slice(8, 12), h.slice(12, 16), h.slice(16, 20), h.slice(20)].join('-')
const must = (truth, why) => { if (!truth) throw new Error(why) }

const ulidLike = m => ({
  schemes: 'ulid',
  read: (_, text) => { must(m.isValid(text), 'isValid'); return m.ulidToUUID(text).replaceAll('-', '').toLowerCase() },
  write: (_, h) => m.uuidToULID(dashed(h)),
  time: (_, text) => m.decodeTime(text)
})

const adapters = {
  uuid: m => ({
    schemes: uuids,
    read: (scheme, text) => { must(m.version(text) === versions[scheme], 'version'); return hex(m.parse(text)) },
    write: (_, h) => m.stringify(bytes(h)),
    convert: (from, text, to) => ({ 'uuid1 uuid6': m.v1ToV6, 'uuid6 uuid1': m.v6ToV1 })[`${from} ${to}`]?.(text),
    digest: (scheme, name, space) => ({ uuid3: m.v3, uuid5: m.v5 })[scheme](bytes(name), space)
  }),
  uuidv7: ({ UUID }) => ({
    schemes: 'uuid4,uuid7,nil,max',
    read: (scheme, text) => {
      const id = UUID.parse(text)
      must(id.isNil() ? scheme === 'nil' : id.isMax() ? scheme === 'max' : id.getVersion() === versions[scheme], 'version')
      return hex(id.bytes)
    },
    write: (_, h) => UUID.ofInner(bytes(h)).toString()
  }),
  ulid: ulidLike,
  ulidx: ulidLike,
  bson: ({ ObjectId }) => ({
    schemes: 'objectid',
    read: (_, text) => hex(new ObjectId(text).id),
    write: (_, h) => new ObjectId(bytes(h)).toHexString(),
    time: (_, text) => new ObjectId(text).getTimestamp().getTime()
  }),
  ksuid: ({ default: KSUID }) => ({
    schemes: 'ksuid',
    read: (_, text) => hex(KSUID.parse(text).raw),
    write: (_, h) => new KSUID(bytes(h)).string,
    time: (_, text) => KSUID.parse(text).date.getTime()
  }),
  'typeid-js': ({ TypeID }) => ({
    schemes: 'typeid',
    read: (_, text) => TypeID.fromString(text).toUUID().replaceAll('-', ''),
    write: (_, h, prefix) => TypeID.fromUUID(prefix, dashed(h)).toString()
  }),
  'xid-ts': ({ Xid }) => ({
    schemes: 'xid',
    read: (_, text) => hex(Xid.parse(text).toBytes()),
    write: (_, h) => new Xid(bytes(h)).toString(),
    time: (_, text) => Xid.parse(text).timestamp() * 1000
  }),
  'tsid-ts': ({ TSID }) => ({
    schemes: 'tsid',
    read: (_, text) => TSID.fromString(text).number.toString(16).padStart(16, '0'),
    write: (_, h) => new TSID(BigInt('0x' + h)).toString(),
    time: (_, text) => TSID.fromString(text).timestamp
  }),
  '@sapphire/snowflake': ({ TwitterSnowflake: snowflake, DiscordSnowflake: discord }) => ({
    schemes: 'snowflake,discord',
    time: (scheme, text) => ({ snowflake, discord })[scheme].timestampFrom(text),
    // its workerId is bits 17 to 21, which Twitter called datacenter
    pack: (scheme, ...fields) => {
      const [timestamp, workerId, processId, increment] = fields.map(BigInt)
      return ({ snowflake, discord })[scheme].generate({ timestamp, workerId, processId, increment })
    }
  })
}

const tid = ({ timestamp, clockid }) => (BigInt(timestamp) << 10n | BigInt(clockid)).toString(16).padStart(16, '0')
const tidParts = h => [Number(BigInt('0x' + h) >> 10n), Number(BigInt('0x' + h) & 1023n)]
Object.assign(adapters, {
  scru128: ({ Scru128Id: id }) => ({
    schemes: 'scru128',
    read: (_, text) => id.fromString(text).toHex().slice(2), // without 0x
    write: (_, h) => id.fromBytes(bytes(h)).toString(),
    time: (_, text) => id.fromString(text).timestamp,
    pack: (_, ...fields) => id.fromFields(...fields.map(Number)).toString()
  }),
  '@atcute/tid': m => ({
    schemes: 'tid',
    read: (_, text) => tid(m.parse(text)),
    write: (_, h) => m.create(...tidParts(h)),
    time: (_, text) => Math.floor(m.parse(text).timestamp / 1000)
  }),
  '@atproto/common-web': ({ TID }) => ({
    schemes: 'tid',
    read: (_, text) => { const id = TID.fromStr(text); return tid({ timestamp: id.timestamp(), clockid: id.clockid() }) },
    write: (_, h) => TID.fromTime(...tidParts(h)).toString(),
    time: (_, text) => Math.floor(TID.fromStr(text).timestamp() / 1000)
  }),
  'firebase-key': m => ({ schemes: 'pushid', time: (_, text) => m.milliseconds(text) }),
  simpleflakes: ({ default: m }) => ({
    schemes: 'simpleflake',
    time: (_, text) => m.parseSimpleflake(text).timestamp,
    pack: (_, ms, random) => m.simpleflake(Number(ms), Number(random)).toString()
  }),
  sonyflake: ({ Sonyflake }) => ({
    schemes: 'sonyflake',
    time: (_, text) => Sonyflake.decomposeTimestamp(text, Date.UTC(2014, 8, 1)),
    pack: (_, ms, sequence, machineId) => new Sonyflake({ epoch: Date.UTC(2014, 8, 1), machineId: Number(machineId) })
      .generateCustomId({ timestamp: Number(ms), sequence: Number(sequence) })
  })
})

const loaded = {}
const list = []
for (const name of Object.keys(adapters)) {
  const module = await import(name).catch(() => null)
  if (module === null) continue
  loaded[name] = adapters[name](module)
  const { version } = JSON.parse(readFileSync(`node_modules/${name}/package.json`))
  list.push(`${name}|${version}|${loaded[name].schemes}`)
}
console.log(list.join('\t'))
for await (const line of createInterface({ input: process.stdin })) {
  const [name, op, scheme, ...args] = line.split('\t')
  let answer
  try {
    answer = loaded[name][op]?.(scheme, ...args.map(arg => bytes(arg).toString())) ?? '-'
  } catch (error) {
    answer = '!' + String(error.message).split('\n')[0]
  }
  console.log(String(answer))
}
