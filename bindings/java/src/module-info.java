// SPDX-License-Identifier: MIT
/** Unique IDs for distributed systems: in this process, and from a server. */
module dev.firn {
    requires transitive java.net.http;

    exports dev.firn;
    exports dev.firn.client;
}
