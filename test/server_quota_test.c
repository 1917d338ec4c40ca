/* SPDX-License-Identifier: MIT */
/* Quotas: charged before IDs are issued, by many threads at once, and given back exactly once. A
 * refusal is of a whole second's IDs, so that a slow machine does not turn it into a success. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <time.h>

#include "net/quota.h"
#include "settings/setting.h"

#define THREADS 8
#define TRIES   20000

static account shop;
static const access_pass pass = {.has_token = true, .account = &shop};
static const address_key nowhere = {0, 0}, here = {1, 2};

static int begin(void **state) {
    (void)state;
    server_settings all;
    settings_preset(&all);
    all.address_ids_s = 0;
    atomic_store(&shop.ids_s, 1000000);
    atomic_store(&shop.until, 0);
    return settings_put(&all, NULL);
}

static size_t charge(quota_charge *charge, address_key client, size_t times, int64_t each) {
    firn_error error;
    int64_t wait_ms;
    return quota_charge_to(charge, &pass, client, times, each, &wait_ms, &error);
}

static void *take_some(void *self) {
    size_t *taken = self;
    quota_charge item;
    for (int i = 0; i < TRIES; i++) {
        if (charge(&item, nowhere, 1, 100000) > 0) {
            *taken += 1;
        }
    }
    return NULL;
}

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void threads_take_no_more_than_the_quota(void **state) {
    pthread_t threads[THREADS];
    size_t taken[THREADS] = {0}, sum = 0;
    (void)state;
    int64_t begun = now_ms();
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, take_some, &taken[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        sum += taken[i];
    }
    assert_in_range(sum, 10, 10 + 1 + (now_ms() - begun) / 100);
}

static void a_charge_is_given_back_once(void **state) {
    quota_charge all, part, none;
    (void)state;
    atomic_store(&shop.ids_s, 10);
    assert_int_equal(charge(&all, nowhere, 10, 1), 10);
    assert_int_equal(charge(&none, nowhere, 1, 10), 0);
    quota_settle(&none, 0);
    assert_int_equal(charge(&none, nowhere, 1, 10), 0);
    int64_t until = atomic_load(&shop.until);
    quota_settle(&all, 4);
    assert_true(atomic_load(&shop.until) < until);
    assert_in_range(charge(&part, nowhere, 10, 1), 6, 10);
    until = atomic_load(&shop.until);
    quota_settle(&all, 0); /* the charge is settled */
    assert_int_equal(atomic_load(&shop.until), until);
}

/* A charge that time has refunded is not refunded again. */
static void an_old_charge_is_worth_nothing(void **state) {
    quota_charge old, fresh;
    (void)state;
    atomic_store(&shop.ids_s, 10);
    assert_int_equal(charge(&old, nowhere, 10, 1), 10);
    old.token_until -= INT64_C(16) * 2000000000; /* two seconds ago */
    atomic_store(&shop.until, old.token_until);
    assert_int_equal(charge(&fresh, nowhere, 10, 1), 10);
    int64_t until = atomic_load(&shop.until);
    quota_settle(&old, 0);
    assert_int_equal(atomic_load(&shop.until), until);
}

/* The token is not charged for what the address refuses. */
static void both_quotas_are_charged_alike(void **state) {
    quota_charge item, two, rest;
    server_settings all;
    (void)state;
    settings_preset(&all);
    all.address_ids_s = 4;
    assert_int_equal(settings_put(&all, NULL), FIRN_OK);
    atomic_store(&shop.ids_s, 10);
    assert_int_equal(charge(&item, here, 10, 1), 4);
    assert_int_equal(charge(&two, here, 1, 4), 0);
    assert_in_range(charge(&rest, nowhere, 10, 1), 6, 10);
    quota_settle(&item, 0);
    assert_in_range(charge(&two, here, 4, 1), 3, 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(threads_take_no_more_than_the_quota, begin),
        cmocka_unit_test_setup(a_charge_is_given_back_once, begin),
        cmocka_unit_test_setup(an_old_charge_is_worth_nothing, begin),
        cmocka_unit_test_setup(both_quotas_are_charged_alike, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
