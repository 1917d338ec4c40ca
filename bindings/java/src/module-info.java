// SPDX-License-Identifier: MIT
/** Unique IDs for distributed systems, in this process. */
module dev.firn {
    exports dev.firn;
}
