// SPDX-License-Identifier: MIT
// The blocks for Knex and TypeORM of bindings/node/README.md with the real packages, on SQLite, PostgreSQL and MariaDB, as its
// table says: each ID is read back exactly, and an update changes its row. test/frameworks/run gives PG and MY, URLs or empty.
const fs = require('fs')
require('reflect-metadata')
const typeorm = require('typeorm')
const knexOf = require('knex')
const typescript = require('typescript')
const firn = require(process.env.FIRN_PACKAGE)

const ROWS = 50
const real = firn.open('snowflake', { store: 'memory:' })
let issued = 0
const gen = { next: () => { issued++; return real.next() } }
const section = fs.readFileSync(process.argv[2], 'utf8').match(/^## Knex, TypeORM, Prisma$.*?^## /ms)[0]
const [knexBlock, safeBlock, typeormBlock] = [...section.matchAll(/```[jt]s\n(.*?)```/gs)].map(found => found[1])

let checks = 0
function check (sentence, good, why) {
  console.log(`${good ? 'ok' : 'not ok'} ${++checks} - ${sentence}${good ? '' : `\n# ${why}`}`)
  if (!good) process.exitCode = 1
}

// The connection of a URL, for every package.
function connection (url) {
  const { hostname: host, port, username: user, pathname } = new URL(url)
  return { host, port: Number(port), user, username: user, password: '', database: pathname.slice(1) }
}

const insertOf = new Function('knex', 'gen', 'total', `return (async () => { ${knexBlock} })()`)

async function tryKnex (sentence, type, config) {
  const knex = knexOf({ useNullAsDefault: true, ...config })
  await knex.schema.dropTableIfExists('orders')
  await knex.schema.createTable('orders', table => { table[type]('id').primary(); table.integer('total') })
  for (let total = 0; total < ROWS; total++) await insertOf(knex, gen, total)
  const rows = await knex('orders').orderBy('id')
  for (const { id, total } of rows) await knex('orders').where({ id }).update({ total: Number(total) + ROWS })
  const after = await knex('orders').orderBy('id')
  const good = after.filter((row, i) => Number(row.total) === i + ROWS && typeof row.id !== 'number' && firn.show(BigInt(row.id), 'snowflake').time > Date.now() - 3600000)
  check(`Knex, ${sentence}`, good.length === ROWS, `${good.length} of ${after.length} rows are right, such as ${JSON.stringify(String(after[0]?.id))}`)
  await knex.destroy()
}

async function tryTypeorm (sentence, type, config) {
  const text = typeormBlock.replace("'bigint'", `'${type}'`) + '\nreturn Order'
  const code = typescript.transpileModule(`function made(gen, { Entity, PrimaryColumn, Column, BeforeInsert }) { ${text} }`,
    { compilerOptions: { target: 'es2022', experimentalDecorators: true, emitDecoratorMetadata: true, useDefineForClassFields: false } }).outputText
  const Order = new Function(code + '; return made')()(gen, typeorm)
  const source = await new typeorm.DataSource({ ...config, entities: [Order], synchronize: true, dropSchema: true }).initialize()
  const orders = source.getRepository(Order)
  let good = 0
  for (let total = 0; total < ROWS; total++) {
    const order = await orders.save(orders.create({ total }))
    const before = issued
    const read = await orders.findOneBy({ id: order.id })
    read.total += ROWS
    await orders.save(read)
    if (read.id === order.id && issued === before) good++
  }
  const sum = await orders.sum('total')
  const count = await orders.count()
  check(`TypeORM, ${sentence}`, good === ROWS && count === ROWS && Number(sum) === ROWS * ROWS + ROWS * (ROWS - 1) / 2,
    `${good} of ${ROWS} were read back, ${count} rows, sum ${sum}`)
  const own = await orders.save(orders.create({ id: '7', total: 1 }))
  check(`TypeORM, ${sentence}: an ID of the program stays`, own.id === '7', own.id)
  await source.destroy()
}

(async () => {
  const sqlite = { client: 'better-sqlite3', connection: ':memory:' }
  const safe = new Function('sqlite', `return { ...sqlite, ${safeBlock.replace(/\/\/.*/g, '')} }`)
  await tryKnex('SQLite, a string column', 'string', sqlite)
  await tryKnex('SQLite, a bigint column with safe integers', 'bigInteger', safe(sqlite))
  await tryTypeorm('SQLite, a varchar column', 'varchar', { type: 'better-sqlite3', database: ':memory:' })
  for (const [name, url, client, type] of [['PostgreSQL', process.env.PG, 'pg', 'postgres'], ['MariaDB', process.env.MY, 'mysql2', 'mysql']]) {
    if (!url) {
      console.log(`ok ${++checks} - Knex and TypeORM, ${name} # SKIP it is not installed`)
      continue
    }
    const strings = client === 'mysql2' ? { supportBigNumbers: true, bigNumberStrings: true } : {}
    const { username, ...words } = connection(url)
    await tryKnex(`${name}, a bigint column`, 'bigInteger', { client, connection: { ...words, ...strings } })
    await tryTypeorm(`${name}, a bigint column`, 'bigint', { type, ...connection(url) })
  }
  console.log(`1..${checks}`)
  process.exit()
})().catch(error => { console.log(`not ok ${++checks} - ${error.stack}`); process.exit(1) })
