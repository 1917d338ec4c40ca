/* SPDX-License-Identifier: MIT */
/* The number of a node, from a value, the ordinal in the host name, an address of the host or the
 * pid. Looks up only what the caller names, and never guesses. */
#include "error.h"
#include "gen.h"

#include <errno.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <netpacket/packet.h>

/* The number after the last dash of the host name, as pods of a Kubernetes StatefulSet have it. */
static int read_ordinal(uint64_t *number, firn_error *error) {
    char host[256] = "";
    firn_value value;
    gethostname(host, sizeof host - 1);
    const char *dash = strrchr(host, '-');
    if (dash == NULL || dash[1] < '0' || dash[1] > '9' || !firn__value_parse(&value, dash + 1) ||
        value.high != 0) {
        return firn_error_set(
            error, FIRN_EUSAGE, FIRN_CURE_SET_FIELD,
            "node=ordinal: the host name '%.60s' does not end in a dash and a number: "
            "set node=N",
            host);
    }
    *number = value.low;
    return FIRN_OK;
}

/* The first address of a family on an interface that is up and not the loopback. */
static bool find_address(int family, uint64_t *number) {
    struct ifaddrs *list, *item;
    bool found = false;
    if (getifaddrs(&list) != 0) {
        return false;
    }
    for (item = list; item != NULL && !found; item = item->ifa_next) {
        if (item->ifa_addr == NULL || item->ifa_addr->sa_family != family ||
            (item->ifa_flags & IFF_LOOPBACK) || !(item->ifa_flags & IFF_UP)) {
            continue;
        }
        if (family == AF_INET) {
            struct sockaddr_in address;
            memcpy(&address, item->ifa_addr, sizeof address);
            *number = ntohl(address.sin_addr.s_addr);
            found = true;
        } else {
            struct sockaddr_ll link;
            memcpy(&link, item->ifa_addr, sizeof link);
            *number = 0;
            for (int i = 0; i < 6 && link.sll_halen == 6; i++) {
                *number = *number << 8 | link.sll_addr[i];
            }
            found = *number != 0;
        }
    }
    freeifaddrs(list);
    return found;
}

static int look_up(uint64_t *number, const char *name, const char *value, uint32_t bits, int role,
                   firn_error *error) {
    bool found = true;
    if (strcmp(value, "ordinal") == 0) {
        return read_ordinal(number, error);
    }
    if (strcmp(value, "self") == 0 && strcmp(name, "pid") == 0) {
        *number = (uint64_t)getpid();
    } else if (strcmp(value, "host") == 0 && role != FIRN_ROLE_CONST) {
        found = find_address(AF_PACKET, number);
    } else if (strcmp(value, "ip") == 0) {
        found = find_address(AF_INET, number);
    } else {
        return firn__fail(error, FIRN_EUSAGE,
                          "%s=%.40s is not valid: use a number, ordinal, ip or host%s", name, value,
                          strcmp(name, "pid") == 0 ? ", or self" : "");
    }
    if (!found) {
        return firn_error_set(error, FIRN_ESYSTEM, FIRN_CURE_SET_FIELD,
                              "%s=%s: no interface that is up has such an address: set a number",
                              name, value);
    }
    *number &= firn__mask(bits); /* host, ip and self mean the low bits */
    return FIRN_OK;
}

int firn__node_read(uint64_t *number, const char *name, const char *value, uint32_t bits, int role,
                    firn_error *error) {
    firn_value parsed = {0, 0};
    uint64_t out = 0;
    int code = FIRN_OK;
    if (firn__value_is_large(value)) {
        parsed.high = 1; /* refused below */
    } else if (firn__value_parse(&parsed, value)) {
        out = parsed.low;
    } else {
        code = look_up(&out, name, value, bits, role, error);
    }
    if (code == FIRN_OK && (parsed.high != 0 || (out & ~firn__mask(bits)) != 0)) {
        bool ordinal = strcmp(value, "ordinal") == 0;
        char found[24];
        snprintf(found, sizeof found, "%" PRIu64, out);
        return firn_error_set(error, FIRN_ERANGE, FIRN_CURE_SMALLER,
                              "%s%s %.40s is out of range (0 to %" PRIu64 ", %" PRIu32
                              " bits): choose a smaller number",
                              name, ordinal ? "=ordinal" : "", ordinal ? found : value,
                              firn__mask(bits), bits);
    }
    if (code == FIRN_OK) {
        *number = out;
    }
    return code;
}

char *firn__node_note(char text[FIRN_NOTE_SIZE]) {
    char host[65] = "", program[65] = "firn";
    gethostname(host, sizeof host - 1);
#if defined(__GLIBC__)
    snprintf(program, sizeof program, "%.32s", program_invocation_short_name);
#endif
    snprintf(text, FIRN_NOTE_SIZE, "%.32s on %.60s, pid %ld", program, host, (long)getpid());
    return text;
}
