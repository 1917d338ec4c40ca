// SPDX-License-Identifier: MIT
// Compiles the file of a module of WebAssembly next to this one: { module, crypto }. `inside` is a module that has the bytes in itself.

// No literals, so that bundlers do not look for modules of Node.js.
const [files, cryptoName] = ['node:fs/promises', 'node:crypto']
const onNode = globalThis.process?.versions?.node

async function bytesOf (url) {
  if (onNode && url.protocol === 'file:') return (await import(/* webpackIgnore: true */ /* @vite-ignore */ files)).readFile(url)
  const answer = await fetch(url)
  if (!answer.ok) throw new Error(`status ${answer.status}`)
  return answer.arrayBuffer()
}

export default async function load (url, inside) {
  let module
  try {
    module = await WebAssembly.compile(await bytesOf(url))
  } catch (cause) {
    throw new Error(`firn: ${url} cannot be loaded (${cause.message}): serve that file of the package, or import '${inside}', which contains it`, { cause })
  }
  // Node.js 18 has no globalThis.crypto.
  const crypto = !globalThis.crypto && onNode && (await import(/* webpackIgnore: true */ /* @vite-ignore */ cryptoName)).webcrypto
  return { module, crypto }
}
