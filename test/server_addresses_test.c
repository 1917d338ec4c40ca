/* SPDX-License-Identifier: MIT */
/* Which clients count as one address: IPv4, IPv6, and IPv4 at a dual-stack socket. Needs no
 * network. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "net/addresses.h"

#include <arpa/inet.h>
#include <cmocka.h>
#include <stdbool.h>
#include <string.h>

static address_key of_text(int family, const char *text) {
    struct sockaddr_storage address = {.ss_family = (sa_family_t)family};
    void *place = family == AF_INET ? (void *)&((struct sockaddr_in *)&address)->sin_addr
                                    : (void *)&((struct sockaddr_in6 *)&address)->sin6_addr;
    assert_int_equal(inet_pton(family, text, place), 1);
    return address_of(&address);
}

static bool alike(address_key a, address_key b) {
    return a.high == b.high && a.low == b.low;
}

static void each_of_ipv4_is_one(void **state) {
    (void)state;
    assert_true(alike(of_text(AF_INET, "192.0.2.1"), of_text(AF_INET, "192.0.2.1")));
    assert_false(alike(of_text(AF_INET, "192.0.2.1"), of_text(AF_INET, "192.0.2.2")));
}

static void a_socket_for_both_reports_the_same_of_ipv4(void **state) {
    (void)state;
    assert_true(alike(of_text(AF_INET6, "::ffff:192.0.2.1"), of_text(AF_INET, "192.0.2.1")));
    assert_false(
        alike(of_text(AF_INET6, "::ffff:192.0.2.1"), of_text(AF_INET6, "::ffff:192.0.2.2")));
}

static void a_network_of_ipv6_is_one(void **state) {
    (void)state;
    assert_true(alike(of_text(AF_INET6, "2001:db8::1"), of_text(AF_INET6, "2001:db8::2:3")));
    assert_false(alike(of_text(AF_INET6, "2001:db8::1"), of_text(AF_INET6, "2001:db8:0:1::1")));
    struct sockaddr_storage local = {.ss_family = AF_UNIX};
    assert_false(alike(of_text(AF_INET6, "::1"), address_of(&local)));
}

static void they_are_counted(void **state) {
    address_key key = of_text(AF_INET, "192.0.2.7"), other = of_text(AF_INET, "192.0.2.8");
    (void)state;
    assert_int_equal(address_enter(key), 1);
    assert_int_equal(address_enter(other), 1);
    assert_int_equal(address_enter(key), 2);
    address_leave(key);
    address_leave(other);
    assert_int_equal(address_enter(key), 2);
    address_leave(key);
    address_leave(key);
    assert_int_equal(address_enter(key), 1);
    address_leave(key);
}

static void writes(const char *expected, address_key key) {
    char text[ADDRESS_TEXT_SIZE];
    address_write(text, key);
    assert_string_equal(text, expected);
}

static void they_are_written_for_people(void **state) {
    struct sockaddr_storage address = {.ss_family = AF_UNIX};
    (void)state;
    writes("192.0.2.1", of_text(AF_INET, "192.0.2.1"));
    writes("192.0.2.1", of_text(AF_INET6, "::ffff:192.0.2.1"));
    writes("2001:db8::/64", of_text(AF_INET6, "2001:db8::2:3"));
    writes("::1", of_text(AF_INET6, "::1"));
    writes("unix", address_of(&address));
}

/* More than the table has slots, so that some share one. */
static void many_are_distinguished(void **state) {
    enum { COUNT = 20000 };
    (void)state;
    for (uint64_t i = 1; i <= COUNT; i++) {
        assert_int_equal(address_enter((address_key){2, i}), 1);
    }
    assert_true(address_is_same((address_key){2, 3}, (address_key){2, 3}));
    assert_false(address_is_same((address_key){2, 3}, (address_key){3, 3}));
    assert_int_equal(address_count_stranger((address_key){2, 3}, 1), 1);
    assert_int_equal(address_count_stranger((address_key){2, 3}, -1), 0);
    assert_int_equal(address_count_stranger((address_key){3, 3}, 1), 0); /* none is open */
    for (uint64_t i = COUNT; i >= 1; i--) {
        address_leave((address_key){2, i});
    }
    address_leave((address_key){2, 1}); /* nor is this one any more */
    assert_int_equal(address_enter((address_key){2, 1}), 1);
    address_leave((address_key){2, 1});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        {"each address of IPv4 is one", each_of_ipv4_is_one, NULL, NULL, NULL},
        {"a socket for both reports the same of IPv4", a_socket_for_both_reports_the_same_of_ipv4,
         NULL, NULL, NULL},
        {"a network of IPv6 is one", a_network_of_ipv6_is_one, NULL, NULL, NULL},
        {"they are counted", they_are_counted, NULL, NULL, NULL},
        {"they are written for people", they_are_written_for_people, NULL, NULL, NULL},
        {"many are distinguished", many_are_distinguished, NULL, NULL, NULL},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
