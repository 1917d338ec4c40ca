// SPDX-License-Identifier: MIT
package dev.firn;

/**
 * Integers that are unique under a key, reserved in a store. Any thread may call it. Its methods may wait for the store, in
 * native code: a virtual thread keeps its carrier until the call returns.
 */
public final class Segment implements AutoCloseable {
    private final long address;

    private Segment(byte[] key, Options<Segment> options) {
        long opened = Native.openSegment(key, options.keys(), options.store(), options.moduleDir(), options.unsafe());
        address = opened;
        Generator.CLEANER.register(this, () -> Native.freeSegment(opened));
    }

    /**
     * A segment under a key, with the keys kind, step, increment, offset, start, end and adapt.
     *
     * @param key its name: 1 to 63 bytes of UTF-8
     * @return options, on which {@link Options#open} opens the segment
     */
    public static Options<Segment> of(String key) {
        byte[] text = Text.utf8("key", key);
        return new Options<>(options -> new Segment(text, options));
    }

    /**
     * Takes the next integer.
     *
     * @return the integer
     * @throws FirnException END: after "end"; STORE; BACK: call {@link #advance}
     */
    public long next() {
        return Native.segmentNext(this, address, 0);
    }

    /**
     * Reserves a block of integers.
     *
     * @param count how many
     * @return the first; the others follow in steps of {@link #increment}
     * @throws FirnException RANGE; others as {@link #next}
     */
    public long block(long count) {
        return Native.segmentBlock(this, address, count);
    }

    /**
     * The next integer that the store would grant. Reserves nothing.
     *
     * @return the integer
     */
    public long peek() {
        return Native.segmentPeek(this, address, 0);
    }

    /**
     * Makes the store grant nothing below an integer.
     *
     * @param from the integer
     * @return the first integer left
     */
    public long advance(long from) {
        return Native.segmentAdvance(this, address, from);
    }

    /**
     * The difference between two integers: 1, or the increment of a ticket.
     *
     * @return the difference
     */
    public long increment() {
        return Native.segmentIncrement(this, address, 0);
    }

    /** Gives back what is left, where possible. The second time it does nothing. */
    @Override
    public void close() {
        Native.closeSegment(this, address);
    }
}
