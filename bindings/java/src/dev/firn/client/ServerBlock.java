// SPDX-License-Identifier: MIT
package dev.firn.client;

import java.time.Duration;
import java.util.PrimitiveIterator;
import java.util.concurrent.locks.ReentrantLock;

/** An endless iterator of {@link FirnClient#block}. Any thread may use it. */
public final class ServerBlock implements PrimitiveIterator.OfLong {
    private final ReentrantLock lock = new ReentrantLock();
    private final FirnClient client;
    private final String name;
    private final long maxAgeNs;
    private final int most;
    private long[] ids = new long[0];
    private int taken;
    private long askedNs;

    ServerBlock(FirnClient client, String name, Duration maxAge, int most) {
        this.client = client;
        this.name = name;
        this.maxAgeNs = maxAge.toNanos();
        this.most = most;
    }

    /**
     * Takes an ID from the block, which is filled if it is empty or too old.
     *
     * @return the ID
     * @throws ServerException as {@link FirnClient#next}
     */
    @Override
    public long nextLong() {
        lock.lock();
        try {
            if (taken == ids.length || System.nanoTime() - askedNs > maxAgeNs) {
                fill();
            }
            return ids[taken++];
        } finally {
            lock.unlock();
        }
    }

    /** As many IDs as were used of the last block, or twice as many if all were used. */
    private void fill() {
        int size = taken < ids.length ? Math.max(taken, 1) : Math.max(2 * ids.length, 1);
        long asked = System.nanoTime(); // the IDs are issued after this
        ids = client.many(name, Math.min(size, most));
        askedNs = asked;
        taken = 0;
    }

    /** Always true. */
    @Override
    public boolean hasNext() {
        return true;
    }
}
