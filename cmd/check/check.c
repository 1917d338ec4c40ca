/* SPDX-License-Identifier: MIT */
/* `firn check`: how many IDs of a stream are duplicates and how many are less than the one before.
 * Exact, in bounded memory. While IDs ascend nothing has to be kept; else each goes by its hash
 * into one of 255 parts, where equal ones meet, and a log has the part of each line, so that the
 * i-th ID of a part can be found again as a line. What exceeds the memory is in a temporary
 * file (spill.h). */
#include "gaps.h"
#include "shared/amounts.h"
#include "shared/json.h"
#include "shared/progress.h"
#include "spill.h"
#include "stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

enum {
    PARTS = 255,
    LOG = 255,  /* the stream that is the log; its byte for a line without an ID is the same */
    SHOWN = 10, /* duplicates that are named */
    WORDS_MOST = 3,
    AHEAD = 16 /* IDs whose places in the table are fetched before they are needed */
};

#define MEMORY_LEAST (UINT64_C(1) << 20)
#define MEMORY_USUAL (UINT64_C(256) << 20)

/* An ID as words, most significant first; only the first `words` of a check count. */
typedef struct id_key {
    uint64_t word[WORDS_MOST];
} id_key;

/* An ID that was there before: the lines of its first and of this occurrence, counted over all
 * files from 0, and how the log finds them. */
typedef struct repeat {
    id_key key;
    uint64_t first, again;
    uint64_t first_index, index; /* among the IDs of its part */
    uint32_t part;
} repeat;

/* The first repeats of one part, by index. */
typedef struct part_repeats {
    uint32_t count;
    uint64_t index[SHOWN];
} part_repeats;

typedef struct checking {
    id_stream stream;
    spill kept;
    bool keeping; /* all IDs so far are in `kept` */
    uint32_t words;
    uint64_t seed;
    uint64_t memory;
    uint8_t *scratch; /* a block */

    uint64_t ids, duplicates, out_of_order, lines;
    bool ascending; /* over all files: no ID is less than the one before */
    bool any;       /* `last` is one */
    size_t file;    /* of `last` */
    firn_id last;
    uint64_t last_line;  /* where the present value of `last` came first */
    uint64_t *file_line; /* how many lines precede each file */

    uint64_t *table;
    size_t max_places; /* a power of two */
    part_repeats parts[PARTS];
    repeat shown[SHOWN];
    size_t shown_count;
} checking;

static int out_of_memory(firn_error *error) {
    return set_error(error, FIRN_EMEMORY,
                     "out of memory: allow the process more memory, or set a smaller --memory");
}

/* ---- into parts ---------------------------------------------------------------------------- */

#define EACH static inline __attribute__((always_inline))

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

EACH int keep_as(checking *it, const id_batch *batch, firn_error *error, uint32_t words) {
    spill_stream *log = &it->kept.streams[LOG];
    for (size_t i = 0; i < batch->count; i++) {
        uint64_t key[WORDS_MOST];
        uint32_t part = LOG;
        if (batch->ids[i].bits != 0) {
            set_key(key, &batch->ids[i], words);
            part = part_of(hash_of(key, words, it->seed));
            spill_stream *stream = &it->kept.streams[part];
            if (stream->at == stream->end) {
                int code = spill_turn(&it->kept, stream, error);
                if (code != FIRN_OK) {
                    return code;
                }
            }
            memcpy(stream->at, key, words * sizeof *key);
            stream->at += words * sizeof *key;
        }
        if (log->at == log->end) {
            int code = spill_turn(&it->kept, log, error);
            if (code != FIRN_OK) {
                return code;
            }
        }
        *log->at++ = (uint8_t)part;
    }
    return FIRN_OK;
}

static int keep(checking *it, const id_batch *batch, firn_error *error) {
    switch (it->words) {
    case 1:
        return keep_as(it, batch, error, 1);
    case 2:
        return keep_as(it, batch, error, 2);
    default:
        return keep_as(it, batch, error, 3);
    }
}

/* ---- equal IDs of a part ------------------------------------------------------------------- */

/* Remembers one of the first repeats; they come by index, but for a part that is gone through
 * several times. */
