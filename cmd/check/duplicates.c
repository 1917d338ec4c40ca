/* SPDX-License-Identifier: MIT */
/* See duplicates.h. Each ID goes by its hash into one of 255 parts, where equal ones meet, and a
 * log has the part of each line, so that the i-th ID of a part can be found again as a line. What
 * exceeds the memory is in a temporary file (spill.h). */
#include "duplicates.h"

#include "command.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

enum {
    PARTS = DUPLICATES_PARTS,
    SHOWN = DUPLICATES_SHOWN,
    LOG = PARTS, /* the stream that is the log; its byte for a line without an ID is the same */
    AHEAD = 16   /* IDs whose places in the table are fetched before they are needed */
};

/* ---- into parts ---------------------------------------------------------------------------- */

#define EACH static inline __attribute__((always_inline))
/* Calls a function of EACH with the number of words last, as a constant. */
#define WITH_WORDS(words, function, ...)                                                           \
    ((words) == 1   ? function(__VA_ARGS__, 1)                                                     \
     : (words) == 2 ? function(__VA_ARGS__, 2)                                                     \
                    : function(__VA_ARGS__, 3))

/* Every bit of the result depends on every bit of the ID and on a seed that nobody can know who
 * made the IDs. */
EACH uint64_t hash_of(const uint64_t *key, uint32_t words, uint64_t seed) {
    uint64_t hash = seed;
    for (uint32_t i = 0; i < words; i++) {
        hash = (hash ^ key[i]) * UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
    }
    hash *= UINT64_C(0xc4ceb9fe1a85ec53);
    return hash ^ hash >> 29;
}

static inline uint32_t part_of(uint64_t hash) {
    return (uint32_t)((hash >> 32) * PARTS >> 32);
}

EACH void set_key(uint64_t *key, const firn_id *id, uint32_t words) {
    if (words == 3) {
        *key++ = id->top;
    }
    if (words >= 2) {
        *key++ = id->high;
    }
    *key = id->low;
}

/* Room for one more unit at stream->next. */
static inline int make_room(duplicate_finder *finder, spill_stream *stream, firn_error *error) {
    return stream->next == stream->end ? spill_turn(&finder->kept, stream, error) : FIRN_OK;
}

EACH int keep_as(duplicate_finder *finder, const id_batch *batch, firn_error *error,
                 uint32_t words) {
    spill_stream *log = &finder->kept.streams[LOG];
    for (size_t i = 0; i < batch->count; i++) {
        uint64_t key[DUPLICATES_WORDS];
        uint32_t part = LOG;
        int code = make_room(finder, log, error);
        if (code == FIRN_OK && batch->ids[i].bits != 0) {
            set_key(key, &batch->ids[i], words);
            part = part_of(hash_of(key, words, finder->seed));
            spill_stream *stream = &finder->kept.streams[part];
            code = make_room(finder, stream, error);
            if (code == FIRN_OK) {
                memcpy(stream->next, key, words * sizeof *key);
                stream->next += words * sizeof *key;
            }
        }
        if (code != FIRN_OK) {
            return code;
        }
        *log->next++ = (uint8_t)part;
    }
    return FIRN_OK;
}

int duplicates_keep(duplicate_finder *finder, const id_batch *batch, firn_error *error) {
    return WITH_WORDS(finder->words, keep_as, finder, batch, error);
}

/* ---- equal IDs of a part ------------------------------------------------------------------- */

/* Remembers one of the first repeats; they come by index, except in a part that is read
 * several times. */
static void note_repeat(part_repeats *repeats, uint64_t index) {
    uint32_t position = repeats->count;
    if (position == SHOWN && repeats->index[SHOWN - 1] <= index) {
        return;
    }
    position -= position == SHOWN;
    for (; position > 0 && repeats->index[position - 1] > index; position--) {
        repeats->index[position] = repeats->index[position - 1];
    }
    repeats->index[position] = index;
    repeats->count += repeats->count < SHOWN;
}

/* A table of the IDs of a part: places of `words` words, 0 is a free one, so the ID 0 is apart. */
typedef struct id_table {
    uint64_t *places;
    uint64_t mask;
    uint64_t used, most;
    bool zero;
} id_table;

/* Was it there? Else it is now. */
EACH bool table_has(id_table *table, const uint64_t *key, uint64_t hash, uint32_t words) {
    uint64_t all = 0;
    for (uint32_t i = 0; i < words; i++) {
        all |= key[i];
    }
    if (all == 0) {
        bool had = table->zero;
        table->zero = true;
        return had;
    }
    for (uint64_t position = hash & table->mask;;
         position = (position + 1) & table->mask) { /* never full */
        uint64_t *place = table->places + position * words;
        uint64_t taken = 0, other = 0;
        for (uint32_t i = 0; i < words; i++) {
            taken |= place[i];
            other |= place[i] ^ key[i];
        }
        if (other == 0) {
            return true;
        }
        if (taken == 0) {
            memcpy(place, key, words * sizeof *key);
            table->used++;
            return false;
        }
    }
}

