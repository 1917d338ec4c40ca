// SPDX-License-Identifier: MIT
package dev.firn;

import java.time.Instant;
import java.util.List;

/**
 * Dated numbers for people, such as INV2026/0000042, reserved in a store. Any thread may call it. Its methods may wait for
 * the store, in native code: a virtual thread keeps its carrier until the call returns.
 */
public final class Series extends Handle {
    private static final int NUMBERS_MAX = 1_000_000;

    private Series(byte[] name, Options<Series> options) {
        super(Native.openSeries(name, options.keys(), options.store(), options.moduleDir(), options.unsafe()), Native::freeSeries,
            "the series is closed", "open another one");
    }

    /**
     * The series of a name, with the keys template, zone, restart, late, grow and block. Without a template, the definition
     * that the store has applies.
     *
     * @param name its name: 1 to 63 bytes of UTF-8
     * @return options, on which {@link Options#open} opens the series
     */
    public static Options<Series> of(String name) {
        byte[] text = Text.utf8("name", name);
        return new Options<>(options -> new Series(text, options));
    }

    /**
     * Issues the next number.
     *
     * @return the number
     * @throws FirnException END: the period is full; NAMESPACE: the series has another definition; CLOCK; BACK; STORE
     */
    public String next() {
        return many(1, null).get(0);
    }

    /**
     * Issues numbers of one period.
     *
     * @param count 1 to 1000000
     * @param time a time of the period, or null for now
     * @return all of them
     * @throws FirnException RANGE: another count, or a period to come; others as {@link #next}
     */
    public List<String> many(int count, Instant time) {
        if (count < 1 || count > NUMBERS_MAX) {
            throw Text.range("one call issues 1 to " + NUMBERS_MAX + " numbers", "ask for such a count");
        }
        return numbers(count, time);
    }

    /**
     * The number that the store would grant next. Reserves nothing.
     *
     * @param time a time of the period, or null for now
     * @return the number
     */
    public String peek(Instant time) {
        return numbers(0, time).get(0);
    }

    private List<String> numbers(int count, Instant time) {
        byte[] lines = alone(address -> Native.seriesNumbers(this, address, count, time != null,
            time != null ? time.getEpochSecond() : 0, time != null ? time.getNano() : 0));
        return List.of(Text.of(lines).split("\n"));
    }

    /**
     * Reads a number.
     *
     * @param number the number
     * @return its counter
     * @throws FirnException TEXT: another form, a wrong date or check digit
     */
    public long read(String number) {
        byte[] text = Text.utf8("number", number);
        return alone(address -> Native.readSeries(this, address, text));
    }

    /**
     * The definition, as the store keeps it.
     *
     * @return its keys
     */
    public String definition() {
        return alone(address -> Text.of(Native.defineSeries(this, address)));
    }
}
