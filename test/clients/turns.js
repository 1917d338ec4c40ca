// SPDX-License-Identifier: MIT
// Calls of one iterator of the client for JavaScript, at every order of turns in which a refill may end: prints how many
// of 2400 IDs are missing or repeated.
'use strict'
const { Client } = require('../../bindings/node/client.js')

async function lost (block) {
  let issued = 0
  const reply = text => ({ status: 200, text: async () => text })
  const fetch = async url => url.includes('/schemes/')
    ? reply('bits 64\nform dec\n')
    : reply(Array.from({ length: new URL(url).searchParams.get('n') }, () => `${++issued}\n`).join(''))
  const ids = new Client('http://127.0.0.1:1', { block, fetch }).ids('snowflake', { maxAge: 3600000 })
  const found = new Set()
  await Promise.all(Array.from({ length: 8 }, async (_, task) => {
    for (let i = 0; i < 300; i++) {
      for (let turns = (task * 7 + i * 3) % 23; turns > 0; turns--) await null
      const { value } = await ids.next()
      if (typeof value === 'bigint') found.add(value)
    }
  }))
  return 2400 - found.size
}

Promise.all([1, 2, 256].map(lost)).then(all => console.log(...all))
