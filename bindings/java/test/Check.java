// SPDX-License-Identifier: MIT
import dev.firn.Code;
import dev.firn.FirnException;

/** Tests by the line, as TAP has it. */
final class Check {
    private static int tests;
    private static int failures;

    private Check() {
    }

    interface Body {
        void run() throws Exception;
    }

    static void test(String sentence, Body body) {
        tests++;
        long start = System.nanoTime();
        try {
            body.run();
            System.out.printf("ok %d - %s (%d ms)%n", tests, sentence, (System.nanoTime() - start) / 1000000);
        } catch (Throwable error) {
            failures++;
            System.out.printf("not ok %d - %s%n", tests, sentence);
            error.printStackTrace(System.out);
        }
    }

    static void finish() {
        System.out.println("1.." + tests);
        System.exit(failures == 0 ? 0 : 1);
    }

    static void that(boolean good) {
        if (!good) {
            throw new AssertionError("this does not hold");
        }
    }

    static void same(Object expected, Object found) {
        if (!expected.equals(found)) {
            throw new AssertionError("expected " + expected + ", found " + found);
        }
    }

    static <T extends Throwable> T throwsA(Class<T> type, Body body) {
        try {
            body.run();
        } catch (Throwable error) {
            if (type.isInstance(error)) {
                return type.cast(error);
            }
            throw new AssertionError("expected " + type + ", found " + error, error);
        }
        throw new AssertionError("expected " + type + ", found none");
    }

    static FirnException fails(Code code, Body body) {
        return fails(code, code, body);
    }

    static FirnException fails(Code code, Code or, Body body) {
        FirnException error = throwsA(FirnException.class, body);
        if (error.code() != code && error.code() != or) {
            throw new AssertionError("expected " + code + ", found " + error.code() + ": " + error.getMessage(), error);
        }
        that(error.getMessage().length() > 10);
        return error;
    }
}
