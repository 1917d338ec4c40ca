// SPDX-License-Identifier: MIT
package dev.firn;

import java.lang.ref.Cleaner;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.AbstractList;
import java.util.List;
import java.util.Objects;
import java.util.RandomAccess;
import java.util.Spliterator;
import java.util.UUID;
import java.util.function.LongConsumer;
import java.util.stream.LongStream;
import java.util.stream.StreamSupport;

/**
 * Issues IDs of one scheme. Any thread may call it, also a virtual one; {@link Block}s belong to one thread each.
 *
 * <p>A generator that reserves its IDs in a store has a daemon thread that renews the window. The methods that issue IDs do
 * not wait for the store, unless it failed for the whole window. Closing it gives the window back.
 */
public final class Generator implements AutoCloseable {
    static final Cleaner CLEANER = Cleaner.create();

    final long address;
    volatile boolean closed;
    private final Scheme scheme;
    private final Renewer renewer; // null: nothing to renew

    private Generator(Options<Generator> options, byte[] schemeText) {
        ByteBuffer struct = Scheme.room();
        long opened = Native.openGenerator(schemeText, options.keys(), options.store(), options.moduleDir(), options.note(),
            options.unsafe(), struct);
        address = opened;
        CLEANER.register(this, () -> Native.freeGenerator(opened));
        scheme = new Scheme(struct, Text.of(Native.prefix(this, opened)));
        renewer = status().reserved() && !options.has("mode", "online") ? new Renewer(this) : null;
    }

    /**
     * A generator of a scheme.
     *
     * @param scheme a name, or a layout such as "time:41/ms@@2024-01-01 node:10 sequence:12"
     * @return options, on which {@link Options#open} opens the generator
     */
    public static Options<Generator> of(String scheme) {
        byte[] text = Text.utf8("scheme", scheme);
        return new Options<>(options -> {
            Generator made = new Generator(options, text);
            if (made.renewer != null) {
                made.renewer.start();
            }
            return made;
        });
    }

    /**
     * The scheme with the generator's keys applied.
     *
     * @return the scheme
     */
    public Scheme scheme() {
        return scheme;
    }

    // ---- IDs -----------------------------------------------------------------------------------------------------

    /**
     * Issues one ID as a number: strict order, fresh time.
     *
     * @return the ID
     * @throws FirnException USAGE: the scheme has more than 64 bits; EXHAUSTED, WINDOW, STORE, CLOCK and others
     */
    public long nextLong() {
        for (int tries = 0;; tries++) {
            try {
                return Native.next(this, address);
            } catch (FirnException error) {
                await(error, tries);
            }
        }
    }

    /**
     * Issues one ID as a UUID: strict order, fresh time.
     *
     * @return the ID
     * @throws FirnException USAGE: the scheme does not have 128 bits; others as {@link #nextLong}
     */
    public UUID nextUuid() {
        if (scheme.bits() != 128) {
            throw Text.usage(scheme + " has " + scheme.bits() + " bits, a UUID has 128", "use next() or nextLong()");
        }
        long[] parts = nextWide();
        return new UUID(parts[0], parts[1]);
    }

    /**
     * Issues one ID: strict order, fresh time.
     *
     * @return the ID
     * @throws FirnException as {@link #nextLong}
     */
    public Id next() {
        return scheme.bits() <= 64 ? new Id(scheme, 0, nextLong(), 0) : new Id(scheme, nextWide(), 0);
    }

    private long[] nextWide() {
        long[] parts = new long[3];
        for (int tries = 0;; tries++) {
            try {
                Native.nextWide(this, address, parts);
                return parts;
            } catch (FirnException error) {
                await(error, tries);
            }
        }
    }

    /**
     * Issues several IDs as numbers, in order.
     *
     * @param count 0 to 16777216
     * @return all of them
     * @throws FirnException RANGE: another count; USAGE: the scheme has more than 64 bits; others as {@link #nextLong}
     */
    public long[] longs(int count) {
        for (int tries = 0;; tries++) {
            try {
                return Native.longs(this, address, count);
            } catch (FirnException error) {
                await(error, tries);
            }
        }
    }

