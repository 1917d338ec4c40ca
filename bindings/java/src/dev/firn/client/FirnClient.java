// SPDX-License-Identifier: MIT
package dev.firn.client;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A client of one or several servers that share a store. It asks the first one that replies, and stays with it until it
 * fails. Any thread may use it, also a virtual one; make one for the process.
 *
 * <p>A call ends within the timeout plus the maximum wait. A request is sent again after a failure or an overload, which
 * repeats no ID: IDs of a lost reply are skipped.
 */
public final class FirnClient {
    private final List<String> addresses;
    private final String token;
    private final Duration timeout;
    private final Duration maxWait;
    private final int block;
    private final HttpClient http;
    private final AtomicInteger current = new AtomicInteger();
    private final Map<String, Integer> widths = new ConcurrentHashMap<>();

    private FirnClient(Builder builder) {
        addresses = builder.addresses;
        token = builder.token;
        timeout = builder.timeout;
        maxWait = builder.maxWait;
        block = builder.block;
        http = builder.http.version(HttpClient.Version.HTTP_1_1).connectTimeout(timeout).build();
    }

    /**
     * A client of these servers.
     *
     * @param addresses such as "http://ids1:7380" or "https://ids2:7380"
     * @return settings, on which {@link Builder#build} makes the client
     */
    public static Builder of(String... addresses) {
        return new Builder(List.of(addresses));
    }

    /** Settings of a client. */
    public static final class Builder {
        private final List<String> addresses;
        private String token;
        private Duration timeout = Duration.ofMillis(2500);
        private Duration maxWait = Duration.ofSeconds(5);
        private int block = 256;
        private HttpClient.Builder http = HttpClient.newBuilder();

        private Builder(List<String> addresses) {
            if (addresses.isEmpty()) {
                throw new IllegalArgumentException("there are no addresses: give at least one");
            }
            for (String address : addresses) {
                if (!address.matches("https?://[^/?#@]+/?")) {
                    throw new IllegalArgumentException(withoutUser(address) + " is not an address: use http://HOST:PORT or https://HOST:PORT");
                }
            }
            this.addresses = addresses.stream().map(address -> address.replaceAll("/$", "")).toList();
        }

        /**
         * Authenticates.
         *
         * @param text the token; null: none
         * @return this
         */
        public Builder token(String text) {
            if (text != null && !text.matches("[!-~]+")) {
                throw new IllegalArgumentException("the token has a character that is not printable ASCII, such as a line end: remove it");
            }
            token = text;
            return this;
        }

        /**
         * The time limit of a connection and its reply.
         *
         * @param limit more than the server's wait_ms; 2.5 s by default
         * @return this
         */
        public Builder timeout(Duration limit) {
            timeout = limit;
            return this;
        }

        /**
         * How long to retry.
         *
         * @param limit 5 s by default
         * @return this
         */
        public Builder maxWait(Duration limit) {
            maxWait = limit;
            return this;
        }

        /**
         * The greatest number of IDs that {@link FirnClient#block} keeps.
         *
         * @param count 1 to 65536; 256 by default
         * @return this
         */
        public Builder block(int count) {
            if (count < 1 || count > 65536) {
                throw new IllegalArgumentException("block is " + count + ": use 1 to 65536");
            }
            block = count;
            return this;
        }

        /**
         * The HttpClient that makes the connections: for certificates, proxies, an executor.
         *
         * @param builder a builder of the JDK's client
         * @return this
         */
        public Builder http(HttpClient.Builder builder) {
            http = builder;
            return this;
        }

        /**
         * Makes the client. Asks no server yet.
         *
         * @return the client
         */
        public FirnClient build() {
            return new FirnClient(this);
        }
    }

    @Override
    public String toString() {
        return "FirnClient of " + String.join(" ", addresses.stream().map(FirnClient::withoutUser).toList());
    }

    // ---- IDs -----------------------------------------------------------------------------------------------------

    /**
     * Issues one ID of up to 64 bits: strict order, fresh time.
     *
     * @param name a scheme or a generator of the server
     * @return the ID
     * @throws ServerException one of its subclasses
     */
    public long next(String name) {
        return many(name, 1)[0];
    }

