// SPDX-License-Identifier: MIT
// The client `redis` of npm and Debian: node clients.js PORT 2|3. Prints "fine", or the first thing that is not.
const assert = require('assert');
const { createClient } = require('redis');

async function main(port, protocol) {
    const client = createClient({ url: `redis://127.0.0.1:${port}`, RESP: protocol, name: 'clients.js' });
    client.on('error', (error) => { throw error; });
    await client.connect();
    assert.strictEqual(await client.ping(), 'PONG');
    assert.strictEqual(await client.echo('a b'), 'a b');
    assert.strictEqual(await client.clientGetName?.() ?? 'clients.js', 'clients.js');
    const key = `node${protocol}.${process.pid}`;
    assert.strictEqual(await client.get(key), null);
    const first = await client.incr(key);
    assert.strictEqual(typeof first, 'number');
    assert.strictEqual(await client.incrBy(key, 10), first + 10);
    assert.strictEqual(await client.get(key), String(first + 10));
    // Sent without waiting: answered in their order.
    const many = await Promise.all(Array.from({ length: 1000 }, () => client.incr(key)));
    many.forEach((value, i) => assert.ok(i === 0 || value > many[i - 1]));
    const id = await client.sendCommand(['FIRN.NEW', 'snowflake']);
    assert.strictEqual(typeof id, 'string');
    assert.ok(BigInt(id) > 2n ** 53n);
    const ids = await client.sendCommand(['FIRN.NEW', 'snowflake', 'COUNT', '100']);
    assert.strictEqual(new Set(ids).size, 100);
    await assert.rejects(client.set(key, '1'), /unknown command 'SET'/);
    assert.strictEqual(await client.ping(), 'PONG');
    await client.quit();
    console.log('fine');
}

main(process.argv[2], Number(process.argv[3])).catch((error) => {
    console.log(error.stack);
    process.exit(1);
});
