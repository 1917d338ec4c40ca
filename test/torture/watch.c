/* SPDX-License-Identifier: MIT */
/* A scene's knowledge of its clients: which issue, fail, recover, and how fast. Starts and kills
 * nobody. */
#include "torture.h"

/* Until all of the seats [from, to) have what `member` points to; false: not within the time. */
static bool await(scene *s, int from, int to, size_t member, int64_t most_ms) {
    int64_t begun_ms = now_ms();
    for (int i = from; i < to; i++) {
        const char *place = (const char *)&s->world->seats[i];
        while (atomic_load((const _Atomic int64_t *)(const void *)(place + member)) == 0) {
            if (now_ms() - begun_ms > most_ms) {
                return false;
            }
            nap_ms(2);
        }
    }
    return true;
}

void look_from_now(scene *s) {
    for (int i = 0; i < SEATS; i++) {
        torture_seat *seat = &s->world->seats[i];
        atomic_store(&seat->good_before_ms, 0);
        atomic_store(&seat->again_ms, 0);
        atomic_store(&seat->bad_ms, 0);
        atomic_store(&seat->code, 0);
    }
    atomic_store(&s->world->back_ms, 0);
    atomic_store(&s->world->since_ms, now_ms());
}

bool await_issue(scene *s, int n) {
    return await(s, 0, n, offsetof(torture_seat, good_ms), WAIT_MS);
}

bool await_failures(scene *s, int n, int64_t most_ms) {
    return await(s, 0, n, offsetof(torture_seat, bad_ms), most_ms);
}

int64_t await_again(scene *s, int from, int to, int64_t most_ms) {
    int64_t back_ms = now_ms(), worst = 0;
    for (int i = from; i < to; i++) {
        atomic_store(&s->world->seats[i].again_ms, 0);
    }
    atomic_store(&s->world->back_ms, back_ms);
    bool all = await(s, from, to, offsetof(torture_seat, again_ms), most_ms);
    for (int i = from; i < to; i++) {
        torture_seat *seat = &s->world->seats[i];
        int64_t took_ms = atomic_load(&seat->again_ms) - back_ms;
        if (!all && atomic_load(&seat->again_ms) == 0) {
            refute(s, "client %d does not issue again by itself: %.200s", i, seat->text);
            return -1;
        }
        worst = took_ms > worst ? took_ms : worst;
    }
    return worst;
}

void recovered(scene *s, int64_t took_ms, int64_t promised_ms) {
    promised_ms = promised_ms * s->slow + (s->brief ? 30000 : 0);
    if (took_ms > promised_ms) {
        refute(s, "recovered after %lld ms, not %lld", (long long)took_ms, (long long)promised_ms);
    }
    s->report->recovery_ms = took_ms > s->report->recovery_ms ? took_ms : s->report->recovery_ms;
}