/* Reads a block; only IDs in slice `pass` of `passes`. False: the table is full. */
EACH bool add_block(duplicate_finder *finder, id_table *table, uint32_t part, const uint64_t *keys,
                    size_t count, uint64_t index, uint32_t pass, uint32_t passes, uint64_t *repeats,
                    uint32_t words) {
    uint64_t hashes[AHEAD];
    for (size_t i = 0; i < count; i += AHEAD) {
        size_t some = count - i < AHEAD ? count - i : AHEAD;
        for (size_t j = 0; j < some; j++) {
            hashes[j] = hash_of(keys + (i + j) * words, words, finder->seed);
            __builtin_prefetch(table->places + (hashes[j] & table->mask) * words, 1);
        }
        if (table->used + some > table->most) {
            return false;
        }
        for (size_t j = 0; j < some; j++) {
            /* bits that determine neither the part nor, except in the largest tables, the place */
            if (passes > 1 && ((hashes[j] & UINT32_MAX) * passes >> 32) != pass) {
                continue;
            }
            if (table_has(table, keys + (i + j) * words, hashes[j], words)) {
                *repeats += 1;
                note_repeat(&finder->parts[part], index + i + j);
            }
        }
    }
    return true;
}

/* A power of two that leaves a quarter free. */
static size_t places_for(uint64_t count, size_t most) {
    size_t places = 64;
    while (places < most && places * 3 / 4 < count + AHEAD) {
        places *= 2;
    }
    return places;
}

/* Reads a slice of a part. *full: there are too many different ones for the table. */
static int add_slice(duplicate_finder *finder, uint32_t part, uint32_t pass, uint32_t passes,
                     uint64_t *repeats, bool *full, firn_error *error) {
    const spill_stream *stream = &finder->kept.streams[part];
    size_t places =
        places_for(spill_units(&finder->kept, stream) / passes * 9 / 8, finder->max_places);
    id_table table = {finder->table, places - 1, 0, places * 3 / 4, false};
    uint64_t index = 0;
    size_t bytes, unit = finder->words * sizeof(uint64_t);
    *full = false;
    memset(finder->table, 0, places * unit);
    for (size_t i = 0; i <= stream->count && !*full; i++) {
        const uint64_t *keys =
            (const void *)spill_block(&finder->kept, stream, i, finder->scratch, &bytes, error);
        if (keys == NULL) {
            return FIRN_EIO;
        }
        size_t count = bytes / unit;
        *full = !WITH_WORDS(finder->words, add_block, finder, &table, part, keys, count, index,
                            pass, passes, repeats);
        index += count;
    }
    return FIRN_OK;
}

/* All IDs of a part; gone through more often when they do not fit the table together. */
static int add_part(duplicate_finder *finder, uint32_t part, firn_error *error) {
    bool full = true;
    uint64_t count = 0;
    int code = FIRN_OK;
    for (uint32_t passes = 1; code == FIRN_OK && full; passes *= 2) {
        if (passes > 1 << 16) {
            return set_error(error, FIRN_EMEMORY,
                             "too many IDs for %" PRIu64 " bytes: set a larger --memory",
                             finder->memory);
        }
        count = 0;
        finder->parts[part].count = 0;
        full = false;
        for (uint32_t pass = 0; pass < passes && code == FIRN_OK && !full; pass++) {
            code = add_slice(finder, part, pass, passes, &count, &full, error);
        }
    }
    finder->count += count;
    return code;
}

/* ---- from a part back to lines ------------------------------------------------------------- */

/* An ID of a part whose line is looked for. */
typedef struct wanted {
    uint32_t part;
    uint64_t index;
    size_t tag; /* what it is to who asks */
} wanted;

static int by_place(const void *a, const void *b) {
    const wanted *x = a, *y = b;
    if (x->part != y->part) {
        return x->part < y->part ? -1 : 1;
    }
    return (x->index > y->index) - (x->index < y->index);
}

typedef int found_line(duplicate_finder *finder, size_t tag, uint64_t line); /* not 0: enough */

/* Goes through the log and reports the line of each wanted ID, in the order of lines. */
static int walk_log(duplicate_finder *finder, wanted *list, size_t count, found_line *found,
                    firn_error *error) {
    const spill_stream *log = &finder->kept.streams[LOG];
    uint64_t seen[PARTS + 1] = {0}, due[PARTS + 1]; /* IDs so far; the next one that is wanted */
    const wanted *next[PARTS + 1];
    uint64_t line = 0;
    size_t bytes;
    qsort(list, count, sizeof *list, by_place);
    memset(due, 0xff, sizeof due);
    for (size_t i = count; i-- > 0;) {
        due[list[i].part] = list[i].index;
        next[list[i].part] = &list[i];
    }
    for (size_t i = 0; i <= log->count; i++) {
        const uint8_t *parts = spill_block(&finder->kept, log, i, finder->scratch, &bytes, error);
        if (parts == NULL) {
            return FIRN_EIO;
        }
        for (size_t j = 0; j < bytes; j++, line++) {
            uint8_t part = parts[j];
            if (seen[part]++ != due[part]) {
                continue;
            }
            do { /* several may want the same */
                if (found(finder, next[part]->tag, line) != 0) {
                    return FIRN_OK;
                }
                next[part]++;
            } while (next[part] < list + count && next[part]->part == part &&
                     next[part]->index == due[part]);
            bool more = next[part] < list + count && next[part]->part == part;
            due[part] = more ? next[part]->index : UINT64_MAX;
        }
    }
    return FIRN_OK;
}

