// SPDX-License-Identifier: MIT
package dev.firn;

import java.lang.ref.Cleaner;
import java.util.concurrent.locks.ReentrantLock;

/** Order numbers: integers, encrypted with a key. The same integer gives the same number. Any thread may call it. */
public final class OrderNumbers implements AutoCloseable {
    private final ReentrantLock lock = new ReentrantLock();
    private final Cleaner.Cleanable cleanable;
    private long address; // 0: closed

    private OrderNumbers(byte[] key, Options<OrderNumbers> options) {
        long opened = Native.openOrder(key, options.keys(), options.moduleDir());
        address = opened;
        cleanable = Generator.CLEANER.register(this, () -> Native.freeOrder(opened));
    }

    /**
     * Order numbers under a key, with the keys digits, key_id, check and tweak.
     *
     * @param key 16 bytes; the library keeps a copy of them until it is closed
     * @return options, on which {@link Options#open} opens it
     * @throws FirnException USAGE: another length
     */
    public static Options<OrderNumbers> of(byte[] key) {
        if (key.length != 16) {
            throw Text.usage("the key has " + key.length + " bytes", "use 16");
        }
        return new Options<>(options -> new OrderNumbers(key, options));
    }

    /**
     * Writes the order number of an integer.
     *
     * @param integer the integer, without a sign
     * @return the number
     * @throws FirnException RANGE: the integer has more digits
     */
    public String write(long integer) {
        lock.lock();
        try {
            return Text.of(Native.writeOrder(this, opened(), integer));
        } finally {
            lock.unlock();
        }
    }

    /**
     * Reads an order number.
     *
     * @param number the number
     * @return the integer
     * @throws FirnException TEXT: not a number of this form, or a wrong check digit; MISMATCH: another key ID
     */
    public long read(String number) {
        byte[] text = Text.utf8("number", number);
        lock.lock();
        try {
            return Native.readOrder(this, opened(), text);
        } finally {
            lock.unlock();
        }
    }

    private long opened() {
        if (address == 0) {
            throw Text.usage("the key is closed", "open it again");
        }
        return address;
    }

    /** Erases the key. The second time it does nothing. */
    @Override
    public void close() {
        lock.lock();
        try {
            address = 0;
            cleanable.clean();
        } finally {
            lock.unlock();
        }
    }
}
