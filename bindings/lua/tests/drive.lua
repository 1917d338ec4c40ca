-- SPDX-License-Identifier: MIT
-- The driver of the Lua client: see test/clients/clients.py.
package.path = arg[0]:gsub("tests/drive.lua$", "?.lua;") .. package.path
local find = package.searchers[2]
if os.getenv("FIRN_WITHOUT_POSIX") then -- for the client; the driver needs it for its forks
    package.searchers[2] = function(name) return name:match("^posix") and error("hidden") or find(name) end
end
local firn = require "firn"
package.searchers[2] = find
local socket = require "socket"

local clients, kept, verbs = {}, {}, {}
local function take(key, n, pause)
    local taken = {}
    for i = 1, n do
        if i > 1 then socket.sleep(pause) end
        taken[i] = kept[key]()
    end
    return taken
end

function verbs.open(name, ...)
    local given = {}
    for _, word in ipairs { ... } do
        local key, value = word:match("^([^=]*)=(.*)$")
        given[key] = value
    end
    local addresses, options = {}, {}
    for address in given.addresses:gmatch("[^,]+") do addresses[#addresses + 1] = address end
    for _, key in ipairs { "connect_timeout", "timeout", "max_wait" } do
        if given[key] then options[key] = given[key] / 1000 end
    end
    options.block = given.block and tonumber(given.block)
    options.token = given.token
    options.tls = given.ca and { cafile = given.ca }
    clients[name] = firn.new(addresses, options)
    return {}
end
verbs["next"] = function(name, scheme) return { clients[name]:next(scheme) } end
function verbs.many(name, scheme, n) return clients[name]:many(scheme, math.tointeger(tonumber(n))) end
function verbs.at(name, scheme, time, n) return clients[name]:at(scheme, time, math.tointeger(tonumber(n))) end
function verbs.kind(name, scheme) return { math.type(clients[name]:next(scheme)) == "integer" and "integer" or "text" } end
function verbs.ids(name, scheme, age, n, pause)
    local key = name .. " " .. scheme .. " " .. age
    kept[key] = kept[key] or clients[name]:ids(scheme, age / 1000)
    return take(key, tonumber(n), pause / 1000)
end
function verbs.fork(name, scheme, n)
    local unistd, key = require "posix.unistd"
    for each in pairs(kept) do
        if each:sub(1, #name + #scheme + 2) == name .. " " .. scheme .. " " then key = each end
    end
    local reader, writer = unistd.pipe()
    local child = unistd.fork()
    if child == 0 then
        unistd.write(writer, table.concat(take(key, n, 0), " "))
        unistd._exit(0)
    end
    unistd.close(writer)
    local said = ""
    repeat
        local part = unistd.read(reader, 4096)
        said = said .. (part or "")
    until not part or part == ""
    unistd.close(reader)
    require("posix.sys.wait").wait(child)
    local ids = {}
    for id in said:gmatch("%S+") do ids[#ids + 1] = id end
    for _, id in ipairs(take(key, n, 0)) do ids[#ids + 1] = id end
    return ids
end
function verbs.show(name, id)
    local shown = clients[name]:show(id)
    return { shown.scheme, shown.time }
end
function verbs.range(name, ...) return { clients[name]:range(...) } end
function verbs.convert(name, ...) return { clients[name]:convert(...) } end
function verbs.guess(name, id) return clients[name]:guess(id) end
function verbs.integer(name, key) return { clients[name]:integer(key) } end
function verbs.integers(name, key, n) return { clients[name]:integers(key, tonumber(n)) } end
function verbs.spend(name, scheme, n)
    local take, spent = clients[name]:ids(scheme, 3600), {}
    for i, call in ipairs { function() return clients[name]:next(scheme) end, take } do
        local begun, count = socket.gettime(), math.tointeger(i == 1 and tonumber(n) or n * 100)
        for _ = 1, count do call() end
        spent[i] = math.floor((socket.gettime() - begun) * 1e9 / count)
    end
    return spent
end
function verbs.print(name) return { (tostring(clients[name]):gsub(" ", "_")) } end

io.stdout:setvbuf("line")
for line in io.lines() do
    local words = {}
    for word in (line .. " "):gmatch("(.-) ") do
        words[#words + 1] = word:gsub("%%(%x%x)", function(hex) return string.char(tonumber(hex, 16)) end)
    end
    local done, said = pcall(verbs[words[1]], table.unpack(words, 2))
    if done then
        print(table.concat({ "ok", table.unpack(said) }, " "))
    elseif type(said) == "table" then
        print(("error %s %s %s"):format(said.kind, said.code or "-", said.text:gsub("%s+", " ")))
    else
        error(said, 0)
    end
end