static int found_again(duplicate_finder *finder, size_t tag, uint64_t line) {
    repeated_id *repeat = &finder->shown[finder->shown_count++];
    repeat->part = (uint32_t)(tag / SHOWN);
    repeat->index = finder->parts[repeat->part].index[tag % SHOWN];
    repeat->again = line;
    return finder->shown_count == SHOWN;
}

static int found_first(duplicate_finder *finder, size_t tag, uint64_t line) {
    finder->shown[tag].first = line;
    return 0;
}

/* Fills the key of a repeat, and where in its part the ID is first. */
static int find_first(duplicate_finder *finder, repeated_id *repeat, firn_error *error) {
    const spill_stream *stream = &finder->kept.streams[repeat->part];
    size_t bytes, unit = finder->words * sizeof(uint64_t), each = finder->kept.block / unit;
    const uint8_t *block = spill_block(&finder->kept, stream, (size_t)(repeat->index / each),
                                       finder->scratch, &bytes, error);
    if (block == NULL) {
        return FIRN_EIO;
    }
    memcpy(repeat->key.word, block + repeat->index % each * unit, unit);
    for (size_t i = 0; i <= stream->count; i++) {
        block = spill_block(&finder->kept, stream, i, finder->scratch, &bytes, error);
        if (block == NULL) {
            return FIRN_EIO;
        }
        for (size_t j = 0; j < bytes / unit; j++) {
            if (memcmp(block + j * unit, repeat->key.word, unit) == 0) {
                repeat->first_index = (uint64_t)i * each + j;
                return FIRN_OK;
            }
        }
    }
    return FIRN_OK; /* not reached: it is there itself */
}

/* Of the first repeats of all parts, those that come first in the stream. */
static int show_first(duplicate_finder *finder, firn_error *error) {
    static wanted list[PARTS * SHOWN];
    size_t count = 0;
    for (uint32_t part = 0; part < PARTS; part++) {
        for (uint32_t i = 0; i < finder->parts[part].count; i++) {
            list[count++] = (wanted){part, finder->parts[part].index[i], (size_t)part * SHOWN + i};
        }
    }
    if (count == 0) {
        return FIRN_OK;
    }
    int code = walk_log(finder, list, count, found_again, error);
    for (size_t i = 0; i < finder->shown_count && code == FIRN_OK; i++) {
        code = find_first(finder, &finder->shown[i], error);
        list[i] = (wanted){finder->shown[i].part, finder->shown[i].first_index, i};
    }
    return code == FIRN_OK ? walk_log(finder, list, finder->shown_count, found_first, error) : code;
}

/* ---- from beginning to end ----------------------------------------------------------------- */

void duplicates_key(id_key *key, const firn_id *id, uint32_t words) {
    set_key(key->word, id, words);
}

int duplicates_open(duplicate_finder *finder, uint32_t words, uint64_t memory, firn_error *error) {
    const void *random = (const void *)getauxval(AT_RANDOM);
    const size_t quarter = (size_t)memory / 4; /* for the table, the rest for the kept IDs */
    if (random != NULL) {
        memcpy(&finder->seed, random, sizeof finder->seed);
    }
    finder->words = words;
    finder->memory = memory;
    spill_open(&finder->kept, 3 * quarter, words * sizeof(uint64_t));
    finder->max_places = 64;
    while (finder->max_places * 2 * words * sizeof(uint64_t) <= quarter) {
        finder->max_places *= 2;
    }
    finder->scratch = malloc(finder->kept.block);
    finder->table = malloc(finder->max_places * words * sizeof(uint64_t));
    return finder->scratch != NULL && finder->table != NULL ? FIRN_OK : spill_no_memory(error);
}

int duplicates_find(duplicate_finder *finder, firn_error *error) {
    progress shown = {.label = "comparing"};
    int code = FIRN_OK;
    finder->count = 0;
    finder->shown_count = 0;
    for (uint32_t part = 0; part < PARTS && code == FIRN_OK; part++) {
        code = add_part(finder, part, error);
        progress_show(&shown, part + 1, PARTS);
    }
    progress_end(&shown);
    return code == FIRN_OK ? show_first(finder, error) : code;
}

void duplicates_close(duplicate_finder *finder) {
    spill_close(&finder->kept);
    free(finder->scratch);
    free(finder->table);
}
