// SPDX-License-Identifier: MIT
package dev.firn;

import java.time.DateTimeException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** An ID of up to 160 bits, with its scheme. A value: IDs with the same width, bits and prefix are equal. */
public final class Id implements Comparable<Id> {
    private final Scheme scheme;
    private final long high;
    private final long low;
    private final int top;

    Id(Scheme scheme, long[] parts, int at) {
        this(scheme, parts[at], parts[at + 1], (int) parts[at + 2]);
    }

    Id(Scheme scheme, long high, long low, int top) {
        this.scheme = scheme;
        this.high = high;
        this.low = low;
        this.top = top;
    }

    private long topBits() {
        return Integer.toUnsignedLong(top);
    }

    /**
     * The scheme.
     *
     * @return the scheme that the ID was issued by or read with
     */
    public Scheme scheme() {
        return scheme;
    }

    /**
     * The ID as a number, for a bigint column.
     *
     * @return the bits; negative if a scheme of 64 bits has set the highest one
     * @throws FirnException USAGE: the ID has more than 64 bits
     */
    public long toLong() {
        if (scheme.bits() > 64) {
            throw Text.usage(scheme + " has " + scheme.bits() + " bits, a long has 64", "use toUuid(), toBytes() or toString()");
        }
        return low;
    }

    /**
     * The ID as a UUID, for a uuid column.
     *
     * @return the bits; only of a UUID scheme are version and variant set
     * @throws FirnException USAGE: the ID does not have 128 bits
     */
    public UUID toUuid() {
        if (scheme.bits() != 128) {
            throw Text.usage(scheme + " has " + scheme.bits() + " bits, a UUID has 128", "use toLong(), toBytes() or toString()");
        }
        return new UUID(high, low);
    }

    /**
     * The ID as bytes, for a binary column.
     *
     * @return a new array, most significant byte first
     */
    public byte[] toBytes() {
        return Native.toBytes(scheme.bits(), high, low, topBits());
    }

    /** The text in the scheme's own form, with the prefix of a TypeID. */
    @Override
    public String toString() {
        return scheme.prefixed(Text.of(Native.format(scheme.struct, null, high, low, topBits())), scheme.form());
    }

    /**
     * The text in another form.
     *
     * @param form one of {@link Firn#forms}, such as "hex" or "base58"
     * @return the text
     * @throws FirnException USAGE: the form is unknown, or does not write IDs of this width
     */
    public String format(String form) {
        return scheme.prefixed(Text.of(Native.format(scheme.struct, Text.utf8("form", form), high, low, topBits())), form);
    }

    /**
     * Returns the contents of the ID.
     *
     * @return fields and time
     * @throws FirnException MISMATCH: an ID that was packed elsewhere does not belong to the scheme
     */
    public Shown show() {
        long[] time = new long[3];
        String[] words = Text.of(Native.unpack(scheme.struct, high, low, topBits(), time)).split("\0");
        Map<String, String> fields = new LinkedHashMap<>();
        for (int i = 0; i + 1 < words.length; i += 2) {
            fields.put(words[i], words[i + 1]);
        }
        if (time[2] == 0) {
            return new Shown(this, fields, Optional.empty(), "");
        }
        return new Shown(this, fields, instant(time), Text.of(Native.timeText(scheme.struct, time[0], (int) time[1])));
    }

    private static Optional<Instant> instant(long[] time) {
        try {
            return Optional.of(Instant.ofEpochSecond(time[0], time[1]));
        } catch (DateTimeException error) { // years above 10^9
            return Optional.empty();
        }
    }

    /**
     * The same fields in another scheme: uuid1, uuid6, uuid1-swapped.
     *
     * @param to the other scheme
     * @return the ID there
     * @throws FirnException USAGE: the schemes have other fields
     */
    public Id convert(Scheme to) {
        long[] out = new long[3];
        Native.convert(scheme.struct, to.struct, high, low, topBits(), out);
        return new Id(to, out, 0);
    }

    /** Compares as unsigned integers: the order in which a database sorts the bytes. */
    @Override
    public int compareTo(Id other) {
        int order = Integer.compareUnsigned(top, other.top);
        order = order != 0 ? order : Long.compareUnsigned(high, other.high);
        order = order != 0 ? order : Long.compareUnsigned(low, other.low);
        order = order != 0 ? order : Integer.compare(scheme.bits(), other.scheme.bits());
        return order != 0 ? order : scheme.prefix().compareTo(other.scheme.prefix());
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Id && compareTo((Id) other) == 0;
    }

    @Override
    public int hashCode() {
        return Long.hashCode(low ^ high) + 31 * top;
    }

    /**
     * The contents of an ID.
     *
     * @param id the ID
     * @param fields the fields, from the most significant on: decimal, 0x hex if random, or the hex of an address
     * @param time when it was issued, to the tick; empty for a scheme without time, and for years above 10^9
     * @param timeText the same as RFC 3339 for every year; "" for a scheme without time
     */
    public record Shown(Id id, Map<String, String> fields, Optional<Instant> time, String timeText) {
    }
}
