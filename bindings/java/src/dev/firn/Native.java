// SPDX-License-Identifier: MIT
package dev.firn;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;

/** The functions of libfirnjni (bindings/java/native), which is found and loaded here. */
final class Native {
    static final String VERSION = "0.1.0";

    /** Whether {@link System#nanoTime} is the clock in which a page says until when it is fresh. */
    static final boolean NANO_TIME;

    static {
        load();
        String[] versions = new String(versions(), StandardCharsets.UTF_8).split(" ");
        if (!versions[0].equals(VERSION) || !versions[1].equals(VERSION)) {
            throw new UnsatisfiedLinkError("libfirn is version " + versions[1] + ", libfirnjni is for " + versions[0]
                + ", this package is for " + VERSION + ": install them from one release");
        }
        NANO_TIME = isNanoTime();
    }

    private Native() {
    }

    // ---- loading -------------------------------------------------------------------------------------------------

    private static void load() {
        String given = System.getProperty("firn.library");
        if (given != null) {
            System.load(Path.of(given).toAbsolutePath().toString());
            return;
        }
        List<String> tried = new ArrayList<>();
        try {
            System.loadLibrary("firnjni");
            return;
        } catch (UnsatisfiedLinkError error) { // not there, or loaded by another class loader
            tried.add("java.library.path: " + error.getMessage());
        }
        String name = "/META-INF/native/linux-" + System.getProperty("os.arch") + "/libfirnjni.so";
        try (InputStream in = Native.class.getResourceAsStream(name)) {
            if (in != null) {
                loadCopy(in);
                return;
            }
            tried.add("the jar has no " + name);
        } catch (IOException | UnsatisfiedLinkError error) {
            tried.add("the jar: " + error); // an IOException says little without its name
        }
        throw new UnsatisfiedLinkError("libfirnjni.so cannot be loaded: install libfirn, or name the file with"
            + " -Dfirn.library=PATH (" + String.join("; ", tried) + ")");
    }

    /** A separate copy for each class loader: the JVM does not load one file into two of them. */
    private static void loadCopy(InputStream in) throws IOException {
        Path copy = Files.createTempFile("libfirnjni", ".so"); // mode 600
        try {
            Files.copy(in, copy, StandardCopyOption.REPLACE_EXISTING);
            System.load(copy.toAbsolutePath().toString());
        } finally {
            Files.delete(copy);
        }
    }

    private static boolean isNanoTime() {
        long before = System.nanoTime();
        long now = monotonicNs();
        return before <= now && now <= System.nanoTime();
    }

    static native byte[] versions();

    static native long monotonicNs();

    static native void renewIdentity();

    // ---- generators, blocks: `keep` is the object that owns the address ---------------------------------------------

    static native long openGenerator(byte[] scheme, byte[] keys, byte[] store, byte[] moduleDir, byte[] note, boolean unsafe,
        ByteBuffer schemeOut);

    static native long next(Object keep, long generator);

    static native void nextWide(Object keep, long generator, long[] out);

    static native long[] longs(Object keep, long generator, int count);

    static native long[] wides(Object keep, long generator, int count, boolean dated, long sec, int ns);

    static native long step(Object keep, long generator);

    static native long[] status(Object keep, long generator);

    static native void closeGenerator(Object keep, long generator);

    static native void freeGenerator(long generator);

    static native long openBlock(Object keep, long generator, long ageUs);

    static native ByteBuffer page(long block, int stride);

    static native void fill(Object keep, long generator, long block);

    static native void closeBlock(long block);

    static native long openJob(byte[] scheme, byte[] keys, byte[] name, long digest, byte[] seed, long shiftMs, long disorderMs,
        boolean stored, byte[] store, byte[] moduleDir, boolean unsafe, ByteBuffer schemeOut);

    static native void jobNext(Object keep, long job, long sec, int ns, long[] out);

    static native boolean jobAgain(Object keep, long job);

    static native void freeJob(long job);

    // ---- segments, series, order numbers, masks ----------------------------------------------------------------------------

    static native long openSegment(byte[] key, byte[] keys, byte[] store, byte[] moduleDir, boolean unsafe);

    static native long segmentNext(Object keep, long segment, long unused);

    static native long segmentBlock(Object keep, long segment, long count);

    static native long segmentPeek(Object keep, long segment, long unused);

    static native long segmentAdvance(Object keep, long segment, long from);

    static native long segmentIncrement(Object keep, long segment, long unused);

    static native void closeSegment(Object keep, long segment);

    static native void freeSegment(long segment);

    static native long openSeries(byte[] name, byte[] keys, byte[] store, byte[] moduleDir, boolean unsafe);

    static native byte[] seriesNumbers(Object keep, long series, int count, boolean dated, long sec, int ns);

    static native long readSeries(Object keep, long series, byte[] number);

    static native byte[] defineSeries(Object keep, long series);

    static native void freeSeries(long series);

    static native long openOrder(byte[] key, byte[] keys, byte[] moduleDir);

    static native byte[] writeOrder(Object keep, long order, long integer);

    static native long readOrder(Object keep, long order, byte[] number);

    static native void freeOrder(long order);

    static native long openMask(byte[] keys, byte[] keyFile, byte[] moduleDir);

    static native byte[] turnMask(Object keep, long mask, byte[] text, boolean back);

    static native byte[] printMask(Object keep, long mask);

    static native void freeMask(long mask);

    // ---- pure functions ---------------------------------------------------------------------------------------------

    static native int schemeSize();

    static native void makeScheme(ByteBuffer out, byte[] text, byte[] epoch, byte[] bits, byte[] digits);

    static native long[] schemeNumbers(ByteBuffer scheme);

    static native byte[] schemeName(ByteBuffer scheme);

    static native byte[] schemeLayout(ByteBuffer scheme);

    static native byte[] nameAt(int i, boolean form);

    static native void pack(ByteBuffer scheme, byte[] pairs, long[] out);

    static native byte[] unpack(ByteBuffer scheme, long high, long low, long top, long[] time);

    static native void checkPrefix(byte[] prefix);

    static native byte[] prefix(Object keep, long address);

    static native byte[] timeText(ByteBuffer scheme, long sec, int ns);

    static native void parse(ByteBuffer scheme, byte[] form, byte[] text, long[] out);

    static native byte[] format(ByteBuffer scheme, byte[] form, long high, long low, long top);

    static native void fromBytes(ByteBuffer scheme, byte[] bytes, long[] out);

    static native byte[] toBytes(int bits, long high, long low, long top);

    static native void range(ByteBuffer scheme, byte[] pairs, long fromSec, int fromNs, long toSec, int toNs, long[] out);

    static native void convert(ByteBuffer from, ByteBuffer to, long high, long low, long top, long[] out);

    static native void digest(ByteBuffer scheme, byte[] namespace, byte[] name, long[] out);

    static native long[] guess(byte[] text);
}
