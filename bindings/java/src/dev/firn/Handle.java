// SPDX-License-Identifier: MIT
package dev.firn;

import java.lang.ref.Cleaner;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;

/** Something native that one thread calls at a time. Any thread may call it, and the garbage collector frees it. */
abstract class Handle implements AutoCloseable {
    private final ReentrantLock lock = new ReentrantLock();
    private final String closed;
    private final String cure;
    private final Cleaner.Cleanable cleanable;
    private long address; // 0: closed

    /** {@code free} must not refer to the handle. */
    Handle(long opened, LongConsumer free, String closed, String cure) {
        address = opened;
        cleanable = Generator.CLEANER.register(this, () -> free.accept(opened));
        this.closed = closed;
        this.cure = cure;
    }

    /** Calls with the address, alone. */
    final <T> T alone(LongFunction<T> call) {
        lock.lock();
        try {
            if (address == 0) {
                throw Text.usage(closed, cure);
            }
            return call.apply(address);
        } finally {
            lock.unlock();
        }
    }

    /** Gives back what is left, where possible, and erases keys. The second time it does nothing. */
    @Override
    public void close() {
        lock.lock();
        try {
            address = 0;
            cleanable.clean();
        } finally {
            lock.unlock();
        }
    }
}
