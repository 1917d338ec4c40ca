// SPDX-License-Identifier: MIT
package dev.firn;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

/**
 * How something is opened: {@code Generator.of("snowflake").store(url).set("node", 3).open()}. One thread.
 *
 * @param <T> what {@link #open} opens
 */
public final class Options<T> {
    private final Function<Options<T>, T> opener;
    private final Map<String, String> keys = new LinkedHashMap<>();
    private String store;
    private String moduleDir;
    private String note;
    private boolean unsafe;

    Options(Function<Options<T>, T> opener) {
        this.opener = opener;
    }

    /**
     * The store that reserves.
     *
     * @param url such as "sqlite:/var/lib/app/firn.db" or "postgres://app@db/app"; null: the default store
     * @return this
     */
    public Options<T> store(String url) {
        store = url;
        return this;
    }

    /**
     * Sets a key of docs/reference/keys.md.
     *
     * @param key such as "node"
     * @param value its value
     * @return this
     * @throws FirnException USAGE: a blank or a zero character in it; {@link #open} refuses unknown keys
     */
    public Options<T> set(String key, String value) {
        Text.utf8(key, Text.withoutBlanks(Text.withoutBlanks("a key", key), value));
        keys.put(key, Text.withoutBlanks(key, value));
        return this;
    }

    /**
     * Sets a key to a number.
     *
     * @param key such as "node"
     * @param value its value
     * @return this
     */
    public Options<T> set(String key, long value) {
        return set(key, Long.toString(value));
    }

    /**
     * Sets a key to 1 or 0.
     *
     * @param key such as "unsigned"
     * @param value its value
     * @return this
     */
    public Options<T> set(String key, boolean value) {
        return set(key, value ? "1" : "0");
    }

    /**
     * Sets a key to a time.
     *
     * @param key such as "epoch"
     * @param value its value
     * @return this
     */
    public Options<T> set(String key, Instant value) {
        return set(key, Text.word(key, value));
    }

    /**
     * Sets several keys, as they come from a configuration.
     *
     * @param values keys and values
     * @return this
     */
    public Options<T> set(Map<String, String> values) {
        values.forEach(this::set);
        return this;
    }

    /**
     * The note that the store keeps with each reservation. Segments and order numbers have none.
     *
     * @param text for people; null: program, host and pid
     * @return this
     */
    public Options<T> note(String text) {
        note = text;
        return this;
    }

    /**
     * Where to look for modules of stores first.
     *
     * @param folder a path; null: where libfirn was installed
     * @return this
     */
    public Options<T> moduleDir(String folder) {
        moduleDir = folder;
        return this;
    }

    /**
     * Accepts a store that may lose acknowledged writes. IDs may then repeat.
     *
     * @param accepted whether to accept it
     * @return this
     */
    public Options<T> unsafe(boolean accepted) {
        unsafe = accepted;
        return this;
    }

    /**
     * Opens. May wait for the store.
     *
     * @return what you must close in the end
     * @throws FirnException for any reason of docs/reference/errors.md
     */
    public T open() {
        return opener.apply(this);
    }

    boolean has(String key, String value) {
        return Objects.equals(keys.get(key), value);
    }

    byte[] keys() {
        StringBuilder out = new StringBuilder();
        keys.forEach((key, value) -> out.append(out.length() > 0 ? " " : "").append(key).append('=').append(value));
        return Text.utf8("keys", out.toString());
    }

    byte[] store() {
        return Text.optional("store", store);
    }

    byte[] moduleDir() {
        return Text.optional("moduleDir", moduleDir);
    }

    byte[] note() {
        return Text.optional("note", note);
    }

    boolean unsafe() {
        return unsafe;
    }
}