    /**
     * Issues IDs of up to 64 bits, in order.
     *
     * @param name a scheme or a generator of the server
     * @param count 1 to 65536
     * @return the IDs
     * @throws ServerException one of its subclasses
     */
    public long[] many(String name, int count) {
        return numbers(name, count, Map.of());
    }

    /**
     * Issues IDs of a past time.
     *
     * @param name a scheme or a generator of the server
     * @param time the time
     * @param count 1 to 65536
     * @return the IDs
     * @throws ServerException one of its subclasses
     */
    public long[] at(String name, Instant time, int count) {
        return numbers(name, count, Map.of("time", time.toString()));
    }

    private long[] numbers(String name, int count, Map<String, String> fields) {
        Integer bits = widths.get(name);
        if (bits == null) { // asked of a server once
            bits = call("GET", path("schemes", name), Map.of(), text -> width(pairs(text).get("bits")));
            widths.put(name, bits);
        }
        if (bits > 64) {
            throw new ServerException.Request("an ID of " + name + " has " + bits + " bits: use nextText or nextUuid", "");
        }
        Map<String, String> query = new LinkedHashMap<>(fields);
        query.put("n", Integer.toString(count));
        query.put("as", "dec");
        return call("POST", path("new", name), query, text -> numbersOf(text, count));
    }

    /**
     * Issues one ID of any width, as text.
     *
     * @param name a scheme or a generator of the server
     * @return the ID
     * @throws ServerException one of its subclasses
     */
    public String nextText(String name) {
        return manyText(name, 1).get(0);
    }

    /**
     * Issues IDs of any width, as text.
     *
     * @param name a scheme or a generator of the server
     * @param count 1 to 65536
     * @return the IDs, in order
     * @throws ServerException one of its subclasses
     */
    public List<String> manyText(String name, int count) {
        return call("POST", path("new", name), Map.of("n", Integer.toString(count)), text -> lines(text, count));
    }

    /**
     * Issues one UUID.
     *
     * @param name a scheme such as uuid7
     * @return the ID
     * @throws ServerException one of its subclasses
     */
    public UUID nextUuid(String name) {
        String text = nextText(name);
        try {
            return UUID.fromString(text);
        } catch (IllegalArgumentException error) {
            throw new ServerException.Request("an ID of " + name + " is not a UUID: use next or nextText", "");
        }
    }

    /**
     * IDs of up to 64 bits that are issued ahead, at most 1 ms old.
     *
     * @param name a scheme or a generator of the server
     * @return an iterator
     */
    public ServerBlock block(String name) {
        return block(name, Duration.ofMillis(1));
    }

    /**
     * IDs of up to 64 bits that are issued ahead.
     *
     * @param name a scheme or a generator of the server
     * @param maxAge how old an ID may be when you take it
     * @return an iterator
     */
    public ServerBlock block(String name, Duration maxAge) {
        return new ServerBlock(this, name, maxAge, block);
    }

    // ---- integers of segments ------------------------------------------------------------------------------------

    /**
     * Takes the next integer of a segment.
     *
     * @param key the name of the segment
     * @return the integer
     * @throws ServerException one of its subclasses
     */
    public long integer(String key) {
        return call("POST", path("segments", key), Map.of("n", "1"), text -> numbersOf(text, 1))[0];
    }

    /**
     * Reserves integers of a segment.
     *
     * @param key the name of the segment
     * @param count how many
     * @return first, last and step
     * @throws ServerException one of its subclasses
     */
    public Integers integers(String key, long count) {
        long[] reply = call("POST", path("block", key), Map.of("n", Long.toString(count)), text -> numbersOf(text.replace(' ', '\n'), 3));
        return new Integers(reply[0], reply[0] + (reply[2] - 1) * reply[1], reply[1]);
    }

    /**
     * Integers that are yours.
     *
     * @param first the first
     * @param last the last
     * @param step from one to the next
     */
    public record Integers(long first, long last, long step) {
    }

    // ---- reading -------------------------------------------------------------------------------------------------

    /**
     * Returns the contents of an ID: "scheme", "time", "unix_ns", "candidates", "fields.sequence" and others.
     *
     * @param id the text of an ID
     * @return names and values
     * @throws ServerException one of its subclasses
     */
    public Map<String, String> show(String id) {
        return shown(id, Map.of());
    }

