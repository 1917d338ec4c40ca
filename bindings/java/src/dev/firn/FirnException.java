// SPDX-License-Identifier: MIT
package dev.firn;

import java.nio.charset.StandardCharsets;

/** An error of firn. The message is one sentence: what is wrong, with the value and the limit, and what to do. */
public final class FirnException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** The kind of error. */
    private final Code code;

    FirnException(Code code, String message) {
        super(message);
        this.code = code;
    }

    /** For the native library. */
    static FirnException of(int number, byte[] text) {
        return new FirnException(Code.of(number), new String(text, StandardCharsets.UTF_8));
    }

    /** An error of a renewer's thread, in the thread that waited for it. */
    FirnException here() {
        FirnException same = new FirnException(code, getMessage());
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
        int end = getMessage().lastIndexOf(": ");
        return end < 0 ? getMessage() : getMessage().substring(0, end);
    }

    /**
     * The second part of the message: what to do.
     *
     * @return the cure, or an empty string if the message has none
     */
    public String cure() {
        int end = getMessage().lastIndexOf(": ");
        return end < 0 ? "" : getMessage().substring(end + 2);
    }
}