static void note_repeat(part_repeats *repeats, uint64_t index) {
    uint32_t at = repeats->count;
    if (at == SHOWN && repeats->index[SHOWN - 1] <= index) {
        return;
    }
    at -= at == SHOWN;
    for (; at > 0 && repeats->index[at - 1] > index; at--) {
        repeats->index[at] = repeats->index[at - 1];
    }
    repeats->index[at] = index;
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
    for (uint64_t at = hash & table->mask;; at = (at + 1) & table->mask) { /* never full */
        uint64_t *place = table->places + at * words;
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

/* One block; only IDs in slice `pass` of `passes`. False: the table is full. */
EACH bool add_block(checking *it, id_table *table, uint32_t part, const uint64_t *keys,
                    size_t count, uint64_t index, uint32_t pass, uint32_t passes,
                    uint64_t *duplicates, uint32_t words) {
    uint64_t hashes[AHEAD];
    for (size_t i = 0; i < count; i += AHEAD) {
        size_t some = count - i < AHEAD ? count - i : AHEAD;
        for (size_t j = 0; j < some; j++) {
            hashes[j] = hash_of(keys + (i + j) * words, words, it->seed);
            __builtin_prefetch(table->places + (hashes[j] & table->mask) * words, 1);
        }
        if (table->used + some > table->most) {
            return false;
        }
        for (size_t j = 0; j < some; j++) {
            /* bits that neither the part nor, but for the largest tables, the place is made of */
            if (passes > 1 && ((hashes[j] & UINT32_MAX) * passes >> 32) != pass) {
                continue;
            }
            if (table_has(table, keys + (i + j) * words, hashes[j], words)) {
                *duplicates += 1;
                note_repeat(&it->parts[part], index + i + j);
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

/* One slice of a part. *full: there are too many different ones for the table. */
static int add_slice(checking *it, uint32_t part, uint32_t pass, uint32_t passes,
                     uint64_t *duplicates, bool *full, firn_error *error) {
    const spill_stream *stream = &it->kept.streams[part];
    size_t places = places_for(spill_units(&it->kept, stream) / passes * 9 / 8, it->max_places);
    id_table table = {it->table, places - 1, 0, places * 3 / 4, false};
    uint64_t index = 0;
    size_t bytes, unit = it->words * sizeof(uint64_t);
    *full = false;
    memset(it->table, 0, places * unit);
    for (size_t i = 0; i <= stream->count && !*full; i++) {
        const uint64_t *keys =
            (const void *)spill_block(&it->kept, stream, i, it->scratch, &bytes, error);
        if (keys == NULL) {
            return FIRN_EIO;
        }
        size_t count = bytes / unit;
        bool fits;
        if (it->words == 1) {
            fits = add_block(it, &table, part, keys, count, index, pass, passes, duplicates, 1);
        } else if (it->words == 2) {
            fits = add_block(it, &table, part, keys, count, index, pass, passes, duplicates, 2);
        } else {
            fits = add_block(it, &table, part, keys, count, index, pass, passes, duplicates, 3);
        }
        *full = !fits;
        index += count;
    }
    return FIRN_OK;
}

/* All IDs of a part; gone through more often when they do not fit the table together. */
static int add_part(checking *it, uint32_t part, firn_error *error) {
    bool full = true;
    uint64_t duplicates = 0;
    int code = FIRN_OK;
    for (uint32_t passes = 1; code == FIRN_OK && full; passes *= 2) {
        if (passes > 1 << 16) {
            return set_error(error, FIRN_EMEMORY,
                             "too many IDs for %" PRIu64 " bytes: set a larger --memory",
                             it->memory);
        }
        duplicates = 0;
        it->parts[part].count = 0;
        full = false;
        for (uint32_t pass = 0; pass < passes && code == FIRN_OK && !full; pass++) {
            code = add_slice(it, part, pass, passes, &duplicates, &full, error);
        }
    }
    it->duplicates += duplicates;
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

typedef int found_line(checking *it, size_t tag, uint64_t line); /* not 0: enough */

/* Goes through the log and reports the line of each wanted ID, in the order of lines. */
static int walk_log(checking *it, wanted *list, size_t count, found_line *found,
                    firn_error *error) {
    const spill_stream *log = &it->kept.streams[LOG];
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
        const uint8_t *parts = spill_block(&it->kept, log, i, it->scratch, &bytes, error);
        if (parts == NULL) {
            return FIRN_EIO;
        }
        for (size_t j = 0; j < bytes; j++, line++) {
            uint8_t part = parts[j];
            if (seen[part]++ != due[part]) {
                continue;
            }
            do { /* several may want the same */
                if (found(it, next[part]->tag, line) != 0) {
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

static int found_again(checking *it, size_t tag, uint64_t line) {
    repeat *one = &it->shown[it->shown_count++];
    one->part = (uint32_t)(tag / SHOWN);
    one->index = it->parts[one->part].index[tag % SHOWN];
    one->again = line;
    return it->shown_count == SHOWN;
}

static int found_first(checking *it, size_t tag, uint64_t line) {
    it->shown[tag].first = line;
    return 0;
}

/* Fills the key of a repeat, and where in its part the ID is first. */
static int find_first(checking *it, repeat *one, firn_error *error) {
    const spill_stream *stream = &it->kept.streams[one->part];
    size_t bytes, unit = it->words * sizeof(uint64_t), each = it->kept.block / unit;
    const uint8_t *block =
        spill_block(&it->kept, stream, (size_t)(one->index / each), it->scratch, &bytes, error);
    if (block == NULL) {
        return FIRN_EIO;
    }
    memcpy(one->key.word, block + one->index % each * unit, unit);
    for (size_t i = 0; i <= stream->count; i++) {
        block = spill_block(&it->kept, stream, i, it->scratch, &bytes, error);
        if (block == NULL) {
            return FIRN_EIO;
        }
        for (size_t j = 0; j < bytes / unit; j++) {
            if (memcmp(block + j * unit, one->key.word, unit) == 0) {
                one->first_index = (uint64_t)i * each + j;
                return FIRN_OK;
            }
        }
    }
    return FIRN_OK; /* not reached: it is there itself */
}

/* Of the first repeats of all parts, those that come first in the stream. */
static int show_first(checking *it, firn_error *error) {
    static wanted list[PARTS * SHOWN];
    size_t count = 0;
    for (uint32_t part = 0; part < PARTS; part++) {
        for (uint32_t i = 0; i < it->parts[part].count; i++) {
            list[count++] = (wanted){part, it->parts[part].index[i], (size_t)part * SHOWN + i};
        }
    }
    if (count == 0) {
        return FIRN_OK;
    }
    int code = walk_log(it, list, count, found_again, error);
    for (size_t i = 0; i < it->shown_count && code == FIRN_OK; i++) {
        code = find_first(it, &it->shown[i], error);
        list[i] = (wanted){it->shown[i].part, it->shown[i].first_index, i};
    }
    return code == FIRN_OK ? walk_log(it, list, it->shown_count, found_first, error) : code;
}

/* ---- the stream ---------------------------------------------------------------------------- */

/* Counts the IDs that are less than the one before, without a branch that nothing predicts. */
static void follow_any(checking *it, const id_batch *batch) {
    uint64_t counted = it->file == batch->file, ids = 0, out_of_order = 0;
    firn_id last = it->last;
    for (size_t i = 0; i < batch->count; i++) {
        const firn_id *id = &batch->ids[i];
        if (id->bits == 0) {
            continue;
        }
        uint64_t less = id->low < last.low;
        less = id->high == last.high ? less : id->high < last.high;
        less = id->top == last.top ? less : id->top < last.top;
        out_of_order += less & counted;
        counted = 1;
        ids++;
        last = *id;
    }
    it->last = last;
    it->file = ids > 0 ? batch->file : it->file;
    it->ids += ids;
    it->out_of_order += out_of_order;
}

/* Compares each ID with the one before. While all ascend, equal ones are adjacent. */
static void follow(checking *it, const id_batch *batch) {
    if (!it->ascending) {
        follow_any(it, batch);
        return;
    }
    uint64_t line = it->file_line[batch->file] + batch->line - 1;
    for (size_t i = 0; i < batch->count; i++, line++) {
        const firn_id *id = &batch->ids[i];
        if (id->bits == 0) {
            continue;
        }
        it->ids++;
        int order = it->any ? firn_id_cmp(id, &it->last) : 1;
        if (order < 0) {
            it->ascending = false;
            it->out_of_order += it->file == batch->file;
        } else if (order == 0 && it->ascending) {
            it->duplicates++;
            if (it->shown_count < SHOWN) {
                repeat *one = &it->shown[it->shown_count++];
                set_key(one->key.word, id, it->words);
                one->first = it->last_line;
                one->again = line;
            }
        }
        if (order != 0) {
            it->last_line = line;
        }
        it->last = *id;
        it->file = batch->file;
        it->any = true;
    }
}

static void begin(checking *it, bool keeping) {
    it->keeping = keeping;
    it->ids = it->duplicates = it->out_of_order = it->lines = 0;
    it->ascending = true;
    it->any = false;
    it->shown_count = 0;
}

/* Room for the IDs, once their width is known. */
static int make_room(checking *it, firn_error *error) {
    size_t quarter = (size_t)it->memory / 4; /* for the table, the rest for what is kept */
    it->words = it->stream.bits > 128 ? 3 : it->stream.bits > 64 ? 2 : 1;
    if (!it->keeping || it->table != NULL) {
        return FIRN_OK;
    }
    spill_open(&it->kept, 3 * quarter, it->words * sizeof(uint64_t));
    it->max_places = 64;
    while (it->max_places * 2 * it->words * sizeof(uint64_t) <= quarter) {
        it->max_places *= 2;
    }
    it->scratch = malloc(it->kept.block);
    it->table = malloc(it->max_places * it->words * sizeof(uint64_t));
    return it->scratch != NULL && it->table != NULL ? FIRN_OK : out_of_memory(error);
}

/* Reads all, or as far as nothing has to be kept. */
static int read_all(checking *it, progress *shown, firn_error *error) {
    static firn_id ids[STREAM_BATCH];
    id_batch batch = {.ids = ids};
    for (uint64_t turn = 0;; turn++) {
        int code = stream_next(&it->stream, &batch, error);
        if (code == FIRN_OK && batch.count > 0 && turn == 0) {
            code = make_room(it, error);
        }
        if (code != FIRN_OK || batch.count == 0) {
            return code;
        }
        if (batch.line == 1) {
            it->file_line[batch.file] = it->lines;
        }
        it->lines += batch.count;
        follow(it, &batch);
        if (it->keeping) {
            code = keep(it, &batch, error);
        } else if (!it->ascending) {
            return FIRN_OK;
        }
        if (code != FIRN_OK) {
            return code;
        }
        if (turn % 1024 == 0) {
            progress_show(shown, (int64_t)it->ids, 0);
        }
    }
}

/* Standard input other than a file is read once, so all of it is kept. */
static int check_all(checking *it, firn_error *error) {
    progress shown = {.label = "reading"};
    begin(it, !stream_again_possible(&it->stream));
    int code = read_all(it, &shown, error);
    if (code == FIRN_OK && !it->ascending && !it->keeping) {
        code = stream_again(&it->stream, error);
        progress_end(&shown);
        shown = (progress){.label = "reading again"};
        begin(it, true);
        code = code == FIRN_OK ? read_all(it, &shown, error) : code;
    }
    progress_end(&shown);
    if (code != FIRN_OK || it->ascending) {
        return code;
    }
    it->duplicates = 0;
    it->shown_count = 0;
    shown = (progress){.label = "comparing"};
    for (uint32_t part = 0; part < PARTS && code == FIRN_OK; part++) {
        code = add_part(it, part, error);
        progress_show(&shown, part + 1, PARTS);
    }
    progress_end(&shown);
    return code == FIRN_OK ? show_first(it, error) : code;
}

/* ---- the report ---------------------------------------------------------------------------- */

/* The file and the number of a line that was counted over all files. */
static uint64_t place_of(const checking *it, uint64_t line, size_t *file) {
    *file = 0;
    for (size_t i = 1; i < it->stream.count; i++) {
        *file = it->file_line[i] <= line && it->file_line[i] != UINT64_MAX ? i : *file;
    }
    return line - it->file_line[*file] + 1;
}

static char *repeat_text(char text[FIRN_TEXT_SIZE + 2], const checking *it, const repeat *one) {
    const uint64_t *word = one->key.word + it->words;
    firn_id id = {word[-1], 0, 0, it->stream.bits};
    if (it->words >= 2) {
        id.high = word[-2];
    }
    if (it->words == 3) {
        id.top = (uint32_t)word[-3];
    }
    return stream_text(text, &it->stream, &id);
}

static void put_repeat(output *out, const checking *it, const repeat *one) {
    char text[FIRN_TEXT_SIZE + 2], first[128], again[128];
    size_t file, other;
    uint64_t line = place_of(it, one->first, &file), later = place_of(it, one->again, &other);
    stream_place(first, &it->stream, file, line);
    stream_place(again, &it->stream, other, later);
    output_print(out, "%s  %s, again %s\n", repeat_text(text, it, one), first, again);
}

static json_t *repeat_object(const checking *it, const repeat *one) {
    char text[FIRN_TEXT_SIZE + 2];
    size_t file, other;
    json_int_t line = (json_int_t)place_of(it, one->first, &file);
    json_int_t later = (json_int_t)place_of(it, one->again, &other);
    repeat_text(text, it, one);
    if (it->stream.count == 1) {
        return json_pack("{s:s, s:I, s:I}", "id", text, "line", line, "again", later);
    }
    return json_pack("{s:s, s:o, s:I, s:o, s:I}", "id", text, "file",
                     json_foreign(it->stream.names[file]), "line", line, "again_file",
                     json_foreign(it->stream.names[other]), "again", later);
}

static void put_json(output *out, const checking *it) {
    json_t *list = json_array();
    bool known = it->stream.known;
    for (size_t i = 0; i < it->shown_count && list != NULL; i++) {
        if (json_array_append_new(list, repeat_object(it, &it->shown[i])) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    json_line(
        out, json_pack("{s:I, s:I, s:I, s:I, s:o, s:s?, s:i, s:o}", "ids", (json_int_t)it->ids,
                       "duplicates", (json_int_t)it->duplicates, "out_of_order",
                       (json_int_t)it->out_of_order, "bad", (json_int_t)it->stream.bad, "bad_first",
                       it->stream.bad > 0 ? json_foreign(it->stream.bad_one.text) : json_null(),
                       "form", known ? firn_form_name(it->stream.form) : NULL, "bits",
                       known ? (int)it->stream.bits : 0, "first", list));
}

static void put_human(output *out, const checking *it) {
    output_print(out, "%" PRIu64 " ID%s, %" PRIu64 " duplicate%s, %" PRIu64 " out of order\n",
                 it->ids, plural(it->ids), it->duplicates, plural(it->duplicates),
                 it->out_of_order);
    if (it->stream.bad > 0) {
        output_print(out, "%" PRIu64 " bad line%s, the first: %s\n", it->stream.bad,
                     plural(it->stream.bad), it->stream.bad_one.text);
    }
    for (size_t i = 0; i < it->shown_count; i++) {
        put_repeat(out, it, &it->shown[i]);
    }
    if (it->duplicates > it->shown_count) {
        output_print(out, "and %" PRIu64 " more\n", it->duplicates - it->shown_count);
    }
}

static int report(session *s, const checking *it) {
    if (s->option[OPTION_JSON] != NULL) {
        put_json(&s->out, it);
    } else {
        put_human(&s->out, it);
    }
    bool no = it->duplicates > 0 || it->stream.bad > 0 ||
              (it->out_of_order > 0 && s->option[OPTION_SORTED] != NULL);
    return no ? STATUS_NO : STATUS_DONE;
}

/* ---- the subcommand ------------------------------------------------------------------------ */

/* Of IDs that do not sort, an order by value says nothing. */
static int refuse_order(session *s, const checking *it) {
    if (s->option[OPTION_SORTED] != NULL && it->stream.reader.named &&
        it->stream.reader.scheme.sorts == FIRN_SORTS_NO) {
        return fail_usage(s, "IDs of %s do not sort by time: leave --sorted out",
                          it->stream.reader.scheme.name);
    }
    return STATUS_DONE;
}

static void clear(checking *it) {
    stream_close(&it->stream);
    spill_close(&it->kept);
    free(it->scratch);
    free(it->table);
    free(it->file_line);
}

int run_check(session *s) {
    static checking it;                                      /* static for its size */
    const void *random = (const void *)getauxval(AT_RANDOM); /* drawn for each process */
    firn_error error;
    if (s->option[OPTION_GAPS] != NULL || s->option[OPTION_CHART] != NULL) {
        return s->option[OPTION_GAPS] != NULL ? gaps_run(s) : chart_run(s);
    }
    if (random != NULL) {
        memcpy(&it.seed, random, sizeof it.seed);
    }
    spill_open(&it.kept, MEMORY_LEAST, sizeof(uint64_t));
    int status = stream_open(s, &it.stream, s->operands, s->operand_count);
    if (status == STATUS_DONE) {
        status = amount_memory(s, MEMORY_USUAL, MEMORY_LEAST, &it.memory);
    }
    if (status == STATUS_DONE) {
        status = refuse_order(s, &it);
    }
    if (status != STATUS_DONE) {
        return status;
    }
    it.file_line = malloc(it.stream.count * sizeof *it.file_line);
    if (it.file_line == NULL) {
        out_of_memory(&error);
        return fail(s, &error);
    }
    memset(it.file_line, 0xff, it.stream.count * sizeof *it.file_line);
    int code = check_all(&it, &error);
    status = code == FIRN_OK ? report(s, &it) : fail(s, &error);
    clear(&it);
    return status;
}
