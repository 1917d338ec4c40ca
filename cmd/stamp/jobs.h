/* SPDX-License-Identifier: MIT */
/* The jobs of one run of stamp if columns give fields of the IDs: one job per node, because a
 * node's slots are reserved for one job. Fields outside the node are put into the IDs, which stay
 * different. */
#ifndef FIRN_JOBS_H
#define FIRN_JOBS_H

#include "records.h"

enum { JOBS_MAX = 65536, JOBS_KEY_SIZE = 512 };

typedef struct jobs_entry {
    char *key; /* "node=9f:6b:de:ce:d8:46", owned */
    firn_job *job;
} jobs_entry;

/* The zero value is empty. */
typedef struct stamp_jobs {
    const firn_scheme *scheme;
    firn_job_config config; /* what all share; its store is owned */
    bool refuses_again;     /* a job that was begun before is refused */
    size_t count;           /* of fields */
    char name[RECORDS_FIELDS][FIRN_NAME_SIZE];
    int field[RECORDS_FIELDS]; /* as firn_scheme_field has it */
    bool node[RECORDS_FIELDS];

    jobs_entry *list; /* in the order in which records named them */
    size_t used, room;
    uint32_t *table; /* by the hash of the key: index + 1, 0 is free */
    size_t last;     /* records of one node often follow each other */
    bool reported;   /* the notices of the first job were printed */
} stamp_jobs;

/* FIELD=COLUMN: adds the field; *column is where its column's name begins. FIRN_EUSAGE. */
int jobs_add_field(stamp_jobs *jobs, const firn_scheme *scheme, const char *text,
                   const char **column, firn_error *error);
/* FIRN_ETAKEN if `refuses_again` and the job was begun before. */
int jobs_check_again(const stamp_jobs *jobs, firn_job *job, const char *name, firn_error *error);
/* Takes over config->store. Known jobs are opened again, in their order. */
int jobs_open(stamp_jobs *jobs, const firn_job_config *config, firn_error *error);
/* The ID of a record, as firn_job_next. FIRN_ETEXT, too: a value that the field cannot hold. */
int jobs_next(stamp_jobs *jobs, const record *r, const firn_time *time, firn_id *id,
              int64_t *shift_ns, firn_error *error);
void jobs_close(stamp_jobs *jobs);

#endif
