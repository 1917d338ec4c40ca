-- SPDX-License-Identifier: MIT
--- Unique IDs from firn serve, over the Redis protocol, with LuaSocket. Lua 5.3 or later; 5.1, 5.2 and LuaJIT get IDs as
-- strings, because their numbers lose digits.
--
--     local firn = require "firn"
--     local ids = firn.new({ "redis://ids1:7379", "redis://ids2:7379" })
--     ids:next("snowflake")                --> 2124449430815301632: strict order, fresh time
--     ids:many("uuid7", 3)                 --> a table of three strings
--     local take = ids:ids("snowflake")    -- a function: IDs from blocks, at most 1 ms old
--     take()
--
-- After a fork the child takes a new block and a new connection, so no ID is issued twice. IDs of up to 64 bits are
-- integers, those above math.maxinteger strings of digits; others, such as UUIDs, are strings.
--
-- Errors are raised as tables: kind is "overload" (servers answered that they cannot issue now: try again later),
-- "unreachable" (no server answered) or "request" (the request is wrong; never retried); code is the first word of the
-- server's error; text, and tostring(), is a sentence.

local socket = require "socket"

local M = { version = "0.1.0" }
local Client = {}
Client.__index = Client

-- The first words of errors that say "not now". Redis proxies add the last two.
local OVERLOAD = { TRYAGAIN = true, OOM = true, LOADING = true, BUSY = true }
local MOST_TEXT, MOST_ITEMS = 1024 * 1024, 131072 -- of a reply

local Error = {}
Error.__index = Error
Error.__tostring = function(self) return self.text end

local function fail(kind, text, code)
    error(setmetatable({ kind = kind, text = text, code = code }, Error), 0)
end

-- ---- the process and the time ----------------------------------------------------------------------------------

local has_posix, unistd = pcall(require, "posix.unistd")
local has_clock, clock = pcall(require, "posix.time")

-- The number of this process. Without luaposix and outside of nginx it is read from /proc, which costs some us. Where it
-- is unknown, each call returns something else, so that no block outlives a call.
local function pid()
    if has_posix then return unistd.getpid() end
    if ngx and ngx.worker then return ngx.worker.pid() end -- luacheck: ignore
    local file = io.open("/proc/self/stat")
    local number = file and file:read("*n")
    if file then file:close() end
    return number or {}
end

-- Seconds that do not step, if luaposix is there; else a clock that steps back ends a block too.
local function now()
    if has_clock then
        local time = clock.clock_gettime(clock.CLOCK_MONOTONIC)
        return time.tv_sec + time.tv_nsec / 1e9
    end
    return socket.gettime()
end

-- ---- one connection ----------------------------------------------------------------------------------------------

local function parsed(address)
    local path = address:match("^unix:/?/?(/.*)$")
    if path then return { path = path } end
    local scheme, rest = address:match("^(rediss?)://(.+)$")
    if not scheme then error("the address " .. M.without_token(address) .. " is not valid: use redis://HOST:PORT", 0) end
    local token, place = rest:match("^[^:@]*:(.*)@([^@]*)$")
    local host, port = (place or rest):match("^%[?(.-)%]?:(%d+)/?$")
    return { tls = scheme == "rediss", token = token, host = host or (place or rest):match("^%[?(.-)%]?/?$"), port = tonumber(port or 7379) }
end

-- Does the certificate name the host? LuaSec verifies everything else.
local function named(certificate, host)
    for _, kind in pairs(certificate:extensions()["2.5.29.17"] or {}) do
        for _, name in ipairs(type(kind) == "table" and kind or {}) do
            if name:lower() == host:lower() then return true end
            local suffix = name:match("^%*(%..+)$")
            if suffix and host:lower():match("^[^.]+(.*)$") == suffix:lower() then return true end
        end
    end
    return false
end

