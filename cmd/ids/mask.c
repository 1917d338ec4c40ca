/* SPDX-License-Identifier: MIT */
/* `firn mask` and `firn unmask`: IDs and their masked forms; `firn mask keygen`: a key for them; `firn
 * mask fingerprint`: of a mask. The library reads the key. */
#include "join.h"
#include "named_pipe.h"
#include "numbers.h"
#include "pure_verbs.h"
#include "shared/json.h"
#include "shared/key_file.h"
#include "shared/lines.h"
#include "shared/operands.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum { NUMBER_MOST = 999999999 };
enum { FILE_SIZE = 1024, KEYS_SIZE = 512, FORMS_SIZE = sizeof " from= as=" + 2 * 60 };

typedef struct masking {
    firn_mask *mask;
    bool back;
} masking;

/* ---- keygen ---------------------------------------------------------------------------------- */

/* A key of `size` bytes: FIRN_MASK_KEY_SIZE, or half of it for UUIDv47. */
static int write_key(session *s, int file, const char *name, uint64_t number, size_t size) {
    uint8_t key[FIRN_MASK_KEY_SIZE];
    char text[FILE_SIZE];
    bool done = getrandom(key, sizeof key, 0) == sizeof key;
    int length = snprintf(text, sizeof text,
                          "# Secret key of firn mask. Keep a copy: without it, no masked ID can be "
                          "turned back.\n%" PRIu64 " ",
                          number);
    for (size_t i = 0; i < size; i++) {
        length += snprintf(text + length, sizeof text - (size_t)length, "%02x", key[i]);
    }
    text[length++] = '\n';
    done = done && write(file, text, (size_t)length) == length && fsync(file) == 0;
    int why = errno;
    done = close(file) == 0 && done;
    explicit_bzero(key, sizeof key);
    explicit_bzero(text, sizeof text);
    if (!done) {
        unlink(name);
        return fail_as(s, FIRN_EIO, "cannot write the key file %.80s: %s", name, strerror(why));
    }
    return STATUS_DONE;
}

static int keygen(session *s) {
    const char *given = operand_value(s, "key_number"), *width = operand_value(s, "width"),
               *name = s->operands[1];
    const size_t known = 2 + (size_t)(given != NULL) + (size_t)(width != NULL);
    uint64_t number = 1;
    firn_error error;
    if (s->plain_count != 2) {
        return fail_usage(s,
                          "keygen needs one FILE, which it makes: add its name, such as mask.key");
    }
    if (s->operand_count > known) {
        const size_t other = given == s->operands[2] + strlen("key_number=") ||
                                     width == s->operands[2] + strlen("width=")
                                 ? known
                                 : 2;
        return fail_usage(s, "keygen has no setting '%.60s': see firn mask --help",
                          s->operands[other]);
    }
    if (width != NULL && strcmp(width, "uuid47") != 0) {
        return fail_usage(s, "a key is for every width but uuid47: remove width=%.40s", width);
    }
    if (given != NULL && (!number_whole(&number, given) || number > NUMBER_MOST)) {
        return fail_usage(s, "key_number=%.40s is out of range (0 to %d): choose a number in it",
                          given, NUMBER_MOST);
    }
    if (refuse_named_pipe(name, &error) != FIRN_OK) {
        return fail(s, &error);
    }
    int file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0 && errno == EEXIST) {
        return fail_usage(s, "%.80s exists, and may be a key in use: name a new file", name);
    }
    if (file < 0) {
        return fail_as(s, FIRN_EIO, "cannot write the key file %.80s: %s", name, strerror(errno));
    }
    return write_key(s, file, name, number,
                     width != NULL ? sizeof(uint64_t[2]) : FIRN_MASK_KEY_SIZE);
}

/* ---- masking --------------------------------------------------------------------------------- */

static int mask_line(session *s, void *context, const char *text, size_t length,
                     firn_error *error) {
    const masking *work = context;
    char id_text[FIRN_TEXT_SIZE], masked_text[FIRN_TEXT_SIZE];
    int code = work->back ? firn_mask_read(work->mask, id_text, text, length, error)
                          : firn_mask_write(work->mask, masked_text, text, length, error);
    if (code == FIRN_OK && s->option[OPTION_JSON] != NULL) { /* both as firn writes them */
        code = work->back
                   ? firn_mask_write(work->mask, masked_text, id_text, strlen(id_text), error)
                   : firn_mask_read(work->mask, id_text, masked_text, strlen(masked_text), error);
    }
    if (code != FIRN_OK) {
        return code;
    }
    if (s->option[OPTION_JSON] != NULL) {
        json_line(&s->out, json_pack("{s:s, s:s}", "id", id_text, "masked", masked_text));
    } else {
        output_print(&s->out, "%s\n", work->back ? id_text : masked_text);
    }
    return FIRN_OK;
}

static void add_form(char keys[KEYS_SIZE], const char *key, const char *form) {
    if (form != NULL) {
        text_join(keys, KEYS_SIZE, " ", "%s=%.60s", key, form);
    }
}

static int open_mask(session *s, masking *work) {
    static const char *const none[] = {NULL};
    const char *file = s->option[OPTION_KEY_FILE];
    char keys[KEYS_SIZE];
    firn_error error;
    int status = key_refuse_argument(s, "--key-file FILE");
    if (status == STATUS_DONE && file == NULL) {
        status = fail_usage(
            s, "a mask needs a secret key: run `firn mask keygen FILE` and add --key-file FILE");
    }
    status = status == STATUS_DONE ? operands_join(s, none, FORMS_SIZE, keys, sizeof keys) : status;
    if (status == STATUS_DONE) {
        add_form(keys, "from", s->option[OPTION_FROM]);
        add_form(keys, "as", s->option[OPTION_AS]);
        int code = firn_mask_load(&work->mask, keys, file, NULL, &error);
        status = argument_code(code, &error) == FIRN_OK ? STATUS_DONE : fail(s, &error);
    }
    return status;
}

static int fingerprint(session *s, const masking *work) {
    if (s->plain_count != 1) {
        return fail_usage(s, "fingerprint takes no ID: remove '%.60s'", s->operands[1]);
    }
    output_print(&s->out, "%s\n", firn_mask_fingerprint(work->mask));
    return STATUS_DONE;
}

/* Is the first operand this word of `firn mask`? */
static bool has_verb(const session *s, const char *verb) {
    return s->plain_count > 0 && strcmp(s->operands[0], verb) == 0;
}

static int run(session *s, bool back) {
    masking work = {.back = back};
    int status = operands_split(s, 0, 0, SIZE_MAX, "IDs");
    if (status == STATUS_DONE && !back && has_verb(s, "keygen")) {
        return keygen(s);
    }
    status = status == STATUS_DONE ? open_mask(s, &work) : status;
    if (status == STATUS_DONE) {
        status = !back && has_verb(s, "fingerprint")
                     ? fingerprint(s, &work)
                     : lines_do(s, s->plain_count > 0 ? s->operands : NULL, s->plain_count,
                                mask_line, &work);
    }
    firn_mask_close(work.mask);
    return status;
}

int run_mask(session *s) {
    return run(s, false);
}

int run_unmask(session *s) {
    return run(s, true);
}
