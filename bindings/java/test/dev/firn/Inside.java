// SPDX-License-Identifier: MIT
package dev.firn;

import java.time.Duration;
import java.util.HashSet;
import java.util.Set;

/** Tests of package-private code. */
public final class Inside {
    private Inside() {
    }

    private static void check(boolean good) {
        if (!good) {
            throw new AssertionError("this does not hold");
        }
    }

    /** Where System.nanoTime() is another clock than the page's, each ID is a call. */
    public static void blocksWithoutClock() {
        check(Native.NANO_TIME); // HotSpot on Linux
        try (Generator gen = Generator.of("snowflake").store("memory:").open(); Block block = new Block(gen, Duration.ofSeconds(1), false)) {
            Set<Long> ids = new HashSet<>();
            for (int i = 0; i < 300; i++) {
                check(ids.add(block.nextLong()));
                check(gen.nextLong() > 0);
            }
        }
    }

    /** A call that finds the window used up is tried again after a step of the renewer, and not a fifth time. */
    public static void waitsForRenewer(Generator gen) {
        try (gen) {
            FirnException window = new FirnException(Code.WINDOW, "the window is used up: wait");
            for (int i = 0; i < 3; i++) {
                gen.await(window, 0);
                check(gen.status().held());
            }
            for (Object[] given : new Object[][] {{window, 4}, {new FirnException(Code.CLOCK, "x"), 0}}) {
                try {
                    gen.await((FirnException) given[0], (Integer) given[1]);
                    check(false);
                } catch (FirnException error) {
                    check(error == given[0]);
                }
            }
            gen.close();
            gen.await(window, 0); // does not wait: the call that follows says that the generator is closed
        }
    }

    /** A wait ends at interrupt(), before or during it, and the thread stays interrupted. */
    public static void interrupted() {
        try (Generator gen = Generator.of("snowflake").store("memory:").open()) {
            Renewer stands = new Renewer(gen); // never started, as if its store hung
            Thread self = Thread.currentThread();
            for (boolean before : new boolean[] {true, false}) {
                Thread other = new Thread(() -> {
                    while (!before && self.getState() != Thread.State.WAITING) {
                        Thread.yield();
                    }
                    self.interrupt();
                });
                if (before) {
                    other.run();
                } else {
                    other.start();
                }
                FirnException error = null;
                try {
                    stands.await();
                } catch (FirnException caught) {
                    error = caught;
                }
                check(error != null && error.code() == Code.WINDOW && error.getCause() instanceof InterruptedException);
                check(Thread.interrupted());
            }
        }
    }

    /** The thread that waits gets the error of the renewer's step. */
    public static void failedRenewalIsThrown() {
        FirnException here = new FirnException(Code.STORE, "the store is gone: start it").here();
        check(here.code() == Code.STORE && here.getCause() instanceof FirnException);
    }
}
