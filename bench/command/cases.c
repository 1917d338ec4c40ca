/* SPDX-License-Identifier: MIT */
/* The table of measurements: each path with its goal, followed by the code it is compared with and
 * the work it cannot avoid. */
#include "bench.h"

#define OWN(SECTION, GROUP, OPEN, SCHEME, KEYS, GOAL)                                              \
    {                                                                                              \
        .section = SECTION, .group = GROUP, .open = OPEN, .scheme = SCHEME, .keys = KEYS,          \
        .goal_ns = GOAL                                                                            \
    }
#define CASE(KIND, SECTION, GROUP, NAME, OPEN, SCHEME, KEYS, ...)                                  \
    {                                                                                              \
        .kind = BENCH_##KIND, .section = SECTION, .group = GROUP, .name = NAME, .open = OPEN,      \
        .scheme = SCHEME, .keys = KEYS, __VA_ARGS__                                                \
    }
#define PEER(SECTION, GROUP, NAME, OPEN, SCHEME, KEYS, ALONE, SHARED)                              \
    CASE(PEER, SECTION, GROUP, NAME, OPEN, SCHEME, KEYS, .goal_ratio = {ALONE, SHARED})
#define APART(SECTION, GROUP, NAME, OPEN, SCHEME, KEYS, ALONE, SHARED)                             \
    CASE(PEER, SECTION, GROUP, NAME, OPEN, SCHEME, KEYS, .goal_ratio = {ALONE, SHARED},            \
         .apart = true)
#define LEAST(SECTION, GROUP, NAME, OPEN)                                                          \
    CASE(LIMIT, SECTION, GROUP, NAME, OPEN, "", "", .apart = false)