local function connected(it, options)
    local conn, why
    if it.path then
        conn = require "socket.unix"()
    else
        conn = socket.tcp()
    end
    conn:settimeout(options.connect_timeout)
    local ok
    if it.path then ok, why = conn:connect(it.path) else ok, why = conn:connect(it.host, it.port) end
    if ok and not it.path then conn:setoption("tcp-nodelay", true) end
    if ok and it.tls then
        local context = { mode = "client", protocol = "any", options = "all", verify = "peer", capath = "/etc/ssl/certs" }
        for key, value in pairs(options.tls or {}) do context[key] = value end
        local wrapped
        wrapped, why = require("ssl").wrap(conn, context)
        if wrapped then
            conn = wrapped
            conn:sni(it.host)
            conn:settimeout(options.connect_timeout)
            ok, why = conn:dohandshake()
            if ok and context.verify ~= "none" and not named(conn:getpeercertificate(), it.host) then
                ok, why = nil, "the certificate is for another host than " .. it.host
            end
        else
            ok = nil
        end
    end
    if not ok then
        conn:close()
        return nil, why or "the connection failed"
    end
    return conn
end

-- A reply: text or number, a table, M.null, or { error = text }; nil and a reason if no reply arrives before `deadline`.
local function reply(conn, deadline, timeout, depth)
    local function receive(pattern)
        local left = math.min(math.max(deadline - now(), 0), timeout) -- a clock may step back
        conn:settimeout(left, "b")
        conn:settimeout(left, "t")
        return conn:receive(pattern)
    end
    local line, why = receive("*l")
    if not line then return nil, why end
    local kind, rest = line:sub(1, 1), line:sub(2)
    local size = rest:match("^%-?%d+$") and tonumber(rest)
    if kind == "+" then return rest end
    if kind == "-" then return { error = rest } end
    if kind == ":" and size then return size end
    if size == -1 and (kind == "$" or kind == "*") then return M.null end
    if kind == "$" and size and size >= 0 and size <= MOST_TEXT then
        local text
        text, why = receive(size + 2)
        return text and text:sub(1, -3), why
    end
    if kind == "*" and size and size >= 0 and size <= MOST_ITEMS and depth < 4 then
        local items = {}
        for i = 1, size do
            items[i], why = reply(conn, deadline, timeout, depth + 1)
            if items[i] == nil then return nil, why end
        end
        return items
    end
    return nil, "malformed reply"
end

