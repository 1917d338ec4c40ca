// SPDX-License-Identifier: MIT
package dev.firn;

/** Order numbers: integers, encrypted with a key. The same integer gives the same number. Any thread may call it. */
public final class OrderNumbers extends Handle {
    private OrderNumbers(byte[] key, Options<OrderNumbers> options) {
        super(Native.openOrder(key, options.keys(), options.moduleDir()), Native::freeOrder, "the key is closed", "open it again");
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
        return alone(address -> Text.of(Native.writeOrder(this, address, integer)));
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
        return alone(address -> Native.readOrder(this, address, text));
    }
}
