// SPDX-License-Identifier: MIT
package dev.firn;

import java.lang.ref.WeakReference;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The thread that renews the window of one generator, and the only one that waits for its store. Others wait for it on a
 * condition, which parks a virtual thread and does not pin it. It ends with its generator, also with one that leaked.
 */
final class Renewer implements Runnable {
    private static final long FAILED_MS = 50;

    private final WeakReference<Generator> generator;
    private final Thread thread;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition asked = lock.newCondition();
    private final Condition stepped = lock.newCondition();
    private long started; // steps
    private long finished;
    private long wanted;
    private boolean ended;
    private FirnException failure; // of the last step

    Renewer(Generator generator) {
        this.generator = new WeakReference<>(generator);
        thread = new Thread(null, this, "firn-renewer-" + generator.scheme(), 0, false);
        thread.setDaemon(true);
        thread.setContextClassLoader(null);
    }

    void start() {
        thread.start();
    }

    @Override
    public void run() {
        long waitMs = 0;
        try {
            while (waitMs >= 0 && begin(waitMs)) {
                FirnException failed = null;
                try {
                    waitMs = step();
                } catch (FirnException error) {
                    failed = error;
                    waitMs = FAILED_MS;
                }
                finish(failed);
            }
        } finally {
            end(); // also after an OutOfMemoryError: nobody may wait for this thread any more
        }
    }

    /** -> milliseconds until the next step; -1: the generator is gone. */
    private long step() {
        Generator still = generator.get();
        return still == null || still.closed ? -1 : Math.max(1, Native.step(still, still.address));
    }

    /** Waits until a step is necessary. False: the end. */
    private boolean begin(long waitMs) {
        lock.lock();
        try {
            long left = TimeUnit.MILLISECONDS.toNanos(waitMs);
            while (!ended && wanted <= finished && left > 0) {
                try {
                    left = asked.awaitNanos(left);
                } catch (InterruptedException error) {
                    left = 0; // nothing interrupts it; a step more does no harm
                }
            }
            started++;
            return !ended;
        } finally {
            lock.unlock();
        }
    }

    private void finish(FirnException failed) {
        lock.lock();
        try {
            finished = started;
            failure = failed;
            stepped.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Returns after a step that began after this call; throws what it threw. An interrupted thread stays interrupted. */
    void await() {
        lock.lock();
        try {
            long mine = started + 1;
            wanted = Math.max(wanted, mine);
            asked.signal();
            try {
                while (finished < mine && !ended) {
                    stepped.await();
                }
            } catch (InterruptedException error) {
                Thread.currentThread().interrupt();
                FirnException failed = new FirnException(Code.WINDOW, "this thread was interrupted while it waited for the store",
                    "call again when the thread is not interrupted");
                failed.initCause(error);
                throw failed;
            }
            if (failure != null) {
                throw failure.here();
            }
        } finally {
            lock.unlock();
        }
    }

    void end() {
        lock.lock();
        try {
            ended = true;
            asked.signalAll();
            stepped.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
