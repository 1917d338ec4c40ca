// SPDX-License-Identifier: MIT
package dev.firn;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The library's pure functions: schemes, text forms, and the readings of a text. */
public final class Firn {
    private Firn() {
    }

    /**
     * The version of the library.
     *
     * @return such as "0.1.0"
     */
    public static String version() {
        return Text.of(Native.versions()).split(" ")[1];
    }

    /**
     * Gives all generators and segments of the process other nodes, random bytes and integers: for the restore hook of a
     * host that starts processes from a snapshot, such as {@code afterRestore} of CRaC and of Lambda SnapStart.
     */
    public static void renewIdentity() {
        Native.renewIdentity();
    }

    /**
     * The names of all schemes.
     *
     * @return a new list
     */
    public static List<String> schemes() {
        return names(false);
    }

    /**
     * The names of all text forms.
     *
     * @return a new list
     */
    public static List<String> forms() {
        return names(true);
    }

    private static List<String> names(boolean forms) {
        List<String> out = new ArrayList<>();
        for (byte[] name; (name = Native.nameAt(out.size(), forms)) != null;) {
            out.add(Text.of(name));
        }
        return out;
    }

    /**
     * Finds the schemes that a text is plausibly an ID of.
     *
     * @param text the text of an ID
     * @return the readings, best first; empty if none is plausible
     */
    public static List<Reading> guess(String text) {
        long[] found = Native.guess(Text.utf8("text", text));
        List<Reading> out = new ArrayList<>();
        for (int i = 0; i < found.length; i += 6) {
            String name = Text.of(Native.nameAt((int) found[i], false));
            String form = Text.of(Native.nameAt((int) found[i + 1], true));
            // A text of time-random shows how many digits follow its time.
            boolean dated = name.equals("time-random") && form.equals("dated");
            Scheme scheme = dated ? Scheme.of(name, Map.of("digits", text.length() - 17)) : Scheme.of(name);
            Scheme prefixed = form.equals("typeid") ? scheme.withPrefixOf(text) : scheme;
            out.add(new Reading(form, new Id(prefixed, found, i + 2), found[i + 5] > 0));
        }
        return out;
    }

    /**
     * One reading of a text.
     *
     * @param form the text form
     * @param id the ID, whose {@link Id#scheme} is the scheme
     * @param likely whether the reading is an answer; the readings of a number are only possible, the most frequent owner first
     */
    public record Reading(String form, Id id, boolean likely) {
    }
}
