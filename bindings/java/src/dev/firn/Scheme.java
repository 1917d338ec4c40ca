// SPDX-License-Identifier: MIT
package dev.firn;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;

/** A scheme: a named kind of ID, such as snowflake or uuid7, or a custom layout. Its methods are pure; any thread. */
public final class Scheme {
    private static final Set<String> OPTIONS = Set.of("epoch", "bits", "digits", "prefix");

    /** A firn_scheme: the garbage collector owns the memory. */
    final ByteBuffer struct;
    private final String name;
    private final int bits;
    private final String form;
    private final Sorts sorts;
    private final String prefix;

    Scheme(ByteBuffer struct) {
        this(struct, "");
    }

    Scheme(ByteBuffer struct, String prefix) {
        long[] numbers = Native.schemeNumbers(struct);
        this.struct = struct;
        this.prefix = prefix;
        this.name = Text.of(Native.schemeName(struct));
        this.bits = (int) numbers[0];
        this.form = Text.of(Native.nameAt((int) numbers[1], true));
        this.sorts = Sorts.values()[(int) numbers[2]];
    }

    static ByteBuffer room() {
        return ByteBuffer.allocateDirect(Native.schemeSize());
    }

    /**
     * A scheme by name or layout.
     *
     * @param text a name, or a layout such as "time:41/ms@@2024-01-01 node:10 sequence:12"
     * @return the scheme
     * @throws FirnException USAGE: an unknown name, or a malformed layout
     */
    public static Scheme of(String text) {
        return of(text, Map.of());
    }

    /**
     * A scheme with another epoch, other widths or another number of digits.
     *
     * @param text a name, or a layout
     * @param options "epoch" (a time), "bits" (such as "41/11/11"), "digits", and "prefix" of typeid
     * @return the scheme
     * @throws FirnException USAGE or RANGE
     */
    public static Scheme of(String text, Map<String, ?> options) {
        for (String key : options.keySet()) {
            if (!OPTIONS.contains(key)) {
                throw Text.usage("a scheme has no option " + key, "use epoch, bits, digits or prefix");
            }
        }
        String prefix = options.containsKey("prefix") ? Text.word("prefix", options.get("prefix")) : "";
        ByteBuffer struct = room();
        Native.makeScheme(struct, Text.utf8("scheme", text), option(options, "epoch"), option(options, "bits"),
            option(options, "digits"));
        Scheme plain = new Scheme(struct);
        return options.containsKey("prefix") ? plain.withPrefix(prefix) : plain;
    }

    private Scheme withPrefix(String other) {
        if (!form.equals("typeid")) {
            throw Text.usage("prefix=" + other + " applies to the form typeid, not " + form, "leave it out, or use that form");
        }
        Native.checkPrefix(Text.utf8("prefix", other));
        return new Scheme(struct, other);
    }

    /** This scheme, with the prefix of a TypeID. */
    Scheme withPrefixOf(String text) {
        String found = text.substring(0, Math.max(text.lastIndexOf('_'), 0));
        return found.equals(prefix) ? this : new Scheme(struct, found);
    }

    private static byte[] option(Map<String, ?> options, String key) {
        return options.containsKey(key) ? Text.utf8(key, Text.word(key, options.get(key))) : null;
    }

    /**
     * The name, or the name that was given in the layout.
     *
     * @return such as "snowflake"
     */
    public String name() {
        return name;
    }

    /**
     * The prefix that the texts of its IDs have before "_".
     *
     * @return the prefix of a typeid; "" for others
     */
    public String prefix() {
        return prefix;
    }

    /** A text of the library, which has no prefix, with the prefix. */
    String prefixed(String text, String as) {
        return prefix.isEmpty() || !as.equals("typeid") ? text : prefix + "_" + text;
    }

    /**
     * The layout: the fields from the most significant bit on.
     *
     * @return text that {@link #of(String)} reads
     */
    public String layout() {
        return Text.of(Native.schemeLayout(struct));
    }

    /**
     * The width of an ID.
     *
     * @return 1 to 160
     */
    public int bits() {
        return bits;
    }

    /**
     * The text form that the scheme uses.
     *
     * @return one of {@link Firn#forms}
     */
    public String form() {
        return form;
    }

    /**
     * Whether IDs sort in the order of issue.
     *
     * @return how they sort
     */
    public Sorts sorts() {
        return sorts;
    }

    /**
     * Reads a text in the scheme's own form. The scheme of a TypeID has the prefix of the text.
     *
     * @param text the text of an ID
     * @return the ID
     * @throws FirnException TEXT or MISMATCH: the text is not an ID of this scheme, or has another prefix
     */
    public Id parse(String text) {
        return parse(text, null);
    }

