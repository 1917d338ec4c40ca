// SPDX-License-Identifier: MIT
package dev.firn;

import java.nio.charset.StandardCharsets;

/** An error of firn. The message is one sentence: what is wrong, with the value and the limit, and what to do. */
public final class FirnException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** The kind of error. */
    private final Code code;

    /** The cause, the cure, the cure's name in firn.h, the wrong value, and its limit. */
    private final String reason;
    private final String cure;
    private final String cureName;
    private final String value;
    private final String limit;

    private FirnException(Code code, String message, String reason, String cure, String cureName, String value, String limit) {
        super(message);
        this.code = code;
        this.reason = reason;
        this.cure = cure;
        this.cureName = cureName;
        this.value = value;
        this.limit = limit;
    }

    /** An error without a cure. */
    FirnException(Code code, String message) {
        this(code, message, message, "", "NONE", "", "");
    }

    FirnException(Code code, String reason, String cure) {
        this(code, reason + ": " + cure, reason, cure, "OTHER", "", "");
    }

    private static String part(byte[] text, int at, int length) {
        return new String(text, at, length, StandardCharsets.UTF_8);
    }

    /** For the native library: the places are bytes of the text. */
    static FirnException of(int number, byte[] text, byte[] cureName, int cureAt, int valueAt, int valueLength, int limitAt,
            int limitLength) {
        int end = cureAt == 0 ? text.length : cureAt - 2;
        return new FirnException(Code.of(number), part(text, 0, text.length), part(text, 0, end),
                cureAt == 0 ? "" : part(text, cureAt, text.length - cureAt), part(cureName, 0, cureName.length),
                part(text, valueAt, valueLength), part(text, limitAt, limitLength));
    }

    /** An error of a renewer's thread, in the thread that waited for it. */
    FirnException here() {
        FirnException same = new FirnException(code, getMessage(), reason, cure, cureName, value, limit);
        same.initCause(this);
        return same;
    }

    /**
     * The kind of error, for a {@code switch}.
     *
     * @return the code
     */
    public Code code() {
        return code;
    }

    /**
     * The first part of the message: what is wrong, with the value and the limit.
     *
     * @return the message without the cure
     */
    public String reason() {
        return reason;
    }

    /**
     * The second part of the message: what to do.
     *
     * @return the cure, or an empty string if the message has none
     */
    public String cure() {
        return cure;
    }

    /**
     * The name of the cure in {@code firn.h}, for a {@code switch}.
     *
     * @return such as {@code "RAISE_SHIFT"}, or {@code "NONE"}
     */
    public String cureName() {
        return cureName;
    }

    /**
     * The wrong value.
     *
     * @return the value as in the message, or an empty string if the message has none
     */
    public String value() {
        return value;
    }

    /**
     * The limit of the value.
     *
     * @return the limit as in the message, such as {@code "0 to 1023"}, or an empty string if the message has none
     */
    public String limit() {
        return limit;
    }
}
