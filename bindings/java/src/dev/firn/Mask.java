// SPDX-License-Identifier: MIT
package dev.firn;

import java.nio.file.Path;

/**
 * A mask: another ID for each ID, which shows neither time nor volume, and which only the key turns back. A masked ID
 * authorises nobody. Any thread may call it.
 */
public final class Mask extends Handle {
    private Mask(byte[] keyFile, Options<Mask> options) {
        super(Native.openMask(options.keys(), keyFile, options.moduleDir()), Native::freeMask, "the mask is closed", "open it again");
    }

    /**
     * The mask of a name, with the keys width, version, fingerprint, from, as, mac,
     * prefix and key_number.
     *
     * @param name the name of the mask, which has one key for ever
     * @param keyFile a file of {@code firn mask keygen}, which only its owner can read
     * @return options, on which {@link Options#open} opens it
     */
    public static Options<Mask> of(String name, Path keyFile) {
        byte[] file = Text.utf8("key file", keyFile.toString());
        return new Options<Mask>(options -> new Mask(file, options)).set("name", name);
    }

    /**
     * Masks an ID.
     *
     * @param id the text of the ID
     * @return the masked text
     * @throws FirnException TEXT: not an ID of this form; RANGE: too great or negative; MISMATCH: another version
     */
    public String mask(String id) {
        return turn(Text.utf8("id", id), false);
    }

    /**
     * Turns a masked ID back.
     *
     * @param masked the masked text
     * @return the text of the ID
     * @throws FirnException as {@link #mask}
     */
    public String unmask(String masked) {
        return turn(Text.utf8("masked", masked), true);
    }

    /**
     * The fingerprint: 8 hex digits that another key, name, width or version changes.
     *
     * @return the digits, which are not secret
     */
    public String fingerprint() {
        return alone(address -> Text.of(Native.printMask(this, address)));
    }

    private String turn(byte[] text, boolean back) {
        return alone(address -> Text.of(Native.turnMask(this, address, text, back)));
    }
}