    /**
     * Issues several IDs, in order.
     *
     * @param count 0 to 16777216
     * @return all of them
     * @throws FirnException RANGE: another count; others as {@link #nextLong}
     */
    public List<Id> many(int count) {
        for (int tries = 0;; tries++) {
            try {
                return new Ids(scheme, Native.wides(this, address, count, false, 0, 0));
            } catch (FirnException error) {
                await(error, tries);
            }
        }
    }

    /**
     * Issues an ID of a past time.
     *
     * @param time the time
     * @return the ID
     * @throws FirnException as {@link #at(Instant, int)}
     */
    public Id at(Instant time) {
        return at(time, 1).get(0);
    }

    /**
     * Issues IDs of a past time, from a node that issues no others. May wait for the store.
     *
     * @param time the time
     * @param count 0 to 16777216
     * @return all of them
     * @throws FirnException LAYOUT: the layout does not contain the time; FULL, STORE and others
     */
    public List<Id> at(Instant time, int count) {
        return new Ids(scheme, Native.wides(this, address, count, true, time.getEpochSecond(), time.getNano()));
    }

    // ---- blocks --------------------------------------------------------------------------------------------------

    /**
     * A block whose IDs are at most 1 ms old, for the calling thread.
     *
     * @return a block
     */
    public Block block() {
        return block(Duration.ofMillis(1));
    }

    /**
     * A block of IDs that are issued ahead, for the calling thread.
     *
     * @param maxAge how old an ID may be when you take it: 1 microsecond to 1 s
     * @return a block
     * @throws FirnException RANGE: another age
     */
    public Block block(Duration maxAge) {
        return new Block(this, maxAge, Native.NANO_TIME);
    }

    /**
     * An endless stream of IDs from blocks, each at most 1 ms old. A parallel stream has a block in each of its parts.
     *
     * @return IDs of up to 64 bits, as numbers
     */
    public LongStream stream() {
        return StreamSupport.longStream(new Endless(Long.MAX_VALUE), false);
    }

    /** Opens its block in the thread that traverses it. */
    private final class Endless implements Spliterator.OfLong {
        private long size; // an estimate, which ends the splitting
        private Block block;

        Endless(long size) {
            this.size = size;
        }

        @Override
        public boolean tryAdvance(LongConsumer action) {
            if (block == null || !block.isMine()) {
                block = block();
            }
            action.accept(block.nextLong());
            return true;
        }

        @Override
        public Spliterator.OfLong trySplit() {
            size /= 2;
            return size == 0 ? null : new Endless(size);
        }

        @Override
        public long estimateSize() {
            return size;
        }

        @Override
        public int characteristics() {
            return DISTINCT | NONNULL | IMMUTABLE;
        }
    }

    // ---- renewal, state, end -------------------------------------------------------------------------------------

    /** After a call found the window used up: waits for the renewer, so that the call may be tried again. */
    void await(FirnException error, int tries) {
        if (error.code() != Code.WINDOW || renewer == null || tries == 4) {
            throw error;
        }
        renewer.await();
    }

    /**
     * The state of the generator.
     *
     * @return the state at one moment
     */
    public Status status() {
        return new Status(Native.status(this, address));
    }

    /**
     * Gives the window back to the store, after the calls of other threads have returned. The second time it does nothing.
     *
     * @throws FirnException STORE and others: the window could not be given back; the generator is closed nevertheless
     */
    @Override
    public void close() {
        closed = true;
        if (renewer != null) {
            renewer.end();
        }
        Native.closeGenerator(this, address);
    }

    /** IDs over three longs each. */
    private static final class Ids extends AbstractList<Id> implements RandomAccess {
        private final Scheme scheme;
        private final long[] parts;

        Ids(Scheme scheme, long[] parts) {
            this.scheme = scheme;
            this.parts = parts;
        }

        @Override
        public Id get(int i) {
            Objects.checkIndex(i, size());
            return new Id(scheme, parts, 3 * i);
        }

        @Override
        public int size() {
            return parts.length / 3;
        }
    }
}