    /**
     * Returns the contents of an ID, read as an ID of one scheme: an integer may be an ID of several.
     *
     * @param id the text of an ID
     * @param scheme its scheme
     * @return names and values
     * @throws ServerException one of its subclasses
     */
    public Map<String, String> show(String id, String scheme) {
        return shown(id, Map.of("scheme", scheme));
    }

    private Map<String, String> shown(String id, Map<String, String> query) {
        return call("GET", path("show", id), query, text -> pairs(text).containsKey("id") ? pairs(text) : null);
    }

    /**
     * The schemes that an ID may be of.
     *
     * @param id the text of an ID
     * @return their names, the likeliest first
     * @throws ServerException one of its subclasses
     */
    public List<String> guess(String id) {
        String names = show(id).get("candidates");
        return names == null ? List.of() : List.of(names.split(" "));
    }

    /**
     * An ID in another form or scheme.
     *
     * @param id the text of an ID
     * @param form a form such as "hex", or a scheme
     * @return the text
     * @throws ServerException one of its subclasses
     */
    public String convert(String id, String form) {
        return call("GET", path("convert", id), Map.of("to", form), text -> lines(text, 1)).get(0);
    }

    /**
     * The least and the greatest ID of {@code from <= time < to}.
     *
     * @param scheme a scheme of up to 64 bits
     * @param from the first time
     * @param to the time after the last
     * @return the range
     * @throws ServerException one of its subclasses
     */
    public Range range(String scheme, Instant from, Instant to) {
        long[] both = call("GET", path("range", scheme), Map.of("from", from.toString(), "to", to.toString()), text -> numbersOf(text, 2));
        return new Range(both[0], both[1]);
    }

    /**
     * The IDs of a span of time, both included.
     *
     * @param least the smallest ID
     * @param greatest the greatest ID
     */
    public record Range(long least, long greatest) {
    }

    // ---- replies: null is malformed --------------------------------------------------------------------------------

    private static List<String> lines(String text, int count) {
        String[] lines = text.split("\n", -1);
        if (lines.length != count + 1 || !lines[count].isEmpty()) {
            return null;
        }
        List<String> found = List.of(lines).subList(0, count);
        return found.stream().allMatch(line -> line.matches("[!-~]+")) ? found : null;
    }

    private static long[] numbersOf(String text, int count) {
        List<String> lines = lines(text, count);
        if (lines == null || !lines.stream().allMatch(line -> line.matches("[0-9]{1,20}"))) {
            return null;
        }
        try {
            return lines.stream().mapToLong(Long::parseUnsignedLong).toArray();
        } catch (NumberFormatException error) { // above 64 bits
            return null;
        }
    }

    private static Map<String, String> pairs(String text) {
        Map<String, String> pairs = new LinkedHashMap<>();
        for (String line : text.split("\n")) {
            int blank = line.indexOf(' ');
            if (blank > 0) {
                pairs.put(line.substring(0, blank), line.substring(blank + 1));
            }
        }
        return pairs;
    }

    private static Integer width(String bits) {
        return bits != null && bits.matches("[0-9]{1,3}") ? Integer.valueOf(bits) : null;
    }

    // ---- requests ------------------------------------------------------------------------------------------------

    private static String path(String verb, String name) {
        if (name.isEmpty()) {
            throw new ServerException.Request("the name is empty: name a scheme, generator, segment or ID", "");
        }
        return "/v1/" + verb + "/" + encoded(name).replace(".", "%2E");
    }

