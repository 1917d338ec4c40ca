/* SPDX-License-Identifier: MIT */
/* The scripts of the Redis store. docs/reference/stores.md prints the first two for clients in other languages;
 * test/printed_pure_test.c compares both. */
#ifndef FIRN_REDIS_LUA_H
#define FIRN_REDIS_LUA_H

#include "module.h"

/* Lua's numbers are doubles, exact only up to 2^53, so slots stay decimal texts. The longer text is the later slot; of
 * two of equal length, the one whose first differing digit is greater. (Lua's < depends on the locale.) */
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

/* The reservation law (module.h). The script reads the server's run ID itself, so that the run ID in a copied
 * hash is not taken for it. `seen` and `reached` of the handle do not count if the store has lost writes since. The
 * grant is written before the mark is raised: an interrupted script leaves at most a gap. */
static const char reserve_lua[] = LUA_LATER
    "local ns, index, own, all = unpack(KEYS)\n"
    "local name, layout, key, count, earliest, latest, grant, note = unpack(ARGV, 1, 8)\n"
    "local guard, seen, reached, knew = unpack(ARGV, 9, 12)\n"
    "local identity = redis.call('INFO', 'server'):match('run_id:(%w+)')\n"
    "local store = redis.call('HMGET', own, 'identity', 'losses')\n"
    "local old = redis.call('HMGET', ns, 'layout', 'losses', 'floor',\n"
    "                       'high ' .. key, 'grant ' .. key)\n"
    "local function closed(text) return text:find('" FIRN__CLOSED "', 1, true) == 1 end\n"
    "local shut = old[1] or ''\n"
    "if not old[2] then shut = redis.call('HMGET', all, 'layout')[1] or '' end\n"
    "local refused = shut ~= layout and closed(shut) and (old[2] or not closed(layout))\n"
    "if old[2] and shut ~= layout and not refused then return {'layout', shut} end\n"
    "local floor, high, losses = old[3] or '0', old[4] or '0', store[2] or '0'\n"
    "local news = (not old[2] and seen == '1') or less(high, reached)\n"
    "if not store[1] then\n"
    "  news = news or knew ~= '' or redis.call('EXISTS', index) == 1\n"
    "end\n"
    "if (store[1] and store[1] ~= identity) or less(losses, knew) or\n"
    "   (news and not (knew ~= '' and less(knew, losses))) then\n"
    "  losses = string.format('%.0f', tonumber(later(losses, knew)) + 1)\n"
    "end\n"
    "if store[1] ~= identity or store[2] ~= losses then\n"
    "  redis.call('HSET', own, 'identity', identity, 'losses', losses)\n"
    "end\n"
    "if refused then return {'closed', shut, old[2] and name or 'integer *', losses} end\n"
    "local doubted = old[2] ~= losses\n"
    "if not old[2] then\n"
    "  doubted = losses ~= '0' and redis.call('HMGET', all, 'losses')[1] ~= losses\n"
    "end\n"
    "if doubted and guard == '0' then\n"
    "  if old[5] == grant then old[5] = '0' end\n"
    "  if less(latest, high) then return {'busy', high, old[5] or '0', floor, losses} end\n"
    "  return {'changed', losses}\n"
    "end\n"
    "if doubted then floor = later(floor, guard) end\n"
    "if doubted or not old[2] then\n"
    "  redis.call('SADD', index, name)\n"
    "  redis.call('HSET', ns, 'layout', layout, 'losses', losses, 'floor', floor)\n"
    "end\n"
    "local first = later(later(high, earliest), floor)\n"
    "if less(latest, first) then\n"
    "  return {'busy', high, old[5] or '0', floor, losses}\n"
    "end\n"
    "redis.call('HSET', ns, 'high ' .. key, first, 'grant ' .. key, grant,\n"
    "           'note ' .. key, note)\n"
    "redis.call('HINCRBY', ns, 'high ' .. key, count)\n"
    "return {'ok', first, losses}\n";

/* An empty `from` means that the namespace must not exist yet. */
static const char relabel_lua[] =
    LUA_LATER "local ns, index, own, all = unpack(KEYS)\n"
              "local name, from, to, floor, lowers = unpack(ARGV)\n"
              "local identity = redis.call('INFO', 'server'):match('run_id:(%w+)')\n"
              "local store = redis.call('HMGET', own, 'identity', 'losses')\n"
              "local old = redis.call('HMGET', ns, 'layout', 'losses', 'floor')\n"
              "local losses = store[2] or '0'\n"
              "if to == '" FIRN__GONE_BACK "' then\n" /* firn__declares_loss */
              "  losses = string.format('%.0f', tonumber(losses) + 1)\n"
              "  redis.call('HSET', own, 'identity', identity, 'losses', losses)\n"
              "  return {'ok', floor}\n"
              "end\n"
              "if store[1] and store[1] ~= identity then\n"
              "  losses = string.format('%.0f', tonumber(losses) + 1)\n"
              "  redis.call('HSET', own, 'identity', identity, 'losses', losses)\n"
              "end\n"
              "local known = old[2] or redis.call('HMGET', all, 'losses')[1] or '0'\n"
              "local function starts(text, with) return text:find(with, 1, true) == 1 end\n"
              "local opens = old[2] and lowers ~= '1' and starts(from, '" FIRN__FORGOTTEN "') and\n"
              "              not starts(to, '" FIRN__CLOSED "')\n" /* opens_forgotten */
              "if (known ~= losses and not opens) or\n"
              "   (not store[1] and redis.call('EXISTS', index) == 1) then\n"
              "  return {'changed'}\n"
              "end\n"
              "local exists = redis.call('EXISTS', ns) == 1\n"
              "if exists and not (old[1] and old[2]) then return {'damaged'} end\n"
              "local layout = old[1] or ''\n"
              "if layout ~= to and layout ~= from then return {'layout', layout} end\n"
              "if lowers ~= '1' then floor = later(old[3] or '0', floor) end\n"
              "redis.call('HSET', own, 'identity', identity, 'losses', losses)\n"
              "redis.call('SADD', index, name)\n"
              "redis.call('HSET', ns, 'layout', to, 'losses', known, 'floor', floor)\n"
              "return {'ok', floor}\n";

static const char give_back_lua[] =
    "local key, high, grant, stopped = unpack(ARGV)\n"
    "local old = redis.call('HMGET', KEYS[1], 'high ' .. key, 'grant ' .. key)\n"
    "if old[1] ~= high or old[2] ~= grant then return {'busy'} end\n"
    "redis.call('HSET', KEYS[1], 'high ' .. key, stopped, 'grant ' .. key, '0')\n"
    "return {'ok', stopped}\n";

/* Raises a plain counter, which holds the last number issued. Before the call it must be between `low` and `top`. */
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
