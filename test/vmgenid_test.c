/* SPDX-License-Identifier: MIT */
/* The kernel's notice of another VM generation ID (common/vmgenid.h). The kernel itself sends
 * messages here: a process may ask for them in its own network. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "in_child.h"

#include "../common/vmgenid.c"

#define TEXT(text) text, sizeof(text) /* with the last zero */

static const char notice[] =
    "change@/devices/LNXSYSTM:00/LNXSYBUS:00/QEMUVGID:00\0ACTION=change\0SUBSYSTEM=acpi\0"
    "NEW_VMGENID=1\0SEQNUM=1234";
static const char other[] = "change@/devices/virtual/mem/null\0ACTION=change\0SUBSYSTEM=mem";

static void messages_are_judged(void **state) {
    (void)state;
    assert_true(vmgenid_is_notice(notice, sizeof notice));
    assert_false(vmgenid_is_notice(other, sizeof other));
    assert_false(vmgenid_is_notice(TEXT("add@/x\0ACTION=add\0NEW_VMGENID=1")));
    assert_false(vmgenid_is_notice(TEXT("change@/x\0ACTION=change\0NEW_VMGENID=10")));
    assert_false(vmgenid_is_notice(TEXT("change@/x\0ACTION=change\0A_NEW_VMGENID=1")));
    assert_false(vmgenid_is_notice(TEXT("NEW_VMGENID=1\0ACTION=change")));
    assert_false(vmgenid_is_notice(TEXT("")));
    for (size_t size = 0; size < sizeof notice; size++) { /* none is read past its end */
        char *copy = malloc(size + 1);
        assert_non_null(copy);
        memcpy(copy, notice, size);
        char *end = realloc(copy, size == 0 ? 1 : size);
        assert_non_null(end);
        assert_int_equal(vmgenid_is_notice(end, size),
                         size >= sizeof notice - sizeof "SEQNUM=1234");
        free(end);
    }
    assert_false(vmgenid_changed(-1));
}

static int send_from(int fd, const char *text, size_t size, const struct sockaddr_nl *self) {
    return sendto(fd, text, size, 0, (const struct sockaddr *)self, sizeof *self) == (ssize_t)size
               ? 0
               : 1;
}

/* A message that the kernel repeats to all who listen in this network. */
static int kernel_says(int fd, const char *text, size_t size) {
    struct {
        struct nlmsghdr head;
        char text[256];
    } message = {.head = {.nlmsg_len = (uint32_t)(sizeof message.head + size),
                          .nlmsg_type = NLMSG_MIN_TYPE,
                          .nlmsg_flags = NLM_F_REQUEST}};
    const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    memcpy(message.text, text, size);
    return send_from(fd, (const char *)&message, sizeof message.head + size, &kernel);
}

static int hear(void) {
    struct sockaddr_nl self = {0}, all = {.nl_family = AF_NETLINK, .nl_groups = KERNEL};
    socklen_t length = sizeof self;
    int fd = vmgenid_open(), sender = socket(AF_NETLINK, SOCK_DGRAM, NETLINK_KOBJECT_UEVENT);
    CHECK(fd >= 0 && sender >= 0 && !vmgenid_changed(fd));
    CHECK(getsockname(fd, (struct sockaddr *)&self, &length) == 0);
    /* from a process, to this socket and to all */
    CHECK(send_from(sender, notice, sizeof notice, &self) == 0 && !vmgenid_changed(fd));
    CHECK(send_from(sender, notice, sizeof notice, &all) == 0 && !vmgenid_changed(fd));
    CHECK(kernel_says(sender, other, sizeof other) == 0 && !vmgenid_changed(fd));
    CHECK(kernel_says(sender, notice, sizeof notice) == 0 &&
          kernel_says(sender, other, sizeof other) == 0);
    CHECK(vmgenid_changed(fd) && !vmgenid_changed(fd));
    for (int i = 0; i < MESSAGES_MOST; i++) { /* more than there is room for */
        kernel_says(sender, other, sizeof other);
    }
    CHECK(vmgenid_changed(fd) && !vmgenid_changed(fd));
    close(fd);
    close(sender);
    return 0;
}

static void the_kernel_is_heard_and_nobody_else(void **state) {
    enum { HUNG_S = 300, CANNOT = 77 };
    int status;
    (void)state;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(HUNG_S);
        _exit(unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 || unshare(CLONE_NEWNET) == 0 ? hear()
                                                                                       : CANNOT);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == CANNOT) {
        skip(); /* no namespaces here */
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_judged),
        cmocka_unit_test(the_kernel_is_heard_and_nobody_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
