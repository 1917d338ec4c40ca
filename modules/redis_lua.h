/* SPDX-License-Identifier: MIT */
/* The scripts of the Redis store. docs/reference/stores.md prints the first three for clients in
 * other languages; test/printed_pure_test.c compares them. */
#ifndef FIRN_REDIS_LUA_H
#define FIRN_REDIS_LUA_H

/* Lua's numbers are doubles, exact only up to 2^53, so slots stay decimal texts. The longer text is
 * the later slot; of two of equal length, the one whose first differing digit is greater. (Lua's <
 * depends on the locale.) */
#define LUA_LATER                                                                                  \
    "local function less(a, b)\n"                                                                  \
    "  if #a ~= #b then return #a < #b end\n"                                                      \
    "  for i = 1, #a do\n"                                                                         \
    "    local x, y = a:byte(i), b:byte(i)\n"                                                      \
    "    if x ~= y then return x < y end\n"                                                        \
    "  end\n"                                                                                      \
    "  return false\n"                                                                             \
    "end\n"                                                                                        \
    "local function later(a, b) if less(a, b) then return b end return a end\n"

/* The state that each script reads. The first nine texts, which `seal` names, are all but the key's
 * record that a reservation depends on: the server's run ID (its own, so a copied hash never has
 * it), the records of the store and of the namespace, and, if one of them is missing, whether there
 * is a set of namespaces, and the record of FIRN_ALL_NAMES. The seal also names how often the
 * store's record was written: a late copy of a change must not follow one that wrote the same. */
#define LUA_SEE                                                                                    \
    "local ns, index, own, all = unpack(KEYS)\n"                                                   \
    "local name, key = unpack(ARGV)\n"                                                             \
    "local function see()\n"                                                                       \
    "  local run = redis.call('INFO', 'server'):match('run_id:(%w+)')\n"                           \
    "  local store = redis.call('HMGET', own, 'identity', 'losses', 'changes')\n"                  \
    "  local old = redis.call('HMGET', ns, 'layout', 'losses', 'floor',\n"                         \
    "                         'high ' .. key, 'grant ' .. key, 'note ' .. key)\n"                  \
    "  local made, every = '', {}\n"                                                               \
    "  if not (store[1] and old[2]) then\n"                                                        \
    "    made = tostring(redis.call('EXISTS', index))\n"                                           \
    "    every = redis.call('HMGET', all, 'layout', 'losses')\n"                                   \
    "  end\n"                                                                                      \
    "  local it = {run, store[1] or '', store[2] or '', old[1] or '', old[2] or '', old[3] or "    \
    "'',\n"                                                                                        \
    "              made, every[1] or '', every[2] or '', old[4] or '', old[5] or '', old[6] or "   \
    "''}\n"                                                                                        \
    "  return it, redis.sha1hex(table.concat(it, '\\n', 1, 9) .. '\\n' .. (store[3] or ''))\n"     \
    "end\n"

static const char read_lua[] = LUA_SEE "local it, seal = see()\n"
                                       "it[13] = seal\n"
                                       "return it\n";

/* Writes the records that are given if all are as they were seen; the mark, which others raise all
 * the time, only if it is given. The mark comes last, so a script that is stopped leaves at most a
 * counted loss or a gap. */
static const char write_lua[] =
    LUA_SEE "local seal, high, grant = unpack(ARGV, 3, 5)\n"
            "local losses, layout, seen, floor, raised, taken, note = unpack(ARGV, 6, 12)\n"
            "local it, present = see()\n"
            "if present ~= seal or (raised ~= '' and (it[10] ~= high or it[11] ~= grant)) then\n"
            "  return {'changed'}\n"
            "end\n"
            "if losses ~= '' then\n"
            "  redis.call('HSET', own, 'identity', it[1], 'losses', losses)\n"
            "  redis.call('HINCRBY', own, 'changes', 1)\n"
            "end\n"
            "if layout ~= '' then\n"
            "  redis.call('SADD', index, name)\n"
            "  redis.call('HSET', ns, 'layout', layout, 'losses', seen, 'floor', floor)\n"
            "end\n"
            "if raised ~= '' then\n"
            "  redis.call('HSET', ns, 'high ' .. key, raised, 'grant ' .. key, taken,\n"
            "             'note ' .. key, note)\n"
            "end\n"
            "it, present = see()\n"
            "return {'ok', present}\n";

/* A firn_raise. The store's record is of this run and has `losses`, which are the namespace's, or
 * nothing is written. The grant is written before the mark is raised. */
static const char add_lua[] = LUA_LATER
    "local ns, own = unpack(KEYS)\n"
    "local key, losses, layout, floor, known = unpack(ARGV, 1, 5)\n"
    "local reached, mine, low, most, count, grant, note = unpack(ARGV, 6, 12)\n"
    "local run = redis.call('INFO', 'server'):match('run_id:(%w+)')\n"
    "local store = redis.call('HMGET', own, 'identity', 'losses')\n"
    "local old = redis.call('HMGET', ns, 'layout', 'losses', 'floor', 'high ' .. key,\n"
    "                       'grant ' .. key)\n"
    "local high, taken = old[4] or '0', old[5] or '0'\n"
    "local first = later(high, low)\n"
    "if store[1] ~= run or (store[2] or '0') ~= losses or old[1] ~= layout or old[2] ~= losses or\n"
    "   (old[3] or '0') ~= floor or (known == '1' and not old[4]) or less(high, reached) or\n"
    "   (high == reached and mine ~= '0' and taken ~= '0' and taken ~= mine) or less(most, first) "
    "then\n"
    "  return {'changed'}\n"
    "end\n"
    "redis.call('HSET', ns, 'high ' .. key, first, 'grant ' .. key, grant,\n"
    "           'note ' .. key, note)\n"
    "redis.call('HINCRBY', ns, 'high ' .. key, count)\n"
    "return {'ok', first}\n";

/* Raises a plain counter, which holds the last number issued. Before the call it must be between
 * `low` and `top`. */
static const char count_lua[] =
    LUA_LATER "local count, low, top = unpack(ARGV)\n"
              "local old = redis.call('GET', KEYS[1]) or '0'\n"
              "if #old > 19 or (old ~= '0' and not old:find('^[1-9]%d*$')) then\n"
              "  return {'counter', old:sub(1, 40)}\n"
              "end\n"
              "if redis.call('PTTL', KEYS[1]) >= 0 then return {'expires'} end\n"
              "local value = later(old, low)\n"
              "if less(top, value) then return {'busy', old} end\n"
              "if value ~= old then redis.call('SET', KEYS[1], value) end\n"
              "redis.call('INCRBY', KEYS[1], count)\n"
              "return {'ok', value}\n";

#endif
