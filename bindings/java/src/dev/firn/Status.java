// SPDX-License-Identifier: MIT
package dev.firn;

/**
 * The state of a generator.
 *
 * @param reserved whether it reserves its slots in a store
 * @param held whether it has a window now
 * @param node the node
 * @param first the first slot of the window
 * @param next the first slot of the window that was not issued
 * @param end the slot after the window
 * @param leadNs the time of the last ID minus the clock's, in nanoseconds
 * @param claims how often it claimed a node
 * @param renewals how often it renewed its window
 * @param giveBacks how often it gave a window back
 * @param storeErrors how often the store failed
 * @param stepsBackAbsorbed rollbacks of the clock within max_back
 * @param stepsBackLeft rollbacks of the clock beyond max_back
 * @param jumpsAhead jumps of the clock by more than 5 s
 * @param unsafe whether the store or a key allows the loss of acknowledged writes
 * @param stays whether, after a clock rollback, the time of IDs stays until the clock catches up
 */
public record Status(boolean reserved, boolean held, long node, long first, long next, long end, long leadNs, long claims,
    long renewals, long giveBacks, long storeErrors, long stepsBackAbsorbed, long stepsBackLeft, long jumpsAhead,
    boolean unsafe, boolean stays) {

    Status(long[] from) {
        this(from[0] != 0, from[1] != 0, from[2], from[3], from[4], from[5], from[6], from[7], from[8], from[9], from[10],
            from[11], from[12], from[13], from[14] != 0, from[15] != 0);
    }
}
