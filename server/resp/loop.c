/* SPDX-License-Identifier: MIT */
#include "loop.h"

#include "config/setting.h"

void loop_ring(loop *it) {
    pthread_mutex_lock(&it->owner.lock);
    if (!it->is_gone) {
        uv_async_send(&it->bell);
    }
    pthread_mutex_unlock(&it->owner.lock);
}

static connection *waiting_at(list_link *place) {
    return list_entry(place, connection, queue);
}

connection *waiting_first(const list_link *queue) {
    return waiting_at(queue->next);
}

int64_t waiting_due_ms(const connection *it) {
    return it->wait == WAIT_PENALTY ? it->due_ms : it->late_ms + settings_now()->wait_ms;
}

/* Ms until the first waiting connection needs attention (queues are sorted); -1: none. */
static int64_t next_due(const loop *it) {
    int64_t due = -1;
    const list_link *const queues[] = {&it->tasks, &it->penalties};
    if (!list_is_empty(&it->later)) {
        return 1;
    }
    for (size_t i = 0; i < 2; i++) {
        if (!list_is_empty(queues[i])) {
            int64_t left = waiting_due_ms(waiting_at(queues[i]->next)) - loop_now_ms(it);
            left = left < 1 ? 1 : left;
            due = due < 0 || left < due ? left : due;
        }
    }
    return due;
}

void loop_set_timer(loop *it) {
    int64_t due = next_due(it);
    if (due < 0) {
        uv_timer_stop(&it->timer);
    } else if (!uv_is_active((uv_handle_t *)&it->timer) ||
               uv_timer_get_due_in(&it->timer) > (uint64_t)due) {
        uv_timer_start(&it->timer, it->on_timer, (uint64_t)due, 0);
    }
    atomic_store_explicit(&it->has_waiting, !list_is_empty(&it->later), memory_order_relaxed);
}

static list_link *queue_of(loop *it, enum waiting what) {
    switch (what) {
    case WAIT_TURN:
        return &it->turns;
    case WAIT_LATER:
        return &it->later;
    case WAIT_TASK:
        return &it->tasks;
    case WAIT_PENALTY:
        return &it->penalties;
    case WAIT_DRAIN:
        return &it->draining;
    default:
        return NULL;
    }
}

/* At the end, or, `sorted`, before those with a later time. */
static void enter_queue(list_link *queue, connection *it, bool sorted) {
    list_link *behind = queue;
    while (sorted && behind->before != queue &&
           waiting_due_ms(waiting_at(behind->before)) > waiting_due_ms(it)) {
        behind = behind->before;
    }
    list_add(behind, &it->queue);
}

static void count_waiting(const connection *it, enum waiting next) {
    bool was = it->wait == WAIT_LATER || it->wait == WAIT_TASK;
    bool is = next == WAIT_LATER || next == WAIT_TASK;
    meter_add(&it->lane->worker->meter.waiting, (uint64_t)is - (uint64_t)was);
}

void loop_wait(connection *it, enum waiting what) {
    loop *on = loop_of(it);
    list_remove(&it->queue);
    count_waiting(it, what);
    it->wait = what;
    if (what == WAIT_NOTHING) {
        return;
    }
    if (what == WAIT_TURN) {
        uv_idle_start(&on->idle, on->on_idle);
    } else if (what != WAIT_DRAIN && (it->late_ms == 0 || what == WAIT_PENALTY)) {
        it->late_ms = loop_now_ms(on);
        meter_add(&on->lane.worker->meter.parked, 1);
    }
    if (what == WAIT_PENALTY) {
        it->due_ms = loop_now_ms(on) + it->client.penalty_ms;
    }
    enter_queue(queue_of(on, what), it, what == WAIT_TASK || what == WAIT_PENALTY);
    if (what != WAIT_TURN && what != WAIT_DRAIN) {
        loop_set_timer(on);
    }
}

bool waiting_is_over(const connection *it) {
    return it->late_ms != 0 && loop_now_ms(loop_of(it)) - it->late_ms >= settings_now()->wait_ms;
}
