// SPDX-License-Identifier: MIT
// firn/issue with the bytes inside: for require, for classic scripts, and for bundlers that leave files out.
'use strict'

const { parts, ...firn } = require('./generators.js')(require('./inside.js')(require('./issue_bytes.js')))

module.exports = firn
