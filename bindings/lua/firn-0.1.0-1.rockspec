-- SPDX-License-Identifier: MIT
rockspec_format = "3.0"
package = "firn"
version = "0.1.0-1"
source = { url = "file://." }
description = { summary = "Unique IDs for distributed systems: a client of firn serve", license = "MIT", homepage = "https://git.example/firn" }
dependencies = { "lua >= 5.1", "luasocket >= 3.0" }
build = { type = "builtin", modules = { firn = "firn.lua" } }
