// SPDX-License-Identifier: MIT
package dev.firn;

import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.PrimitiveIterator;
import java.util.UUID;

/**
 * IDs that are issued ahead: one native call fills a page of up to 256, from which this object takes them. What is older than
 * the block's age is dropped, so an idle program never takes a stale time.
 *
 * <p>A block belongs to the thread that opened it; another one gets a {@link FirnException}, not an ID twice. A block that
 * was not closed is freed when it is collected. To open one costs as much as some
 * hundred IDs, so a thread that takes a few does better with {@link Generator#nextLong}.
 */
public final class Block implements PrimitiveIterator.OfLong, AutoCloseable {
    // The page: firn_page in firn.h, checked in generator.c.
    private static final int NEXT = 0;
    private static final int COUNT = 4;
    private static final int UNTIL_NS = 8;
    private static final int IDS = 24;
    private static final ByteBuffer CLOSED = ByteBuffer.allocate(IDS);

    private final Generator generator;
    private final Thread thread = Thread.currentThread();
    private final Scheme scheme;
    private final boolean hasClock;
    private final int stride;
    private final long address;
    private final Cleaner.Cleanable cleanable;
    private ByteBuffer page;

    Block(Generator generator, Duration maxAge, boolean hasClock) {
        this.generator = generator;
        this.scheme = generator.scheme();
        this.hasClock = hasClock;
        this.stride = scheme.bits() <= 64 ? 8 : (scheme.bits() + 7) / 8;
        long opened = Native.openBlock(generator, generator.address, microseconds(maxAge));
        address = opened;
        cleanable = Generator.CLEANER.register(this, () -> Native.closeBlock(opened));
        page = Native.page(opened, stride).order(ByteOrder.nativeOrder());
    }

    private static long microseconds(Duration age) {
        if (age.compareTo(Duration.ofNanos(1000)) < 0 || age.compareTo(Duration.ofSeconds(1)) > 0) {
            throw Text.range("the maximum age is " + age, "use 1 microsecond to 1 s");
        }
        return age.toNanos() / 1000;
    }

    boolean isMine() {
        return Thread.currentThread() == thread;
    }

    /**
     * Where the next ID is in the page. Each caller ends with a fence: without one, a block may be collected, and its page
     * unmapped, as soon as its fields were read for the last time.
     */
    private int take() {
        if (Thread.currentThread() != thread) {
            throw Text.usage("this block belongs to the thread " + thread.getName(), "open one in each thread");
        }
        int next = page.getInt(NEXT);
        if (next >= page.getInt(COUNT) || generator.closed || !hasClock || System.nanoTime() - page.getLong(UNTIL_NS) >= 0) {
            fill();
            next = 0;
        }
        page.putInt(NEXT, next + 1);
        return IDS + next * stride;
    }

    private void fill() {
        if (page == CLOSED) {
            throw Text.usage("the block is closed", "open another one");
        }
        for (int tries = 0;; tries++) {
            try {
                Native.fill(generator, generator.address, address);
                return;
            } catch (FirnException error) {
                generator.await(error, tries);
            }
        }
    }

    /**
     * Takes an ID as a number.
     *
     * @return the ID
     * @throws FirnException USAGE: the scheme has more than 64 bits, or the block is another thread's or closed; others as
     *     {@link Generator#nextLong}
     */
    @Override
    public long nextLong() {
        if (stride != 8) {
            throw Text.usage(scheme + " has " + scheme.bits() + " bits, a long has 64", "use nextId() or nextUuid()");
        }
        long id = page.getLong(take());
        Reference.reachabilityFence(this);
        return id;
    }

    /**
     * Takes an ID as a UUID.
     *
     * @return the ID
     * @throws FirnException USAGE: the scheme does not have 128 bits; others as {@link #nextLong}
     */
    public UUID nextUuid() {
        if (stride != 16 || scheme.bits() != 128) {
            throw Text.usage(scheme + " has " + scheme.bits() + " bits, a UUID has 128", "use nextId() or nextLong()");
        }
        int at = take();
        UUID id = new UUID(big(at), big(at + 8));
        Reference.reachabilityFence(this);
        return id;
    }

    /**
     * Takes an ID of any scheme.
     *
     * @return the ID
     * @throws FirnException as {@link #nextLong}
     */
    public Id nextId() {
        if (stride == 8) {
            return new Id(scheme, 0, nextLong(), 0);
        }
        int at = take();
        byte[] bytes = new byte[24]; // right-aligned
        page.get(at, bytes, 24 - stride, stride);
        Reference.reachabilityFence(this);
        ByteBuffer parts = ByteBuffer.wrap(bytes);
        return new Id(scheme, parts.getLong(8), parts.getLong(16), (int) parts.getLong(0));
    }

    private long big(int at) {
        long number = page.getLong(at);
        return page.order() == ByteOrder.BIG_ENDIAN ? number : Long.reverseBytes(number);
    }

    /** Always true. */
    @Override
    public boolean hasNext() {
        return true;
    }

    /** Frees the memory and drops unused IDs. The second time it does nothing. */
    @Override
    public void close() {
        if (!isMine()) {
            throw Text.usage("this block belongs to the thread " + thread.getName(), "close it there");
        }
        page = CLOSED;
        cleanable.clean();
    }
}
