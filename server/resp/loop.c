/* SPDX-License-Identifier: MIT */
#include "loop.h"

#include "settings/setting.h"

void loop_ring(resp_loop *loop) {
    pthread_mutex_lock(&loop->owner.lock);
    if (!loop->is_gone) {
        uv_async_send(&loop->bell);
    }
    pthread_mutex_unlock(&loop->owner.lock);
}

static resp_connection *waiting_at(list_link *place) {
    return list_entry(place, resp_connection, queue);
}

resp_connection *waiting_first(const list_link *queue) {
    return waiting_at(queue->next);
}

int64_t waiting_due_ms(const resp_connection *connection) {
    return connection->wait == WAIT_PENALTY ? connection->due_ms
                                            : connection->late_ms + settings_now()->wait_ms;
}

/* Ms until the first waiting connection needs attention (queues are sorted); -1: none. */
static int64_t next_due(const resp_loop *loop) {
    int64_t due = -1;
    const list_link *const queues[] = {&loop->tasks, &loop->penalties};
    if (!list_is_empty(&loop->later)) {
        return 1;
    }
    for (size_t i = 0; i < 2; i++) {
        if (!list_is_empty(queues[i])) {
            int64_t left = waiting_due_ms(waiting_at(queues[i]->next)) - loop_now_ms(loop);
            left = left < 1 ? 1 : left;
            due = due < 0 || left < due ? left : due;
        }
    }
    return due;
}

void loop_set_timer(resp_loop *loop) {
    int64_t due = next_due(loop);
    if (due < 0) {
        uv_timer_stop(&loop->timer);
    } else if (!uv_is_active((uv_handle_t *)&loop->timer) ||
               uv_timer_get_due_in(&loop->timer) > (uint64_t)due) {
        uv_timer_start(&loop->timer, loop->on_timer, (uint64_t)due, 0);
    }
    atomic_store_explicit(&loop->has_waiting, !list_is_empty(&loop->later), memory_order_relaxed);
}

static list_link *queue_of(resp_loop *loop, enum waiting what) {
    switch (what) {
    case WAIT_TURN:
        return &loop->turns;
    case WAIT_LATER:
        return &loop->later;
    case WAIT_TASK:
        return &loop->tasks;
    case WAIT_PENALTY:
        return &loop->penalties;
    case WAIT_DRAIN:
        return &loop->draining;
    default:
        return NULL;
    }
}

/* At the end, or, `sorted`, before those with a later time. */
static void enter_queue(list_link *queue, resp_connection *connection, bool sorted) {
    list_link *behind = queue;
    while (sorted && behind->before != queue &&
           waiting_due_ms(waiting_at(behind->before)) > waiting_due_ms(connection)) {
        behind = behind->before;
    }
    list_add(behind, &connection->queue);
}

static void count_waiting(const resp_connection *connection, enum waiting next) {
    bool was = connection->wait == WAIT_LATER || connection->wait == WAIT_TASK;
    bool is = next == WAIT_LATER || next == WAIT_TASK;
    meter_add(&connection->lane->worker->meter.waiting, (uint64_t)is - (uint64_t)was);
}

void loop_wait(resp_connection *connection, enum waiting what) {
    resp_loop *loop = loop_of(connection);
    list_remove(&connection->queue);
    count_waiting(connection, what);
    connection->wait = what;
    if (what == WAIT_NOTHING) {
        return;
    }
    if (what == WAIT_TURN) {
        uv_idle_start(&loop->idle, loop->on_idle);
    } else if (what != WAIT_DRAIN && (connection->late_ms == 0 || what == WAIT_PENALTY)) {
        connection->late_ms = loop_now_ms(loop);
        meter_add(&loop->lane.worker->meter.parked, 1);
    }
    if (what == WAIT_PENALTY) {
        connection->due_ms = loop_now_ms(loop) + connection->client.penalty_ms;
    }
    enter_queue(queue_of(loop, what), connection, what == WAIT_TASK || what == WAIT_PENALTY);
    if (what != WAIT_TURN && what != WAIT_DRAIN) {
        loop_set_timer(loop);
    }
}

bool waiting_is_over(const resp_connection *connection) {
    return connection->late_ms != 0 &&
           loop_now_ms(loop_of(connection)) - connection->late_ms >= settings_now()->wait_ms;
}
