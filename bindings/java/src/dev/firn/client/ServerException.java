// SPDX-License-Identifier: MIT
package dev.firn.client;

import java.util.function.UnaryOperator;

/** Every error of a client. The subclass says what to do. */
public abstract sealed class ServerException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** The server's name of the error. */
    private final String reason;

    /** The cure, its name in firn.h, the wrong value, and its limit. */
    private final String cure;
    private final String cureName;
    private final String value;
    private final String limit;

    private ServerException(String message, String reason, UnaryOperator<String> part) {
        super(message);
        this.reason = reason;
        this.cure = part.apply("cure");
        this.cureName = part.apply("cure_name");
        this.value = part.apply("value");
        this.limit = part.apply("limit");
    }

    /**
     * The server's name of the error.
     *
     * @return such as "USAGE" or "STORE", or an HTTP status; "" if no server replied
     */
    public String reason() {
        return reason;
    }

    /**
     * The part of the message that says what to do.
     *
     * @return the cure, or "" if the message has none
     */
    public String cure() {
        return cure;
    }

    /**
     * The name of the cure in {@code firn.h}.
     *
     * @return such as "RAISE_SHIFT"; "" if the message has none
     */
    public String cureName() {
        return cureName;
    }

    /**
     * The wrong value.
     *
     * @return the value as in the message, or ""
     */
    public String value() {
        return value;
    }

    /**
     * The limit of the value.
     *
     * @return the limit as in the message, or ""
     */
    public String limit() {
        return limit;
    }

    /** Servers replied that they cannot issue now, for longer than the maximum wait. Try again later. */
    public static final class Overload extends ServerException {
        private static final long serialVersionUID = 1L;

        Overload(String message, String reason, UnaryOperator<String> part) {
            super(message, reason, part);
        }
    }

    /** No server replied within the maximum wait. */
    public static final class Unreachable extends ServerException {
        private static final long serialVersionUID = 1L;

        Unreachable(String message) {
            super(message, "", name -> "");
        }
    }

    /** The request is wrong: an unknown scheme, a count out of range, a wrong token, the end of a segment. Never retried. */
    public static final class Request extends ServerException {
        private static final long serialVersionUID = 1L;

        Request(String message, String reason) {
            this(message, reason, name -> "");
        }

        Request(String message, String reason, UnaryOperator<String> part) {
            super(message, reason, part);
        }
    }
}
