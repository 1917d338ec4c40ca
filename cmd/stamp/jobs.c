/* SPDX-License-Identifier: MIT */
/* Jobs by the fields that records name: see jobs.h. */
#include "jobs.h"

#include "../src/hash.h"
#include "errors.h"
#include "join.h"

#include <inttypes.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int jobs_add_field(stamp_jobs *jobs, const firn_scheme *scheme, const char *text,
                   const char **column, firn_error *error) {
    size_t length = strcspn(text, "=");
    if (text[length] == '\0' || length == 0 || text[length + 1] == '\0') {
        return set_error(error, FIRN_EUSAGE,
                         "--field %.40s is not valid: write FIELD=COLUMN, such as node=mac", text);
    }
    if (jobs->count == RECORDS_FIELDS) {
        return set_error(error, FIRN_EUSAGE, "--field is given more than %d times: use fewer",
                         RECORDS_FIELDS);
    }
    char *name = jobs->name[jobs->count];
    snprintf(name, FIRN_NAME_SIZE, "%.*s", (int)length, text);
    int field = firn_scheme_field(scheme, name);
    int role = field >= 0 ? scheme->slices[field].role : FIRN_ROLE_CONST;
    bool node = role == FIRN_ROLE_NODE || role == FIRN_ROLE_ADDRESS;
    if (length >= FIRN_NAME_SIZE || (!node && role != FIRN_ROLE_USER)) {
        return set_error(error, FIRN_EUSAGE,
                         "--field %.40s: %s has no node field and no user field of that name: see "
                         "firn schemes %.24s",
                         text, scheme->name, scheme->name);
    }
    for (size_t i = 0; i < jobs->count; i++) {
        if (strcmp(jobs->name[i], name) == 0) {
            return set_error(error, FIRN_EUSAGE, "--field %.40s is given twice: give it once",
                             name);
        }
    }
    jobs->field[jobs->count] = field;
    jobs->node[jobs->count++] = node;
    jobs->scheme = scheme;
    *column = text + length + 1;
    return FIRN_OK;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Prints a message once: the library would repeat it for each node. */
static void tell_once(void *self, const char *text) {
    stamp_jobs *jobs = self;
    if (!jobs->reported && jobs->config.notice != NULL) {
        jobs->config.notice(jobs->config.notice_self, text);
    }
}

int jobs_check_again(const stamp_jobs *jobs, firn_job *job, const char *name, firn_error *error) {
    return jobs->refuses_again && firn_job_again(job)
               ? set_error(
                     error, FIRN_ETAKEN,
                     "job '%.60s' exists, and a pipe cannot be compared with its first input: "
                     "add --again if the input is the same, or choose another --job",
                     name)
               : FIRN_OK;
}

/* A name that fits a store's keys: the run's and the node, or a digest of both. */
static void name_job(char out[64], const char *run, const char *key) {
    char digest[SHA256_DIGEST_STRING_LENGTH];
    SHA2_CTX context;
    size_t length = strlen(run), more = strlen(key);
    if (length + more + 1 < 64) {
        memcpy(out, run, length);
        out[length] = ' ';
        memcpy(out + length + 1, key, more + 1);
        return;
    }
    SHA256Init(&context);
    SHA256Update(&context, (const uint8_t *)run, strlen(run) + 1);
    SHA256Update(&context, (const uint8_t *)key, strlen(key));
    SHA256End(&context, digest);
    snprintf(out, 64, "%.30s %.32s", run, digest);
}

static int open_one(stamp_jobs *jobs, jobs_entry *entry, firn_error *error) {
    firn_job_config config = jobs->config;
    char keys[1024 + JOBS_KEY_SIZE], name[64], seed[1024 + JOBS_KEY_SIZE];
    snprintf(keys, sizeof keys, "%s%s%s", config.keys, config.keys[0] != '\0' ? " " : "",
             entry->key);
    config.keys = keys;
    if (config.seed != NULL) { /* one seed is for one job */
        if (snprintf(seed, sizeof seed, "%s %s", config.seed, entry->key) >= (int)sizeof seed) {
            return set_error(error, FIRN_ERANGE,
                             "--seed is longer than 1000 characters: shorten it");
        }
        config.seed = seed;
    }
    if (config.name != NULL) {
        name_job(name, config.name, entry->key);
        config.name = name;
    }
    config.notice = tell_once;
    config.notice_self = jobs;
    int code = firn_job_open(&entry->job, &config, error);
    jobs->reported = jobs->reported || code == FIRN_OK;
    return code == FIRN_OK ? jobs_check_again(jobs, entry->job, jobs->config.name, error) : code;
}

static void close_jobs(stamp_jobs *jobs) {
    for (size_t i = 0; i < jobs->used; i++) {
        firn_job_close(jobs->list[i].job);
        jobs->list[i].job = NULL;
    }
    if (jobs->config.store != NULL) {
        firn_store_close(jobs->config.store);
        jobs->config.store = NULL;
    }
}

int jobs_open(stamp_jobs *jobs, const firn_job_config *config, firn_error *error) {
    int code = FIRN_OK;
    close_jobs(jobs);
    jobs->config = *config;
    jobs->reported = false;
    for (size_t i = 0; i < jobs->used && code == FIRN_OK; i++) {
        code = open_one(jobs, &jobs->list[i], error);
    }
    return code;
}

void jobs_close(stamp_jobs *jobs) {
    close_jobs(jobs);
    for (size_t i = 0; i < jobs->used; i++) {
        free(jobs->list[i].key);
    }
    free(jobs->list);
    free(jobs->table);
    jobs->list = NULL;
    jobs->table = NULL;
    jobs->used = jobs->room = 0;
}

/* ---- finding --------------------------------------------------------------------------------- */

static size_t hash(const char *key) {
    return firn__hash(FIRN__HASH_START, key, strlen(key)) & (2 * JOBS_MAX - 1);
}

static int add(stamp_jobs *jobs, size_t slot, const char *key, firn_error *error) {
    if (jobs->used == JOBS_MAX) {
        return set_error(error, FIRN_EEND, "the records have more than %d nodes: split the file",
                         JOBS_MAX);
    }
    if (jobs->used == jobs->room) {
        size_t room = jobs->room == 0 ? 16 : 2 * jobs->room;
        jobs_entry *list = realloc(jobs->list, room * sizeof *list);
        if (list == NULL) {
            return out_of_memory(error);
        }
        jobs->list = list;
        jobs->room = room;
    }
    jobs_entry entry = {strdup(key), NULL};
    if (entry.key == NULL) {
        return out_of_memory(error);
    }
    int code = open_one(jobs, &entry, error);
    if (code != FIRN_OK) {
        firn_job_close(entry.job);
        free(entry.key);
        return code;
    }
    jobs->last = jobs->used;
    jobs->list[jobs->used++] = entry;
    jobs->table[slot] = (uint32_t)jobs->used;
    return FIRN_OK;
}

static int find(stamp_jobs *jobs, const char *key, firn_error *error) {
    if (jobs->used > 0 && strcmp(jobs->list[jobs->last].key, key) == 0) {
        return FIRN_OK;
    }
    if (jobs->table == NULL && (jobs->table = calloc(2 * JOBS_MAX, sizeof *jobs->table)) == NULL) {
        return out_of_memory(error);
    }
    size_t slot = hash(key);
    for (; jobs->table[slot] != 0; slot = (slot + 1) & (2 * JOBS_MAX - 1)) {
        if (strcmp(jobs->list[jobs->table[slot] - 1].key, key) == 0) {
            jobs->last = jobs->table[slot] - 1;
            return FIRN_OK;
        }
    }
    return add(jobs, slot, key, error);
}

/* The fields of a record, and the node's fields as a key: canonical, so that 5 and 0x5 are one
 * node. */
static int read_fields(stamp_jobs *jobs, const record *r, firn_fields *fields,
                       char key[JOBS_KEY_SIZE], firn_error *error) {
    key[0] = '\0';
    for (size_t i = 0; i < jobs->count; i++) {
        char value[FIRN_VALUE_SIZE];
        firn_error why;
        if (r->field[i].text == NULL || r->field[i].length == 0 ||
            r->field[i].length >= sizeof value) {
            return set_error(error, FIRN_ETEXT, "the record has no value for %s", jobs->name[i]);
        }
        memcpy(value, r->field[i].text, r->field[i].length);
        value[r->field[i].length] = '\0';
        if (firn_fields_set(fields, jobs->scheme, jobs->name[i], value, &why) != FIRN_OK) {
            return prefix_error(error, FIRN_ETEXT, &why, "%s", "");
        }
        if (jobs->node[i]) {
            firn_fields_get(value, fields, jobs->scheme, (uint32_t)jobs->field[i]);
            text_join(key, JOBS_KEY_SIZE, " ", "%s=%s", jobs->name[i], value);
        }
    }
    return FIRN_OK;
}

/* Only fields of the node distinguish IDs, so others may have any value. */
static int put_fields(const stamp_jobs *jobs, const firn_fields *fields, firn_id *id,
                      firn_error *error) {
    firn_fields all = {0};
    int code = FIRN_OK;
    for (size_t i = 0, other = 0; i < jobs->count; i++) {
        if (jobs->node[i]) {
            continue;
        }
        if (other++ == 0) {
            code = firn_unpack(&all, jobs->scheme, id, error);
        }
        all.value[jobs->field[i]] = fields->value[jobs->field[i]];
        code = code == FIRN_OK ? firn_pack(id, jobs->scheme, &all, error) : code;
    }
    return code;
}

int jobs_next(stamp_jobs *jobs, const record *r, const firn_time *time, firn_id *id,
              int64_t *shift_ns, firn_error *error) {
    char key[JOBS_KEY_SIZE];
    firn_fields fields = {0};
    int code = read_fields(jobs, r, &fields, key, error);
    code = code == FIRN_OK ? find(jobs, key, error) : code;
    if (code == FIRN_OK) {
        code = firn_job_next(jobs->list[jobs->last].job, time, id, shift_ns, error);
    }
    return code == FIRN_OK ? put_fields(jobs, &fields, id, error) : code;
}