    private static String encoded(String text) {
        if (!StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
            throw new ServerException.Request("the name or value has half of a surrogate pair: remove it", "");
        }
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private static String withoutUser(String address) {
        return address.replaceFirst("//.*@", "//");
    }

    private record Reply(int status, String text) {
    }

    /** Sends a request to one server after the other, until one replies what can be read. */
    private <T> T call(String method, String path, Map<String, String> query, Function<String, T> read) {
        StringBuilder target = new StringBuilder(path).append("?format=text");
        query.forEach((key, value) -> target.append('&').append(key).append('=').append(encoded(value)));
        Map<String, String> failures = new TreeMap<>();
        ServerException busy = null;
        long start = System.nanoTime();
        long pause = 0;
        for (int attempt = 1; attempt == 1 || System.nanoTime() - start + pause <= maxWait.toNanos(); attempt++) {
            int here = current.get();
            Reply reply = ask(method, addresses.get(here) + target);
            T result = reply.status == 200 ? read.apply(reply.text) : null;
            if (result != null) {
                return result;
            }
            String detail = member(reply.text, "detail", null);
            String reason = member(reply.text, "code", Integer.toString(reply.status));
            UnaryOperator<String> part = name -> member(reply.text, name, "");
            if (reply.status == 429 || reply.status == 503) {
                String why = detail != null ? detail : "HTTP status " + reply.status;
                busy = new ServerException.Overload("the servers are overloaded (" + why + "): try again later", reason, part);
            } else if (reply.status >= 400 && reply.status < 500 && detail != null) {
                throw new ServerException.Request(detail, reason, part);
            } else {
                failures.put(withoutUser(addresses.get(here)),
                    reply.status == 0 ? reply.text : reply.status == 200 ? "malformed reply" : "HTTP status " + reply.status);
            }
            current.compareAndSet(here, (here + 1) % addresses.size());
            if (attempt % addresses.size() == 0) { // a pause after each round
                sleep(pause);
                pause = Math.min(Math.max(2 * pause, TimeUnit.MILLISECONDS.toNanos(10)), TimeUnit.MILLISECONDS.toNanos(500));
            }
        }
        throw busy != null ? busy : new ServerException.Unreachable("no server answered (" + String.join("; ", failures.entrySet().stream()
            .map(one -> one.getKey() + ": " + one.getValue()).toList()) + "): start firn serve there, or correct the addresses");
    }

    /** Sends a request. Status 0: no reply, and why. The limit includes the body; the limit of an HttpRequest does not. */
    private Reply ask(String method, String uri) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(uri)).header("Accept", "text/plain")
            .method(method, HttpRequest.BodyPublishers.noBody());
        if (token != null) {
            request.header("Authorization", "Bearer " + token);
        }
        CompletableFuture<HttpResponse<String>> reply = http.sendAsync(request.build(), head -> new Body());
        try {
            HttpResponse<String> response = reply.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
            return new Reply(response.statusCode(), response.body());
        } catch (TimeoutException error) {
            reply.cancel(true);
            return new Reply(0, "no reply within " + timeout.toMillis() + " ms");
        } catch (ExecutionException error) {
            Throwable cause = error.getCause();
            return new Reply(0, cause.getMessage() != null ? cause.getMessage() : cause.getClass().getSimpleName());
        } catch (InterruptedException error) {
            reply.cancel(true);
            throw interrupted();
        }
    }

    /** The text of a reply, unless it is too long. */
    private static final class Body implements HttpResponse.BodySubscriber<String> {
        private static final int MOST = 8 << 20; // bytes
        private final HttpResponse.BodySubscriber<String> text = HttpResponse.BodySubscribers.ofString(StandardCharsets.UTF_8);
        private Flow.Subscription subscription;
        private long size;

        @Override
        public CompletionStage<String> getBody() {
            return text.getBody();
        }

        @Override
        public void onSubscribe(Flow.Subscription given) {
            subscription = given;
            text.onSubscribe(given);
        }

        @Override
        public void onNext(List<ByteBuffer> pieces) {
            size += pieces.stream().mapToLong(ByteBuffer::remaining).sum();
            if (size > MOST) {
                subscription.cancel();
                text.onError(new IOException("a reply of more than " + MOST + " bytes"));
            } else {
                text.onNext(pieces);
            }
        }

        @Override
        public void onError(Throwable error) {
            text.onError(error);
        }

        @Override
        public void onComplete() {
            text.onComplete();
        }
    }

    private static void sleep(long ns) {
        try {
            TimeUnit.NANOSECONDS.sleep(ns == 0 ? 0 : ThreadLocalRandom.current().nextLong(ns / 2, ns + 1));
        } catch (InterruptedException error) {
            throw interrupted();
        }
    }

    private static ServerException interrupted() {
        Thread.currentThread().interrupt();
        return new ServerException.Unreachable("the thread was interrupted while it waited: ask again");
    }

    /** A text member of a small JSON object (application/problem+json). */
    private static String member(String json, String name, String otherwise) {
        Matcher found = Pattern.compile("\"" + name + "\":\"((?:[^\"\\\\]|\\\\.)*+)\"").matcher(json);
        return found.find() ? found.group(1).replaceAll("\\\\(.)", "$1") : otherwise;
    }
}
