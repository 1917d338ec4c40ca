// SPDX-License-Identifier: MIT
package dev.firn.client;

/** Every error of a client. The subclass says what to do. */
public abstract sealed class ServerException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** The server's name of the error. */
    private final String reason;

    private ServerException(String message, String reason) {
        super(message);
        this.reason = reason;
    }

    /**
     * The server's name of the error.
     *
     * @return such as "USAGE" or "STORE", or an HTTP status; "" if no server replied
     */
    public String reason() {
        return reason;
    }

    /** Servers replied that they cannot issue now, for longer than the maximum wait. Try again later. */
    public static final class Overload extends ServerException {
        private static final long serialVersionUID = 1L;

        Overload(String message, String reason) {
            super(message, reason);
        }
    }

    /** No server replied within the maximum wait. */
    public static final class Unreachable extends ServerException {
        private static final long serialVersionUID = 1L;

        Unreachable(String message) {
            super(message, "");
        }
    }

    /** The request is wrong: an unknown scheme, a count out of range, a wrong token, the end of a segment. Never retried. */
    public static final class Request extends ServerException {
        private static final long serialVersionUID = 1L;

        Request(String message, String reason) {
            super(message, reason);
        }
    }
}