local function ask(conn, words, timeout)
    local parts = { "*" .. #words .. "\r\n" }
    for _, word in ipairs(words) do
        word = tostring(word)
        parts[#parts + 1] = "$" .. #word .. "\r\n" .. word .. "\r\n"
    end
    conn:settimeout(timeout)
    local sent, why = conn:send(table.concat(parts))
    if not sent then return nil, why end
    return reply(conn, now() + timeout, timeout, 0)
end

-- ---- a client -----------------------------------------------------------------------------------------------------

M.null = setmetatable({}, { __tostring = function() return "null" end })

function M.without_token(address)
    return (address:gsub("//.*@", "//"))
end

--- A client of one or several servers that share a store. It asks the first one that answers, and stays with it until
-- it fails. One coroutine at a time may use it.
-- @param addresses redis://host:7379, rediss://host:7379 (TLS, with LuaSec) or unix:///run/firn.sock, or a table of them
-- @param options token; tls: a table for LuaSec, such as { cafile = "ca.pem" }; connect_timeout (1) and timeout (2.5):
-- seconds to connect and to wait for a reply (more than the server's wait); max_wait (5): seconds of retries, so that a call
-- ends within max_wait + connect_timeout + timeout; block (256): the greatest number of IDs that an iterator keeps
function M.new(addresses, options)
    addresses = type(addresses) == "table" and addresses or { addresses or "redis://127.0.0.1:7379" }
    if #addresses == 0 then error("there are no addresses: give at least one", 2) end
    local self = { addresses = {}, parsed = {}, current = 1, outputs = {} }
    for i, address in ipairs(addresses) do
        self.addresses[i], self.parsed[i] = M.without_token(address), parsed(address)
    end
    self.options = { connect_timeout = 1, timeout = 2.5, max_wait = 5, block = 256 }
    for key, value in pairs(options or {}) do self.options[key] = value end
    return setmetatable(self, Client)
end

Client.__tostring = function(self) return "firn client of " .. table.concat(self.addresses, " ") end

--- Closes the connection. The client can be used again.
function Client:close()
    if self.conn and self.pid == pid() then self.conn:close() end
    self.conn = nil
end

-- One command at the current server: a reply, or nil and a reason, after which the connection is closed.
function Client:_ask(words)
    if self.conn and self.pid ~= pid() then
        self.parents = self.conn -- kept: closing a TLS connection here would end the parent's
        self.conn = nil
    end
    local it = self.parsed[self.current]
    if not self.conn then
        local conn, why = connected(it, self.options)
        if not conn then return nil, why end
        self.conn, self.pid = conn, pid()
        local token = self.options.token or it.token
        local said = not token and "OK"
        if token then said, why = ask(conn, { "AUTH", token }, self.options.timeout) end
        if said ~= "OK" then
            self:close()
            return type(said) == "table" and said or nil, why or "malformed reply"
        end
    end
    return ask(self.conn, words, self.options.timeout)
end

-- Sends a command to one server after the other until one replies. `read` checks the reply; nil: it is malformed.
-- Sending it again issues nothing twice: IDs that got lost are skipped.
function Client:_call(words, read)
    local deadline, pause, attempt, busy, failures = now() + self.options.max_wait, 0, 0, nil, {}
    repeat
        local here = self.current
        local finished, got, why = pcall(self._ask, self, words)
        if not finished then -- a program's own error, such as its time limit
            self:close()
            error(got, 0)
        end
        if type(got) == "table" and got.error then
            local code, text = got.error:match("^(%S*)%s*(.*)$")
            -- The server closes a connection beyond max_connections with this sentence, as Redis does.
            local full = got.error:find("max number of clients", 1, true)
            if code == "NOAUTH" then self:close() end -- its token was removed: the next connection sends it again
            if not full and not OVERLOAD[code] then fail("request", text, code) end
            if full then self:close() end
            busy = { text, code }
        else
            local result
            if got ~= nil then result = read(got) end
            if result ~= nil then return result end
            failures[here] = why or "malformed reply"
            self:close()
        end
        self:close() -- the next server has another connection
        attempt = attempt + 1
        self.current = here % #self.addresses + 1
        if attempt % #self.addresses == 0 then -- a pause after each round
            if pause > 0 then socket.sleep(pause * (0.5 + math.random() / 2)) end
            pause = pause == 0 and 0.01 or math.min(pause * 2, 0.5)
        end
    until now() + pause > deadline
    if busy then fail("overload", "the servers are overloaded (" .. busy[1] .. "): try again later", busy[2]) end
    local told = {}
    for i, why in pairs(failures) do told[#told + 1] = self.addresses[i] .. ": " .. why end
    fail("unreachable", "no server answered (" .. table.concat(told, "; ") ..
        "): start firn serve there, or correct the addresses")
end

local MOST = math.maxinteger and string.format("%d", math.maxinteger) -- nil: numbers lose digits
local function integer(text)
    if not MOST or #text > #MOST or (#text == #MOST and text > MOST) then return text end
    return math.tointeger(tonumber(text)) or text
end

-- n IDs of a reply, or nil.
local function ids_of(got, n, integers)
    if type(got) ~= "table" or #got ~= n then return nil end
    for i, id in ipairs(got) do
        if type(id) ~= "string" or id == "" then return nil end
        if integers then
            if #id > 20 or not id:match("^%-?%d+$") then return nil end
            got[i] = integer(id)
        end
    end
    return got
end

-- A reply of names and values, as a table.
local function pairs_of(got)
    if type(got) ~= "table" or #got == 0 or #got % 2 ~= 0 then return nil end
    local named_ = {}
    for i = 1, #got, 2 do
        if type(got[i]) ~= "string" then return nil end
        named_[got[i]] = got[i + 1]
    end
    return named_
end

-- The form to ask for, and whether that is an integer. Asked of a server once per name.
function Client:_output(name)
    local it = self.outputs[name]
    if name == "" then fail("request", "the name is empty: give the name of a scheme or generator") end
    if not it then
        local shape = self:_call({ "FIRN.SCHEMES", name }, pairs_of)
        it = { shape.form, (shape.form == "dec" or shape.form == "unsigned") and tonumber(shape.bits) <= 64 }
        self.outputs[name] = it
    end
    return it[1], it[2]
end

--- n IDs (1 to 65536), in order.
-- @param fields as: a text form; others belong to the scheme, such as { prefix = "user" }
function Client:many(name, n, fields)
    local form, integers
    if fields and fields.as then form, integers = fields.as, false else form, integers = self:_output(name) end
    local words = { "FIRN.NEW", name }
    for key, value in pairs(fields or {}) do
        if key ~= "as" then words[#words + 1], words[#words + 2] = key, value end
    end
    for _, word in ipairs { "COUNT", n, "AS", form } do words[#words + 1] = word end
    return self:_call(words, function(got) return ids_of(got, n, integers) end)
end

--- One ID.
function Client:next(name, fields)
    return self:many(name, 1, fields)[1]
end

--- n IDs of a past time, such as "2024-02-29T12:00:00Z" or "@1709208000".
function Client:at(name, time, n, fields)
    local all = { TIME = time }
    for key, value in pairs(fields or {}) do all[key] = value end
    return self:many(name, n or 1, all)
end

--- A function that returns the next ID, from a block in memory: an ID is at most max_age seconds old (0.001).
-- `for id in client:ids("snowflake") do ... end` does not end.
function Client:ids(name, max_age, fields)
    local block, taken, asked, owner = {}, 0, 0, nil
    return function()
        local elapsed = now() - asked
        if taken >= #block or elapsed > (max_age or 0.001) or elapsed < 0 or owner ~= pid() then
            -- A new block is as large as the used part of the last one, or twice as large if all of it was used.
            local size = taken < #block and math.max(taken, 1) or math.max(#block * 2, 1)
            local started = now() -- an ID is issued after this
            block = self:many(name, math.min(size, self.options.block), fields)
            asked, taken, owner = started, 0, pid()
        end
        taken = taken + 1
        return block[taken]
    end
end

--- The fields of an ID: scheme, time, unix_ns, fields, candidates ...
function Client:show(id, scheme)
    local shown = self:_call({ "FIRN.SHOW", id, scheme and "SCHEME", scheme }, pairs_of)
    shown.fields = pairs_of(shown.fields) or {}
    return shown
end

--- The schemes that an ID may be of, the likeliest first.
function Client:guess(id)
    return self:show(id).candidates or {}
end

--- The least and the greatest ID of a time span; `to` is not included.
function Client:range(scheme, from, to)
    local _, integers = self:_output(scheme)
    local both = self:_call({ "FIRN.RANGE", scheme, from, to }, function(got)
        local named_ = pairs_of(got)
        return named_ and ids_of({ named_.least, named_.greatest }, 2, integers)
    end)
    return both[1], both[2]
end

--- An ID in another form or scheme, as a string.
function Client:convert(id, form)
    return self:_call({ "FIRN.CONVERT", id, form }, function(got) return type(got) == "string" and got or nil end)
end

--- The next integer of a segment.
function Client:integer(key)
    return self:_call({ "INCR", key }, function(got) return type(got) == "number" and got or nil end)
end

--- Reserves n integers of a segment. Returns the first, the last and the step of a numeric for.
function Client:integers(key, n)
    local block = self:_call({ "FIRN.BLOCK", key, "COUNT", n }, function(got)
        if type(got) ~= "table" or #got ~= 4 then return nil end
        for _, value in ipairs(got) do if type(value) ~= "number" then return nil end end
        return got
    end)
    return block[1], block[2], block[3]
end

return M
