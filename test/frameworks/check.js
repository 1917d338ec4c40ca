// SPDX-License-Identifier: MIT
// The blocks of bindings/node/README.md for ORMs with the real packages, on SQLite, PostgreSQL and MariaDB, as its table says:
// each ID is read back exactly, an update changes its row, and a table with rows keeps its IDs. The traps that it names are
// there. test/frameworks/run gives PG and MY, URLs or empty.
const { execFileSync } = require('child_process')
const fs = require('fs')
const path = require('path')
require('reflect-metadata')
const typeorm = require('typeorm')
const knexOf = require('knex')
const typescript = require('typescript')
const firn = require(process.env.FIRN_PACKAGE)

const ROWS = 50
const real = firn.open('snowflake', { store: 'memory:' })
let issued = 0
const gen = { next: () => { issued++; return real.next() } }
const section = fs.readFileSync(process.argv[2], 'utf8').match(/^## Knex, TypeORM, Prisma, Drizzle, Sequelize$.*?^## /ms)[0]
const [knexBlock, safeBlock, typeormBlock, prismaBlock, drizzleBlock, sequelizeBlock] = [...section.matchAll(/```[jt]s\n(.*?)```/gs)].map(found => found[1])

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

// Whether the values are all there and all different.
const different = (values, n) => new Set(values.map(String)).size === n && values.length === n && !values.includes(null)

// A table with rows gets a column of IDs: in each row its own, without a default, and one for all with the default that the page
// warns of. A migration that runs again changes nothing.
async function tryMigration (sentence, type, knex) {
  const add = change => knex.schema.alterTable('orders', table => change(table))
  await add(table => table[type]('public_id'))
  for (const { id } of await knex('orders').select('id')) await knex('orders').where({ id }).update({ public_id: gen.next().toString() })
  await add(table => table.unique('public_id'))
  await add(table => table[type]('same').defaultTo(gen.next().toString()))
  const rows = await knex('orders')
  check(`Knex, ${sentence}: a column of a table with rows`, different(rows.map(row => row.public_id), ROWS) &&
    rows.every(row => typeof row.public_id !== 'number') && new Set(rows.map(row => String(row.same))).size === 1,
  `${new Set(rows.map(row => String(row.public_id))).size} of ${ROWS} IDs`)
  let now = ['1_first']
  const migrate = () => knex.migrate.latest({
    migrationSource: {
      getMigrations: async () => now, getMigrationName: name => name, getMigration: async name => ({ up: knex => knex('orders').where({ total: -1 }).del(), down () {} })
    }
  })
  const batches = [await migrate(), await migrate()]
  now = ['1_first', '2_second']
  batches.push(await migrate())
  check(`Knex, ${sentence}: migrations run once`, batches.map(([, names]) => names.join()).join(';') === '1_first;;2_second', JSON.stringify(batches, (key, value) => String(value)))
  for (const name of ['knex_migrations', 'knex_migrations_lock']) await knex.schema.dropTable(name)
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
  await tryMigration(sentence, type, knex)
  if (config.client === 'pg') {
    const { rows: [{ json, texts }] } = await knex.raw('SELECT json_agg(id) AS json, json_agg(id::text) AS texts FROM orders')
    check('JSON of the database has rounded Numbers, and exact texts', typeof json[0] === 'number' && after.every(row => texts.includes(row.id)), texts[0])
  }
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
  const refused = []
  for (const write of [() => orders.insert({ total: 1 }), () => orders.upsert({ total: 1 }, ['id']), () => orders.save({ total: 1 })]) {
    await write().catch(() => refused.push(1))
  }
  check(`TypeORM, ${sentence}: what runs no @BeforeInsert inserts no row`, refused.length === 3 && await orders.count() === ROWS + 1, refused.length)
  const partial = await orders.createQueryBuilder('o').select('o.total').where('o.id = :id', { id: '7' }).getOne()
  await orders.save(partial)
  check(`TypeORM, ${sentence}: a row that was read without its ID is inserted again`, await orders.count() === ROWS + 2 && partial.id !== '7', partial.id)
  const { max } = await orders.createQueryBuilder('o').select('MAX(o.id)', 'max').where('o.id <> :id', { id: '7' }).getRawOne()
  check(`TypeORM, ${sentence}: the greatest ID is exact`, (await orders.findOneBy({ id: max })) !== null && typeof await orders.maximum('id') === 'number', max)
  await source.destroy()
  if (type === 'bigint') await tryWidening(sentence, config)
}

// TypeORM drops a column whose type changes.
async function tryWidening (sentence, config) {
  const sourceOf = (other, options) => new typeorm.DataSource({
    ...config, ...options, synchronize: true,
    entities: [new typeorm.EntitySchema({ name: 'wide', columns: { id: { type: 'int', primary: true }, other: { type: other, nullable: true } } })]
  }).initialize()
  const narrow = await sourceOf('int', { dropSchema: true })
  await narrow.getRepository('wide').save({ id: 1, other: 7 })
  await narrow.destroy()
  const wide = await sourceOf('bigint')
  const row = await wide.getRepository('wide').findOneBy({ id: 1 })
  check(`TypeORM, ${sentence}: a change of the type drops the values`, row.other === null, row.other)
  await wide.destroy()
}

// Prisma with its driver adapters. Its engines, which npm does not have, are for other commands than generate.
async function tryPrisma (sentence, provider, adapter, knexConfig) {
  const folder = fs.mkdtempSync(path.join(__dirname, 'prisma-'))
  fs.writeFileSync(path.join(folder, 'schema.prisma'), `
generator client {
  provider = "prisma-client-js"
  output   = "."
}
datasource db {
  provider = "${provider}"
}
model Order {
  id     BigInt  @id
  total  Int
  parent BigInt?
  of     Order?  @relation("parts", fields: [parent], references: [id])
  parts  Order[] @relation("parts")
  @@map("parts")
}`)
  execFileSync('npx', ['prisma', 'generate', '--schema', path.join(folder, 'schema.prisma')],
    { cwd: __dirname, env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true', CHECKPOINT_DISABLE: '1' }, stdio: ['ignore', 'ignore', 'pipe'] })
  const knex = knexOf(knexConfig)
  await knex.schema.dropTableIfExists('parts')
  await knex.schema.createTable('parts', table => { table.bigInteger('id').primary(); table.integer('total'); table.bigInteger('parent') })
  const prisma = new (require(folder).PrismaClient)({ adapter })
  const createOf = new Function('prisma', 'gen', 'total', `return (async () => { return ${prismaBlock} })()`)
  const made = []
  for (let total = 0; total < ROWS; total++) made.push((await createOf(prisma, gen, total)).id)
  for (const { id, total } of await prisma.order.findMany()) await prisma.order.update({ where: { id }, data: { total: total + ROWS } })
  const rows = await prisma.order.findMany({ orderBy: { id: 'asc' } })
  check(`Prisma, ${sentence}`, rows.length === ROWS && rows.every((row, i) => row.id === made[i] && row.total === i + ROWS), String(rows[0]?.id))
  await prisma.order.createMany({ data: made.map(parent => ({ id: gen.next(), total: 0, parent })) })
  const whole = await prisma.order.findMany({ where: { parent: null }, include: { parts: true } })
  check(`Prisma, ${sentence}: rows that refer to rows`, whole.length === ROWS && whole.every(row => row.parts.length === 1 && row.parts[0].parent === row.id) &&
    different(whole.map(row => row.parts[0].id), ROWS), whole.length)
  const id = 2n ** 60n + 1n
  for (const total of [1, 2]) await prisma.order.upsert({ where: { id }, create: { id, total }, update: { total } })
  check(`Prisma, ${sentence}: upsert changes its row`, (await prisma.order.findMany({ where: { id } })).map(row => row.total).join() === '2')
  const rounded = await prisma.order.create({ data: { id: Number(id) + 1000, total: 1 } })
  check(`Prisma, ${sentence}: a Number is accepted, rounded`, rounded.id !== id + 1000n && rounded.id % 8n === 0n, String(rounded.id))
  await prisma.$disconnect()
  await knex.destroy()
  fs.rmSync(folder, { recursive: true })
}

// Drizzle, with the column of SQLite that the page names, and with columns that round.
async function tryDrizzle (sentence, core, db, run) {
  const table = core.sqliteTable || core.pgTable || core.mysqlTable
  const { integer = core.int, text, bigint } = core
  const block = core.sqliteTable ? drizzleBlock.replace("bigint({ mode: 'bigint' })", 'text()').replace('gen.next()', 'gen.next().toString()') : drizzleBlock
  const orders = new Function('gen', 'pgTable', 'bigint', 'integer', 'text', block + '\nreturn orders')(gen, table, bigint, integer, text)
  const { eq, max } = require('drizzle-orm')
  await run('DROP TABLE IF EXISTS orders')
  await run(`CREATE TABLE orders (id ${core.sqliteTable ? 'text' : 'bigint'} PRIMARY KEY, total integer)`)
  await db.insert(orders).values({ total: 0 })
  await db.insert(orders).values(Array.from({ length: ROWS - 1 }, (_, i) => ({ total: i + 1 })))
  const before = issued
  for (const { id, total } of await db.select().from(orders)) await db.update(orders).set({ total: total + ROWS }).where(eq(orders.id, id))
  const rows = await db.select().from(orders).orderBy(orders.id)
  const type = core.sqliteTable ? 'string' : 'bigint'
  check(`Drizzle, ${sentence}`, different(rows.map(row => row.id), ROWS) && issued === before &&
    rows.every((row, i) => row.total === i + ROWS && typeof row.id === type && firn.show(BigInt(row.id), 'snowflake').time > Date.now() - 3600000), String(rows[0]?.id))
  const [{ last }] = await db.select({ last: max(orders.id) }).from(orders)
  check(`Drizzle, ${sentence}: the greatest ID is exact`, String(last) === String(rows[ROWS - 1].id), String(last))
  const id = rows[ROWS - 1].id
  const write = db.insert(orders).values({ id, total: 7 })
  await (write.onConflictDoUpdate ? write.onConflictDoUpdate({ target: orders.id, set: { total: 7 } }) : write.onDuplicateKeyUpdate({ set: { total: 7 } }))
  check(`Drizzle, ${sentence}: upsert changes its row`, (await db.select().from(orders).where(eq(orders.total, 7))).map(row => String(row.id)).join() === String(id))
  await run('CREATE TABLE IF NOT EXISTS rounded (id bigint PRIMARY KEY)')
  await run('DELETE FROM rounded')
  await run(`INSERT INTO rounded VALUES (${2n ** 60n + 1n})`)
  const rounded = table('rounded', { id: core.sqliteTable ? integer() : bigint({ mode: 'number' }) })
  const [row] = await db.select().from(rounded)
  check(`Drizzle, ${sentence}: ${core.sqliteTable ? 'integer()' : "mode: 'number'"} rounds`, row.id === 2 ** 60, String(row.id))
  await run('DROP TABLE rounded')
}

async function trySequelize (sentence, type, options) {
  const { Sequelize, DataTypes } = require('sequelize')
  const sequelize = new Sequelize({ logging: false, ...options })
  const make = new Function('sequelize', 'gen', 'DataTypes', sequelizeBlock.replace('BIGINT', type) + '\nreturn Order')
  const Order = make(sequelize, gen, DataTypes)
  await sequelize.sync({ force: true })
  await Order.create({ total: 0 })
  await Order.bulkCreate(Array.from({ length: ROWS - 1 }, (_, i) => ({ total: i + 1 })))
  const before = issued
  for (const order of await Order.findAll()) await order.update({ total: order.total + ROWS })
  const rows = await Order.findAll({ order: [['id', 'ASC']], raw: true })
  check(`Sequelize, ${sentence}`, different(rows.map(row => row.id), ROWS) && issued === before && rows.every((row, i) => row.total === i + ROWS &&
    typeof row.id === 'string' && firn.show(BigInt(row.id), 'snowflake').time > Date.now() - 3600000), String(rows[0]?.id))
  await Order.upsert({ id: rows[0].id, total: 7 })
  const own = await Order.create({ id: '7', total: 8 })
  check(`Sequelize, ${sentence}: upsert changes its row, and an ID of the program stays`, (await Order.findAll({ where: { total: 7 } })).map(row => row.id).join() === rows[0].id &&
    own.id === '7' && await Order.count() === ROWS + 1)
  const last = await Order.findOne({ order: [['id', 'DESC']], where: { total: ROWS * 2 - 1 } })
  const most = await Order.max('id', { where: { total: { [require('sequelize').Op.gte]: ROWS } } })
  check(`Sequelize, ${sentence}: max('id') ${type === 'BIGINT' ? 'rounds' : 'is exact'}`, last.id === rows[ROWS - 1].id &&
    (type === 'BIGINT' ? typeof most === 'number' : most === last.id), String(most))
  const same = sequelize.define('same', { id: { type: DataTypes[type], defaultValue: gen.next().toString() }, n: { type: DataTypes.INTEGER, primaryKey: true } })
  await same.sync({ force: true })
  await same.bulkCreate([{ n: 1 }, { n: 2 }])
  check(`Sequelize, ${sentence}: a default that is no function gives all rows one ID`, new Set((await same.findAll()).map(row => row.id)).size === 1)
  await same.drop()
  await Order.drop()
  await sequelize.close()
}

// Decimal texts of different lengths do not sort as their IDs do; base32 does.
async function tryTexts (sqlite) {
  for (const output of ['string', 'base32']) {
    const knex = knexOf({ useNullAsDefault: true, ...sqlite })
    await knex.schema.createTable('orders', table => { table.string('id').primary(); table.integer('year') })
    const old = firn.open('snowflake', { store: 'memory:', output })
    for (const year of [2012, 2018, 2019, 2026]) await knex('orders').insert({ id: old.at(`${year}-01-02`, 1)[0], year })
    const years = await knex('orders').orderBy('id').pluck('year')
    const sorts = years.join() === '2012,2018,2019,2026'
    check(`SQLite, a string column: ${output} ${output === 'base32' ? 'sorts' : 'does not sort'}`, sorts === (output === 'base32'), years.join())
    await knex.destroy()
  }
}

// The types of IDs: typed.ts and typed.py, whose wrong lines must be errors.
function tryTypes () {
  const printed = (program, ...words) => {
    try {
      execFileSync('npx', [program, ...words], { cwd: __dirname, encoding: 'utf8' })
      return ''
    } catch (error) {
      return error.stdout || error.message
    }
  }
  const ts = printed('tsc', '--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', 'typed.ts')
  check('TypeScript, strict: each ID has the type of its scheme', ts === '', ts)
  const py = printed('pyright', '-p', 'pyright.json')
  check('pyright, strict: the same in Python', py === '', py)
}

// Bundles that run elsewhere: on Node.js as WebAssembly, and as one classic script, without top-level await.
function tryBundles () {
  const folder = fs.mkdtempSync(path.join(require('os').tmpdir(), 'firn-bundle-'))
  const esbuild = require('esbuild')
  const bundle = (name, contents, options) => {
    const outfile = path.join(folder, name)
    esbuild.buildSync({ stdin: { contents, resolveDir: __dirname }, bundle: true, outfile, logLevel: 'error', ...options })
    return outfile
  }
  const server = bundle('server.cjs', "const firn = require('firn'); console.log(firn.backend, firn.uuid7().length)", { platform: 'node' })
  check('esbuild, for Node.js: the bundle has WebAssembly in it', execFileSync('node', [server], { cwd: folder, encoding: 'utf8' }) === 'wasm 36\n')
  const script = bundle('script.js', "import { backend, ulid } from 'firn/sync'; globalThis.issued = backend + ' ' + ulid().length", { format: 'iife' })
  const { atob, crypto, performance, TextDecoder, TextEncoder, WebAssembly } = globalThis
  const page = require('vm').createContext({ atob, crypto, performance, TextDecoder, TextEncoder, WebAssembly, Uint8Array, setTimeout, clearTimeout })
  require('vm').runInContext(fs.readFileSync(script, 'utf8'), page)
  check('esbuild, a classic script: firn/sync issues', page.issued === 'wasm 26', page.issued)
  fs.rmSync(folder, { recursive: true })
}

(async () => {
  tryTypes()
  tryBundles()
  const sqlite = { client: 'better-sqlite3', connection: ':memory:' }
  const safe = new Function('sqlite', `return { ...sqlite, ${safeBlock.replace(/\/\/.*/g, '')} }`)
  await tryKnex('SQLite, a string column', 'string', sqlite)
  await tryKnex('SQLite, a bigint column with safe integers', 'bigInteger', safe(sqlite))
  await tryTypeorm('SQLite, a varchar column', 'varchar', { type: 'better-sqlite3', database: ':memory:' })
  await tryTexts(sqlite)
  const file = path.join(__dirname, 'prisma.db')
  await tryPrisma('SQLite', 'sqlite', new (require('@prisma/adapter-better-sqlite3').PrismaBetterSqlite3)({ url: `file:${file}` }),
    { client: 'better-sqlite3', connection: file, useNullAsDefault: true })
  const Sqlite = require('better-sqlite3')
  const memory = new Sqlite(':memory:')
  await tryDrizzle('SQLite, a text column', require('drizzle-orm/sqlite-core'), require('drizzle-orm/better-sqlite3').drizzle(memory), text => memory.exec(text))
  await trySequelize('SQLite, a string column', 'STRING', { dialect: 'sqlite', storage: ':memory:' })
  for (const [name, url, client, type] of [['PostgreSQL', process.env.PG, 'pg', 'postgres'], ['MariaDB', process.env.MY, 'mysql2', 'mysql']]) {
    if (!url) {
      console.log(`ok ${++checks} - ORMs, ${name} # SKIP it is not installed`)
      continue
    }
    const strings = client === 'mysql2' ? { supportBigNumbers: true, bigNumberStrings: true } : {}
    const { username, ...words } = connection(url)
    await tryPrisma(name, client === 'pg' ? 'postgresql' : 'mysql', client === 'pg'
      ? new (require('@prisma/adapter-pg').PrismaPg)({ connectionString: url })
      : new (require('@prisma/adapter-mariadb').PrismaMariaDb)(words), { client, connection: words })
    await tryKnex(`${name}, a bigint column`, 'bigInteger', { client, connection: { ...words, ...strings } })
    await tryTypeorm(`${name}, a bigint column`, 'bigint', { type, ...connection(url) })
    const pool = client === 'pg' ? new (require('pg').Pool)({ connectionString: url }) : require('mysql2/promise').createPool({ ...words, ...strings })
    const [core, driver] = client === 'pg' ? ['pg', 'node-postgres'] : ['mysql', 'mysql2']
    await tryDrizzle(`${name}, a bigint column`, require(`drizzle-orm/${core}-core`), require(`drizzle-orm/${driver}`).drizzle({ client: pool }), text => pool.query(text))
    await pool.end()
    await trySequelize(`${name}, a BIGINT column`, 'BIGINT', { dialect: type, ...connection(url) })
  }
  console.log(`1..${checks}`)
  process.exit()
})().catch(error => { console.log(`not ok ${++checks} - ${error.stack}`); process.exit(1) })
