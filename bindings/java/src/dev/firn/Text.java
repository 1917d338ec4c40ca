// SPDX-License-Identifier: MIT
package dev.firn;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;

/** Text as the C library reads it: UTF-8 that ends with a zero. */
final class Text {
    private Text() {
    }

    static FirnException usage(String reason, String cure) {
        return new FirnException(Code.USAGE, reason, cure);
    }

    static FirnException range(String reason, String cure) {
        return new FirnException(Code.RANGE, reason, cure);
    }

    /** Refuses what would change or be cut off on the way. */
    static byte[] utf8(String name, String value) {
        Objects.requireNonNull(value, name);
        if (value.indexOf('\0') >= 0) {
            throw usage(name + " has a zero character", "remove it");
        }
        return encoded(name, value);
    }

    private static byte[] encoded(String name, String value) {
        try {
            ByteBuffer bytes = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(value));
            byte[] out = new byte[bytes.remaining() + 1];
            bytes.get(out, 0, out.length - 1);
            return out;
        } catch (CharacterCodingException error) {
            throw usage(name + " has half of a surrogate pair", "remove it");
        }
    }

    static byte[] optional(String name, String value) {
        return value == null ? null : utf8(name, value);
    }

    static String of(byte[] utf8) {
        return new String(utf8, StandardCharsets.UTF_8);
    }

    /** The value of a key or field: text, a whole number, a boolean or an Instant. */
    static String word(String name, Object value) {
        Objects.requireNonNull(value, name);
        if (value instanceof Instant) {
            Instant time = (Instant) value;
            return of(Native.timeText(null, time.getEpochSecond(), time.getNano()));
        }
        if (value instanceof Boolean) {
            return (Boolean) value ? "1" : "0";
        }
        if (!(value instanceof String || value instanceof Long || value instanceof Integer || value instanceof Short
            || value instanceof Byte || value instanceof BigInteger)) {
            throw usage(name + " is a " + value.getClass().getSimpleName(), "use a String, a whole number, a Boolean or an Instant");
        }
        return value.toString();
    }

    static String withoutBlanks(String name, String value) {
        if (value.chars().anyMatch(Character::isWhitespace)) {
            throw usage(name + " has a blank", "remove it");
        }
        return value;
    }

    /** Name, zero, value, zero, name, ... */
    static byte[] pairs(Map<String, ?> fields) {
        StringBuilder out = new StringBuilder();
        fields.forEach((name, value) -> {
            String word = word(name, value);
            utf8("a name of a field", name);
            utf8(name, word);
            out.append(name).append('\0').append(word).append('\0');
        });
        return encoded("a field", out.toString());
    }
}
