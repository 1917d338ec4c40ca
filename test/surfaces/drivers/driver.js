// SPDX-License-Identifier: MIT
// Answers the requests of test/surfaces/compare.py with the package for Node.js: see class Program in surfaces.py.
'use strict'
const firn = require('firn')

function answer (verb, name, settings, fields) {
  const { as, scheme, from, to, namespace, ...options } = settings
  const typeid = fields.prefix !== undefined && !firn.scheme(name, options).layout.includes('prefix:')
  const { prefix, ...rest } = fields
  const prefixed = typeid ? { ...options, prefix } : options
  const given = typeid ? rest : fields
  switch (verb) {
    case 'pack': return [firn.format(firn.pack(name, given, options), name, as, prefixed)]
    case 'span': return firn.range(name, from, to, { ...prefixed, pinned: given }).map(id => typeid ? id : firn.format(id, name, as, options))
    case 'show': {
      const shown = firn.show(name, scheme, { ...options, form: from })
      return [shown.scheme, shown.text, shown.timeText]
    }
    case 'convert':
      if (!firn.forms().includes(to)) return [firn.convert(name, scheme, to)]
      return [firn.format(firn.parse(name, scheme, { form: from }), scheme, to)]
    case 'schemes': {
      const { layout, bits, form } = firn.scheme(name, options)
      return [layout, bits, form]
    }
    case 'digest': return [firn.digest(name, namespace, settings.name)]
    default: return [firn.open(name).next()]
  }
}

for (const line of require('fs').readFileSync(0, 'utf8').split('\n').slice(0, -1)) {
  const [verb, name, ...words] = line.split('\t')
  const [settings, fields] = [{}, {}]
  let kept = settings
  for (const word of words) {
    if (word === '') kept = fields
    else kept[word.slice(0, word.indexOf('='))] = word.slice(word.indexOf('=') + 1)
  }
  try {
    console.log(['good', ...answer(verb, name, settings, fields)].join('\t'))
  } catch (error) {
    if (!(error instanceof firn.FirnError)) throw error
    console.log(['bad', error.reason, error.message].join('\t'))
  }
}