const bench_case bench_cases[] = {
    /* calls */
    OWN("calls", "snowflake", bench_next, "snowflake", "", 0),
    PEER("calls", "snowflake", "own loop", bench_loop, NULL, NULL, 1.05, 1.1),
    LEAST("calls", "snowflake", "cycle counter", bench_counter),
    OWN("calls", "snowflake-tick", bench_next, "snowflake", "clock=tick", 0),
    PEER("calls", "snowflake-tick", "own loop, coarse clock", bench_loop_coarse, NULL, NULL, 1.1,
         1.1),
    LEAST("calls", "snowflake-tick", "coarse clock", bench_coarse),
    OWN("calls", "layout", bench_next, "0x0:1 time:41/ms node:10 sequence:12", "", 0),
    PEER("calls", "layout", "a call of firn_next", bench_next, "snowflake", "", 1.05, 1.05),
    OWN("calls", "next-u64", bench_next_one_u64, "snowflake", "", 0),
    PEER("calls", "next-u64", "a call of firn_next", bench_next, "snowflake", "", 1.05, 1.05),
    OWN("calls", "next-n", bench_next_one, "snowflake", "", 0),
    PEER("calls", "next-n", "a call of firn_next", bench_next, "snowflake", "", 1.05, 1.05),
    OWN("calls", "uuid7", bench_next, "uuid7", "", 11),
    LEAST("calls", "uuid7", "own loop, random bits", bench_loop_random),
    LEAST("calls", "uuid7", "own loop", bench_loop),
    OWN("calls", "uuid7-tick", bench_next, "uuid7", "clock=tick", 7.5),
    LEAST("calls", "uuid7-tick", "own loop, random bits", bench_loop_coarse_random),
    LEAST("calls", "uuid7-tick", "own loop, coarse clock", bench_loop_coarse),
    OWN("calls", "uuid7-exact", bench_next, "uuid7", "clock=exact", 0),
    OWN("calls", "ksuid", bench_next, "ksuid", "", 0),
    OWN("calls", "uuid4", bench_next, "uuid4", "", 6.5),
    PEER("calls", "uuid4", "libuuid", bench_libuuid, "uuid_generate_random", "", 0, 0),
    LEAST("calls", "uuid4", "AES-256-CTR, reseeded", bench_aes),
    OWN("calls", "uuid1", bench_next, "uuid1", "", 10),
    PEER("calls", "uuid1", "libuuid with uuidd", bench_libuuid_daemon, "uuid_generate_time", "", 1,
         1),
    APART("calls", "uuid1", "libuuid without uuidd", bench_libuuid, "uuid_generate_time", "", 0, 0),
    LEAST("calls", "uuid1", "own loop", bench_loop),
    OWN("calls", "uuid1-tick", bench_next, "uuid1", "clock=tick ordering=thread", 0),
    PEER("calls", "uuid1-tick", "libuuid with uuidd", bench_libuuid_daemon, "uuid_generate_time",
         "", 1, 1),
    LEAST("calls", "uuid1-tick", "coarse clock", bench_coarse),

    /* threads */
    OWN("threads", "two-threads", bench_two_threads, BENCH_WIDE_LAYOUT, "", 0),
    PEER("threads", "two-threads", "own loop", bench_loop_threads, NULL, NULL, 1.2, 1.2),
    LEAST("threads", "two-threads", "compare-and-swap", bench_swap_threads),
    OWN("threads", "two-threads-free", bench_two_threads, BENCH_WIDE_LAYOUT,
        "ordering=thread clock=tick", 6),
    LEAST("threads", "two-threads-free", "coarse clock", bench_coarse_threads),
    OWN("threads", "two-threads-uuid4", bench_two_threads, "uuid4", "", 0),

    /* bulk */
    OWN("bulk", "bulk-u64", bench_bulk_u64, BENCH_WIDE_LAYOUT, "", 0.15),
    LEAST("bulk", "bulk-u64", "writes integers", bench_fill),
    OWN("bulk", "bulk-id", bench_bulk_id, BENCH_WIDE_LAYOUT, "", 0),
    OWN("bulk", "uuid4-bulk", bench_bulk_id, "uuid4", "", 4),
    LEAST("bulk", "uuid4-bulk", "AES-256-CTR, reseeded", bench_aes),
    LEAST("bulk", "uuid4-bulk", "the same into IDs, erased", bench_aes_ids),
    LEAST("bulk", "uuid4-bulk", "getrandom of 4 KiB", bench_kernel_random),
    OWN("bulk", "uuid7-bulk", bench_bulk_id, "uuid7", "", 4),
    OWN("bulk", "ulid-bulk", bench_bulk_id, "ulid", "", 4),
    OWN("bulk", "ksuid-bulk", bench_bulk_id, "ksuid", "", 4),

    /* text */
    OWN("text", "uuid-write", bench_write, "uuid", "", 1.9),
    PEER("text", "uuid-write", "libuuid", bench_libuuid, "uuid_unparse_lower", "", 0, 0),
    LEAST("text", "uuid-write", "copies 40 bytes", bench_copy_text),
    OWN("text", "uuid-read", bench_read, "uuid", "", 3.5),
    PEER("text", "uuid-read", "libuuid", bench_libuuid, "uuid_parse", "", 0, 0),
    OWN("text", "ulid-write", bench_write, "base32", "", 4.5),
    OWN("text", "ulid-read", bench_read, "base32", "", 4.5),
    OWN("text", "decimal-write", bench_write, "dec", "", 0),
    PEER("text", "decimal-write", "snprintf", bench_libc_write, NULL, NULL, 0.5, 0.5),
    OWN("text", "decimal-read", bench_read, "dec", "", 0),
    PEER("text", "decimal-read", "strtoull", bench_libc_read, NULL, NULL, 1, 1),

    /* guess */
    OWN("guess", "guess-uuid", bench_guess, "0192f0c8-d1e3-7a55-9e37-79b97f4a7c15", "", 500),
    OWN("guess", "guess-ulid", bench_guess, "01J3SVK6QG5E8M0N9B7R4WXYZ2", "", 500),
    OWN("guess", "guess-decimal", bench_guess, "1850000000000000000", "", 500),
    OWN("guess", "guess-word", bench_guess, "a few words", "", 500),

    /* masks */
    OWN("masks", "mask-uuid", bench_mask_one, "name=a width=uuid", "", 300),
    OWN("masks", "mask-uuid-bulk", bench_mask_many, "name=a width=uuid", "", 35),
    OWN("masks", "mask-uuid8-bulk", bench_mask_many, "name=a width=uuid8", "", 35),
    OWN("masks", "mask-uuid47", bench_mask_one, "name=a width=uuid47", "", 0),
    OWN("masks", "mask-text", bench_mask_text, "name=a as=base58 mac=0", "", 0),
    OWN("masks", "mask-text-mac", bench_mask_text, "name=a as=base58", "", 0),

    /* processes */
    OWN("processes", "process", bench_process, "", "", 0),
    PEER("processes", "process", "uuidgen", bench_process, NULL, NULL, 0.75, 0),
    OWN("processes", "million", bench_million, "", "", 0),
    PEER("processes", "million", "writes prepared text", bench_million_copy, NULL, NULL, 1.3, 0),
    OWN("processes", "stamp-csv", bench_stamp, "snowflake", "csv", 60),
    PEER("processes", "stamp-csv", "copies lines", bench_copy, NULL, "csv", 0, 0),
    OWN("processes", "stamp-csv-uuid7", bench_stamp, "uuid7", "csv", 200),
    OWN("processes", "stamp-tsv", bench_stamp, "snowflake", "tsv", 0),
    PEER("processes", "stamp-tsv", "copies lines", bench_copy, NULL, "tsv", 0, 0),
    OWN("processes", "stamp-jsonl", bench_stamp, "snowflake", "jsonl", 300),
    PEER("processes", "stamp-jsonl", "copies lines", bench_copy, NULL, "jsonl", 0, 0),
    OWN("processes", "show-json", bench_show, "snowflake", "", 1000),
    LEAST("processes", "show-json", "jansson alone", bench_jansson),
    OWN("processes", "check-dec", bench_check, "dec", "order", 0),
    OWN("processes", "check-uuid", bench_check, "uuid", "order", 0),
    OWN("processes", "check-dec-random", bench_check, "dec", "random", 0),
    OWN("processes", "check-uuid-random", bench_check, "uuid", "random", 25),
};
const size_t bench_case_count = sizeof bench_cases / sizeof bench_cases[0];