    /**
     * Reads a text.
     *
     * @param text the text of an ID
     * @param form one of {@link Firn#forms}; null: the scheme's own
     * @return the ID
     * @throws FirnException TEXT or MISMATCH: the text is not an ID of this scheme
     */
    public Id parse(String text, String form) {
        long[] out = new long[3];
        Native.parse(struct, Text.optional("form", form), Text.utf8("text", text), out);
        if (!(form == null ? this.form : form).equals("typeid")) {
            return new Id(this, out, 0);
        }
        Scheme found = withPrefixOf(text);
        if (!prefix.isEmpty() && !prefix.equals(found.prefix)) {
            throw new FirnException(Code.MISMATCH, "the prefix is '" + found.prefix + "', not '" + prefix + "'", "use the scheme of that prefix");
        }
        return new Id(found, out, 0);
    }

    /**
     * The ID with this number, as databases store it: the bits of a long, without regard to the sign.
     *
     * @param number the number
     * @return the ID
     * @throws FirnException RANGE, USAGE or MISMATCH: it is not an ID of this scheme
     */
    public Id id(long number) {
        if (bits > 64) {
            throw Text.usage(name + " has " + bits + " bits, a long has 64", "use a UUID, bytes or text");
        }
        if (bits < 64 && number >>> bits != 0) {
            throw new FirnException(Code.RANGE, Long.toUnsignedString(number) + " does not fit in " + name + ", which has " + bits + " bits");
        }
        int size = (bits + 7) / 8;
        byte[] bytes = new byte[size];
        for (int i = 0; i < size; i++) {
            bytes[i] = (byte) (number >>> 8 * (size - 1 - i));
        }
        return id(bytes);
    }

    /**
     * The ID with the bits of a UUID.
     *
     * @param uuid the UUID
     * @return the ID
     * @throws FirnException RANGE or MISMATCH: it is not an ID of this scheme
     */
    public Id id(UUID uuid) {
        ByteBuffer bytes = ByteBuffer.allocate(16).putLong(uuid.getMostSignificantBits()).putLong(uuid.getLeastSignificantBits());
        return id(bytes.array());
    }

    /**
     * The ID with these bytes.
     *
     * @param bytes most significant first
     * @return the ID
     * @throws FirnException RANGE or MISMATCH: it is not an ID of this scheme
     */
    public Id id(byte[] bytes) {
        int size = (bits + 7) / 8;
        if (bytes.length != size) {
            throw new FirnException(Code.RANGE, bytes.length + " bytes, but an ID of " + name + " has " + size);
        }
        long[] out = new long[3];
        Native.fromBytes(struct, bytes, out);
        return new Id(this, out, 0);
    }

    /**
     * Packs fields into an ID.
     *
     * @param fields all fields; a value is text, a whole number, or an {@link Instant} for "time"
     * @return the ID
     * @throws FirnException USAGE: a field is missing or unknown; RANGE, LAYOUT: a value is too great
     */
    public Id pack(Map<String, ?> fields) {
        long[] out = new long[3];
        Native.pack(struct, Text.pairs(fields), out);
        return new Id(this, out, 0);
    }

    /**
     * The least and the greatest ID of {@code from <= time < to}, for a query by primary key.
     *
     * @param from the first time
     * @param to the time after the last
     * @return the range
     * @throws FirnException UNSORTED: IDs of this scheme do not sort by time; LAYOUT, USAGE
     */
    public Range range(Instant from, Instant to) {
        return range(from, to, Map.of());
    }

    /**
     * The same, of a scheme with fields before the time.
     *
     * @param from the first time
     * @param to the time after the last
     * @param pinned the fields before the time
     * @return the range
     * @throws FirnException UNSORTED: IDs of this scheme do not sort by time; LAYOUT, USAGE
     */
    public Range range(Instant from, Instant to, Map<String, ?> pinned) {
        long[] out = new long[6];
        Native.range(struct, Text.pairs(pinned), from.getEpochSecond(), from.getNano(), to.getEpochSecond(), to.getNano(), out);
        return new Range(new Id(this, out, 0), new Id(this, out, 3));
    }

    /**
     * The uuid3 or uuid5 of a name.
     *
     * @param namespace "dns", "url", "oid", "x500" or a UUID
     * @param name the name, hashed as UTF-8
     * @return the ID
     * @throws FirnException USAGE: this scheme has no digest, or an unknown namespace
     */
    public Id digest(String namespace, String name) {
        return digest(namespace, name.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * The uuid3 or uuid5 of any bytes.
     *
     * @param namespace "dns", "url", "oid", "x500" or a UUID
     * @param name the bytes
     * @return the ID
     * @throws FirnException USAGE: this scheme has no digest, or an unknown namespace
     */
    public Id digest(String namespace, byte[] name) {
        long[] out = new long[3];
        Native.digest(struct, Text.utf8("namespace", namespace), Objects.requireNonNull(name, "name"), out);
        return new Id(this, out, 0);
    }

    @Override
    public String toString() {
        return name;
    }

    /**
     * The IDs of a span of time, both included.
     *
     * @param least the smallest ID
     * @param greatest the greatest ID
     */
    public record Range(Id least, Id greatest) {
    }
}
