// SPDX-License-Identifier: MIT
package dev.firn;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;

/**
 * Issues IDs for records that have a time but no ID: the same IDs at each run for the same records in the same order, also
 * in another process. Opening may wait for the store; issuing does not need it. Any thread may call it.
 */
public final class Job extends Handle {
    private final Scheme scheme;
    private final boolean again;
    private final long[] parts = new long[4]; // of the last ID, and by how many nanoseconds it moved

    private Job(Builder given, boolean stored, ByteBuffer struct) {
        super(Native.openJob(given.scheme, given.options.keys(), Text.optional("name", given.name), given.digest,
            Text.optional("seed", given.seed), given.maxShift.toMillis(), given.disorder.plusNanos(999_999).toMillis(), stored,
            given.options.store(), given.options.moduleDir(), given.options.unsafe(), struct), Native::freeJob,
            "the job is closed", "open another one");
        scheme = new Scheme(struct);
        again = alone(address -> Native.jobAgain(this, address));
    }

    /**
     * A job for IDs of a scheme.
     *
     * @param scheme a name, or a layout such as "time:41/ms@@2024-01-01 node:10 sequence:12"
     * @return settings, on which {@link Builder#open} opens the job
     */
    public static Builder of(String scheme) {
        return new Builder(Text.utf8("scheme", scheme));
    }

    /**
     * Issues the ID of the next record. After an exception the job is as before, so that you may skip the record.
     *
     * @param time of the record
     * @return the ID
     * @throws FirnException FULL: no slot is free within maxShift; RANGE: earlier than the disorder allows; LAYOUT
     */
    public Id next(Instant time) {
        return alone(address -> {
            Native.jobNext(this, address, time.getEpochSecond(), time.getNano(), parts);
            return new Id(scheme, parts, 0);
        });
    }

    /**
     * By how much the ID of the last record is later than the record.
     *
     * @return at most maxShift
     */
    public Duration shift() {
        return alone(address -> Duration.ofNanos(parts[3]));
    }

    /**
     * Whether the job was started before, with the same digest and settings.
     *
     * @return false without a store
     */
    public boolean again() {
        return again;
    }

    /**
     * The scheme with the job's keys applied.
     *
     * @return the scheme
     */
    public Scheme scheme() {
        return scheme;
    }

    /** The settings of a job. One thread. */
    public static final class Builder {
        private final byte[] scheme;
        private final Options<Job> options = new Options<>(this::opened);
        private String name;
        private long digest;
        private String seed;
        private Duration maxShift = Duration.ofSeconds(1);
        private Duration disorder = Duration.ZERO;
        private boolean stored;

        private Builder(byte[] scheme) {
            this.scheme = scheme;
        }

        /**
         * The name of the job, under which the store reserves a node for ever. Without a name there is no store, and the node
         * is a key.
         *
         * @param text 1 to 63 bytes of UTF-8
         * @return this
         */
        public Builder name(String text) {
            name = text;
            stored = true;
            return this;
        }

        /**
         * A digest of the input. A name belongs to one digest.
         *
         * @param number such as 64 bits of a hash; 0: none
         * @return this
         */
        public Builder digest(long number) {
            digest = number;
            return this;
        }

        /**
         * The seed of random bits, for schemes that have some.
         *
         * @param text another one for each job
         * @return this
         */
        public Builder seed(String text) {
            seed = text;
            return this;
        }

        /**
         * How far a record of a full tick may move ahead.
         *
         * @param most up to one day; by default 1 s
         * @return this
         */
        public Builder maxShift(Duration most) {
            maxShift = most;
            return this;
        }

        /**
         * By how much a record may be earlier than the latest one.
         *
         * @param most zero, the default: any order
         * @return this
         */
        public Builder disorder(Duration most) {
            disorder = most;
            return this;
        }

        /**
         * The store that reserves the node.
         *
         * @param url such as "sqlite:/var/lib/app/firn.db"; null: the default store
         * @return this
         */
        public Builder store(String url) {
            options.store(url);
            stored = true;
            return this;
        }

        /**
         * Sets a key: ns, node, epoch, bits, digits, unsigned or a field.
         *
         * @param key such as "node"
         * @param value its value
         * @return this
         */
        public Builder set(String key, String value) {
            options.set(key, value);
            return this;
        }

        /**
         * Sets a key to a number.
         *
         * @param key such as "node"
         * @param value its value
         * @return this
         */
        public Builder set(String key, long value) {
            options.set(key, value);
            return this;
        }

        /**
         * Where to look for modules of stores first.
         *
         * @param folder a path; null: where libfirn was installed
         * @return this
         */
        public Builder moduleDir(String folder) {
            options.moduleDir(folder);
            return this;
        }

        /**
         * Accepts a store that may lose acknowledged writes. IDs may then repeat.
         *
         * @param accepted whether to accept it
         * @return this
         */
        public Builder unsafe(boolean accepted) {
            options.unsafe(accepted);
            return this;
        }

        /**
         * Opens the job. May wait for the store.
         *
         * @return what you must close in the end
         * @throws FirnException TAKEN: the name has another digest or settings; others of docs/reference/errors.md
         */
        public Job open() {
            return options.open();
        }

        private Job opened(Options<Job> unused) {
            if (stored && digest == 0) {
                throw Text.usage("a job with a name needs the digest of its input", "set digest, such as a hash of a file");
            }
            return new Job(this, stored, Scheme.room());
        }
    }
}
