// SPDX-License-Identifier: MIT
// The package firn for Java: known answers, types, errors, threads, garbage collection, class loaders, processes. One program,
// because a JVM takes long to start; test/binding_java.sh runs it with -Xcheck:jni and under the address sanitizer.
import dev.firn.Block;
import dev.firn.Code;
import dev.firn.Firn;
import dev.firn.FirnException;
import dev.firn.Generator;
import dev.firn.Id;
import dev.firn.Job;
import dev.firn.Mask;
import dev.firn.Options;
import dev.firn.OrderNumbers;
import dev.firn.Scheme;
import dev.firn.Segment;
import dev.firn.Series;
import dev.firn.Sorts;
import dev.firn.Status;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

final class FirnTest {
    private static final AtomicInteger STORES = new AtomicInteger();
    private static final Instant PAST = Instant.parse("2020-02-29T12:00:00.001Z");

    private FirnTest() {
    }

    public static void main(String[] args) throws Exception {
        if (args.length > 0 && args[0].equals("child")) {
            child(args[1], Integer.parseInt(args[2]));
        }
        if (args.length > 0 && args[0].equals("job")) {
            halfOfJob(args[1]);
        }
        Check.test("every case of spec/ has its answer", Spec::run);
        Check.test("each scheme has the type that suits it", FirnTest::types);
        Check.test("IDs keep their order across calls, blocks and arrays", FirnTest::order);
        Check.test("a block drops IDs that are too old", FirnTest::oldBlocks);
        Check.test("a renewed identity has other nodes and random bytes", FirnTest::renewedIdentity);
        Check.test("a block belongs to one thread", FirnTest::blocksAndThreads);
        Check.test("a stream takes IDs from blocks, also in parallel", FirnTest::streams);
        Check.test("back-dated IDs have their time", FirnTest::backDated);
        Check.test("many old records need no write each", FirnTest::manyBackDated);
        Check.test("a job that was killed continues with the same IDs", FirnTest::jobContinues);
        Check.test("jobs need what their IDs need", FirnTest::jobs);
        Check.test("interrupt() ends a wait for the store", dev.firn.Inside::interrupted);
        Check.test("ranges, fields and guesses are right", FirnTest::pure);
        Check.test("segments, order numbers and statuses work", FirnTest::numbers);
        Check.test("errors have a code, a reason and a cure", FirnTest::errors);
        Check.test("wrong arguments throw", FirnTest::wrongArguments);
        Check.test("a closed handle throws", FirnTest::closed);
        Check.test("closing waits for the calls of other threads", FirnTest::closedMeanwhile);
        Check.test("a window is renewed, and threads wait for the renewer", FirnTest::renewal);
        Check.test("a store that fails is an error for callers, until it is back", FirnTest::storeFails);
        Check.test("threads issue no ID twice, while garbage is collected", FirnTest::threads);
        if (Runtime.version().feature() >= 21) {
            Check.test("virtual threads that wait for the renewer leave their carriers to others", FirnTest::virtualThreads);
        }
        Check.test("10000 generators that leaked are freed", FirnTest::leaked);
        Check.test("renewers end with their generators", FirnTest::renewersEnd);
        Check.test("the jar is a module", Loaders::module);
        Check.test("class loaders load the library again, and are unloaded", Loaders::reload);
        Check.test("another version of the library does not load", Loaders::otherVersion);
        Check.test("the error for a missing library names it", Loaders::missing);
        Check.test("the programs of README.md and the guide run", Frameworks::programs);
        Check.test("the example for Jackson writes IDs as text", Frameworks::json);
        Check.test("the examples for Spring and Hibernate run", Frameworks::springAndHibernate);
        if (System.getProperty("firn.jdbc") != null) {
            Check.test("the example for JDBC runs", () -> Frameworks.jdbc(System.getProperty("firn.jdbc")));
        }
        Check.test("another process on the same store gets other IDs, and ends with its generator open", FirnTest::processes);
        Check.finish();
    }

    static Options<Generator> memory(String scheme) {
        return Generator.of(scheme).store("memory:");
    }

    static String store() throws Exception {
        Path folder = Files.createDirectories(Path.of(System.getProperty("firn.folder"), "s" + STORES.incrementAndGet()));
        return "sqlite:" + folder.resolve("ids.db");
    }

    private static void types() {
        try (Generator gen = memory("snowflake").open(); Block block = gen.block()) {
            Check.that(gen.nextLong() > 0 && gen.next().toLong() > 0 && block.nextLong() > 0 && block.nextId().toLong() > 0);
            Check.that(gen.longs(2).length == 2 && gen.many(2).get(1).toLong() > 0);
            Check.that(gen.longs(0).length == 0 && gen.many(0).isEmpty());
            Check.same(Sorts.YES, gen.scheme().sorts());
            Check.same("snowflake", gen.scheme().name());
            Check.fails(Code.USAGE, gen::nextUuid);
            Check.fails(Code.USAGE, block::nextUuid);
            Check.same(16, gen.next().format("hex").length());
            Check.that(block.hasNext());
        }
        try (Generator gen = Generator.of("uuid7").open(); Block block = gen.block()) {
            for (UUID id : List.of(gen.nextUuid(), gen.next().toUuid(), block.nextUuid(), block.nextId().toUuid(), gen.many(3).get(2).toUuid())) {
                Check.same(7, id.version());
                Check.same(2, id.variant());
                Check.same(id.toString(), gen.scheme().id(id).toString());
            }
            Check.fails(Code.USAGE, gen::nextLong);
            Check.fails(Code.USAGE, block::nextLong);
            Check.fails(Code.USAGE, () -> gen.longs(1));
            Check.fails(Code.USAGE, () -> gen.next().toLong());
        }
        for (String scheme : List.of("ksuid", "objectid", "xid", "ulid", "flake", "tsid", "js53")) { // 160, 96, 128 and 64 bits
            try (Generator gen = memory(scheme).open(); Block block = gen.block()) {
                for (Id id : List.of(gen.next(), block.nextId(), gen.many(1).get(0))) {
                    Check.same(id, gen.scheme().parse(id.toString()));
                    Check.same(id, gen.scheme().id(id.toBytes()));
                    Check.same((gen.scheme().bits() + 7) / 8, id.toBytes().length);
                    Check.same(id.hashCode(), gen.scheme().parse(id.toString()).hashCode());
                }
            }
        }
    }

    private static void order() {
        try (Generator gen = memory("snowflake").open(); Block block = gen.block(Duration.ofSeconds(1))) {
            List<Long> ids = new ArrayList<>(List.of(gen.nextLong()));
            gen.many(100).forEach(id -> ids.add(id.toLong()));
            Arrays.stream(gen.longs(100)).forEach(ids::add);
            for (int i = 0; i < 1000; i++) {
                ids.add(block.nextLong());
            }
            for (int i = 1; i < ids.size(); i++) {
                Check.that(ids.get(i) > ids.get(i - 1));
            }
        }
    }

    private static void renewedIdentity() {
        try (Generator gen = Generator.of("snowflake").store("memory:").open(); Block ids = gen.block(Duration.ofSeconds(1));
            Generator drawn = Generator.of("uuid1").open(); Block uuids = drawn.block(Duration.ofSeconds(1))) {
            long node = ids.nextLong() >> 12 & 1023;
            long random = uuids.nextUuid().node();
            Check.that((ids.nextLong() >> 12 & 1023) == node && uuids.nextUuid().node() == random);
            Firn.renewIdentity();
            Check.that((ids.nextLong() >> 12 & 1023) != node && uuids.nextUuid().node() != random);
        }
    }

    private static void oldBlocks() throws Exception {
        try (Generator gen = Generator.of("uuid7").open(); Block block = gen.block()) {
            for (int i = 0; i < 20; i++) {
                block.nextUuid();
            }
            for (int round = 0; round < 3; round++) {
                Instant start = Instant.now();
                Thread.sleep(20);
                Instant time = block.nextId().show().time().orElseThrow();
                Check.that(!time.isBefore(start.truncatedTo(java.time.temporal.ChronoUnit.MILLIS)));
            }
            for (Duration age : List.of(Duration.ZERO, Duration.ofNanos(-1), Duration.ofMillis(1001), Duration.ofSeconds(Long.MAX_VALUE))) {
                Check.fails(Code.RANGE, () -> gen.block(age));
            }
        }
        dev.firn.Inside.blocksWithoutClock();
    }

    private static void blocksAndThreads() throws Exception {
        try (Generator gen = memory("snowflake").open(); Block block = gen.block()) {
            block.nextLong();
            AtomicInteger refused = new AtomicInteger();
            Thread other = new Thread(() -> {
                for (Runnable call : List.<Runnable>of(block::nextLong, block::nextId, block::close)) {
                    Check.fails(Code.USAGE, call::run);
                    refused.incrementAndGet();
                }
            });
            other.start();
            other.join();
            Check.same(3, refused.get());
            Check.that(block.nextLong() < block.nextLong());
        }
    }

    private static void streams() {
        try (Generator gen = memory("snowflake").open()) {
            Check.same(500L, gen.stream().limit(500).distinct().count());
            Set<Long> seen = gen.stream().parallel().unordered().limit(5000).boxed().collect(Collectors.toSet());
            Check.same(5000, seen.size());
            long[] some = LongStream.generate(gen::nextLong).limit(3).toArray();
            Check.that(some[0] < some[1] && some[1] < some[2]);
        }
    }

    private static void backDated() {
        try (Generator gen = memory("snowflake").open(); Generator uuids = Generator.of("uuid7").open()) {
            List<Id> ids = gen.at(PAST, 3);
            Check.same(3, new HashSet<>(ids).size());
            for (Id id : ids) {
                Check.same(PAST, id.show().time().orElseThrow());
                Check.same("2020-02-29T12:00:00.001Z", id.show().timeText());
            }
            Check.same(PAST, uuids.at(PAST).show().time().orElseThrow());
            for (Instant time : List.of(Instant.parse("1969-12-31T23:59:59.5Z"), Instant.MIN, Instant.MAX)) {
                Check.fails(Code.LAYOUT, () -> uuids.at(time));
            }
        }
    }

    private static void manyBackDated() throws Exception {
        Path file = Path.of(store().substring("sqlite:".length()));
        Path away = file.resolveSibling("away");
        try (Generator gen = Generator.of("snowflake").store("sqlite:" + file).unsafe(true).set("history", "job").open()) {
            Set<Id> ids = new HashSet<>(gen.at(PAST, 1));
            Files.move(file, away);                         // the store is gone
            for (int i = 0; i < 100000; i++) {
                ids.add(gen.at(PAST.plusNanos(i * 1000003L)));
            }
            Files.move(away, file);
            Check.same(100001, ids.size());
        }
    }

    /** The time of record i: out of order, some equal. */
    private static Instant jobTime(int i) {
        return PAST.plusMillis(i * 7919 % 1000);
    }

    private static Job.Builder jobOn(String url) {
        return Job.of("snowflake").name("orders").digest(7).store(url).unsafe(true);
    }

    private static List<Id> jobIds(Job job, int n) {
        List<Id> ids = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            ids.add(job.next(jobTime(i)));
        }
        return ids;
    }

    private static void jobContinues() throws Exception {
        String url = store();
        Process child = child("job", url, 0);
        List<String> written = new String(child.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8).lines().collect(Collectors.toList());
        Check.same(128 + 9, child.waitFor());
        Check.same(1001, written.size());
        try (Job again = jobOn(url).open(); Job beside = jobOn(url).open(); Job others = jobOn(url).name("others").open()) {
            Check.that(again.again() && beside.again() && !others.again());
            List<Id> ids = jobIds(again, 3000);
            Check.same(written, ids.subList(0, 1001).stream().map(Id::toString).collect(Collectors.toList()));
            Check.same(ids, jobIds(beside, 3000));
            Set<Id> all = new HashSet<>(ids);
            all.addAll(jobIds(others, 3000));
            Check.same(6000, all.size());
        }
        Check.fails(Code.TAKEN, jobOn(url).digest(8)::open);
        Check.fails(Code.TAKEN, jobOn(url).seed("other")::open);
        Check.fails(Code.TAKEN, jobOn(url).disorder(Duration.ofNanos(1))::open);
    }

    private static void jobs() {
        Job closed;
        try (Job full = Job.of("snowflake").set("node", 3).maxShift(Duration.ZERO).open(); Job moves = Job.of("snowflake").set("node", 3).open()) {
            for (int i = 0; i < 4096; i++) {
                Check.same(full.next(PAST), moves.next(PAST));
            }
            Check.fails(Code.FULL, () -> full.next(PAST));
            Check.fails(Code.LAYOUT, () -> full.next(Instant.MIN));
            moves.next(PAST);
            Check.same(Duration.ofMillis(1), moves.shift());
            Check.same(Duration.ZERO, full.shift());
            Check.same("snowflake", moves.scheme().name());
            Check.that(!moves.again());
            closed = full;
        }
        Check.fails(Code.USAGE, () -> closed.next(PAST));
        try (Job uuids = Job.of("uuid7").seed("a seed of sixteen").open()) {
            Check.same(7, uuids.next(PAST).toUuid().version());
        }
        Check.fails(Code.USAGE, Job.of("uuid7")::open);
        Check.fails(Code.USAGE, Job.of("snowflake").name("orders")::open);
        Check.fails(Code.USAGE, Job.of("snowflake").store("memory:").digest(1)::open);
        Check.fails(Code.USAGE, Job.of("snowflake").set("node", 3).set("window", "3s")::open);
        Check.fails(Code.RANGE, Job.of("snowflake").set("node", 3).maxShift(Duration.ofDays(2))::open);
    }

    private static void pure() {
        Scheme snowflake = Scheme.of("snowflake");
        Id id = snowflake.pack(Map.of("time", PAST, "datacenter", 1, "worker", 2L, "sequence", "3"));
        Check.same(Map.of("datacenter", "1", "worker", "2", "sequence", "3"), without(id.show().fields(), "time"));
        Check.same(id, snowflake.id(id.toLong()));
        Check.same(id, Firn.guess(id.toString()).stream().filter(r -> r.id().scheme().name().equals("snowflake")).findFirst().orElseThrow().id());
        Check.same(List.of(), Firn.guess("Java"));
        Scheme.Range day = snowflake.range(Instant.parse("2026-01-06T00:00:00Z"), Instant.parse("2026-01-07T00:00:00Z"));
        Check.that(day.least().compareTo(day.greatest()) < 0 && day.least().toLong() < day.greatest().toLong());
        Check.fails(Code.UNSORTED, () -> Scheme.of("uuid4").range(PAST, PAST.plusSeconds(1)));
        Check.same("2ed6657d-e927-568b-95e1-2665a8aea6a2", Scheme.of("uuid5").digest("dns", "www.example.com").toString());
        Check.same(UUID.nameUUIDFromBytes(new byte[16]).version(), Scheme.of("uuid3").digest("url", "").toUuid().version());
        Scheme own = Scheme.of("time:41/ms@@2024-01-01 node:10 sequence:12");
        Check.same(63, own.bits());
        Check.fails(Code.RANGE, () -> own.id(-1));
        Check.same("time:41/ms@@2024-01-01T00:00:00Z node:10 sequence:12", own.layout());
        Check.that(Scheme.of("snowflake", Map.of("epoch", PAST, "bits", "41/5/5/12")).layout().contains("2020-02-29T12:00:00.001Z"));
        Check.that(Firn.schemes().contains("uuid7") && Firn.schemes().size() > 30 && Firn.forms().contains("base58"));
        Check.same("0.1.0", Firn.version());
        Id far = Scheme.of("flake").parse("ffffffffffffffff0000000000000000", "hex");
        Check.that(far.show().time().isPresent() && far.show().timeText().startsWith("+"));
        Check.that(Scheme.of("uuid4").id(UUID.randomUUID()).show().time().isEmpty());
        prefixes();
    }

    private static void prefixes() {
        String text = "user_01h455vb4pex5vsknk084sn02q";
        Scheme users = Scheme.of("typeid", Map.of("prefix", "user"));
        Id user = Scheme.of("typeid").parse(text);
        Check.same(text, user.toString());
        Check.same("user", user.scheme().prefix());
        Check.same("01890a5d-ac96-774b-bcce-b302099a8057", user.toUuid().toString());
        Check.same(text, users.id(user.toUuid()).toString());
        Check.same(text, users.parse(text).format("typeid"));
        Check.same(user.format("hex"), users.parse(text).format("hex"));
        Check.same(user, users.parse(text));
        Check.that(!user.equals(Scheme.of("typeid").parse("org" + text.substring(4))));
        Check.fails(Code.MISMATCH, () -> users.parse("org" + text.substring(4)));
        Check.fails(Code.MISMATCH, () -> users.parse(text.substring(5)));
        Check.that(users.range(PAST, PAST.plusSeconds(1)).least().toString().startsWith("user_"));
        Check.same(text, Firn.guess(text).get(0).id().toString());
        Check.fails(Code.USAGE, () -> Scheme.of("uuid7", Map.of("prefix", "user")));
        Check.fails(Code.USAGE, () -> Scheme.of("typeid", Map.of("prefix", "User")));
        try (Generator gen = memory("typeid").set("prefix", "user").open()) {
            Check.that(gen.next().toString().startsWith("user_"));
            Check.that(gen.many(2).get(1).toString().startsWith("user_"));
            Check.same("user", gen.scheme().prefix());
            try (Block block = gen.block()) {
                Check.that(block.nextId().toString().startsWith("user_"));
            }
        }
    }

    private static Map<String, String> without(Map<String, String> fields, String name) {
        return fields.entrySet().stream().filter(e -> !e.getKey().equals(name)).collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    private static void masks() throws Exception {
        Path file = Files.createTempFile("firn", ".key", PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(file, "1 " + "0".repeat(64) + "\n");
        String id = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f", masked = "ee4010b4-ae5e-47e1-b9da-ad69663a79d9";
        try (Mask orders = Mask.of("orders", file).set("width", "uuid").set("fingerprint", "78555f0c").open()) {
            Check.same(List.of(masked, id, "78555f0c"), List.of(orders.mask(id), orders.unmask(masked), orders.fingerprint()));
            Check.fails(Code.TEXT, () -> orders.mask("x"));
            orders.close();
            Check.fails(Code.USAGE, () -> orders.mask(id));
        }
        Check.fails(Code.USAGE, () -> Mask.of("orders", file).set("fingerprint", "78555f0c").open());
        Files.delete(file);
        Check.fails(Code.IO, () -> Mask.of("orders", file).open());
    }

    private static void series() throws Exception {
        String store = store();
        try (Series invoices = Series.of("invoices").store(store).unsafe(true).set("template", "INV{counter:4}").open()) {
            Check.same(List.of("INV0001", "INV0001", "INV0002"), List.of(invoices.peek(null), invoices.next(), invoices.next()));
            Check.same(List.of("INV0003", "INV0004"), invoices.many(2, Instant.now()));
            Check.same(4L, invoices.read("INV0004"));
            Check.same("template=INV{counter:4} zone=UTC restart=never late=0 grow=0", invoices.definition());
            Check.fails(Code.RANGE, () -> invoices.many(0, null));
            Check.fails(Code.END, () -> invoices.many(9999, null));
            Check.fails(Code.TEXT, () -> invoices.read("INV4"));
            invoices.close();
            Check.fails(Code.USAGE, invoices::next);
        }
        try (Series again = Series.of("invoices").store(store).unsafe(true).open()) {
            Check.same("INV0005", again.next());
        }
        Check.fails(Code.USAGE, () -> Series.of("none").store(store).unsafe(true).open());
    }

    private static void numbers() throws Exception {
        try (Segment segment = Segment.of("orders \u00e9").store(store()).unsafe(true).set("kind", "serial").open()) {
            Check.same(List.of(1L, 2L, 5L, 100L, 100L, 101L, 1L),
                List.of(segment.next(), segment.block(3), segment.next(), segment.advance(100), segment.next(), segment.peek(), segment.increment()));
            for (long count : new long[] {0, -1, Long.MIN_VALUE, Long.MAX_VALUE}) {
                Check.fails(Code.RANGE, Code.END, () -> segment.block(count));
            }
        }
        byte[] key = new byte[16];
        try (OrderNumbers orders = OrderNumbers.of(key).set("digits", 10).set("check", true).open()) {
            Check.same(4711L, orders.read(orders.write(4711)));
            Check.fails(Code.RANGE, () -> orders.write(-1));
            Check.fails(Code.TEXT, () -> orders.read("123"));
            orders.close();
            Check.fails(Code.USAGE, () -> orders.write(1));
        }
        Check.fails(Code.USAGE, () -> OrderNumbers.of(new byte[15]));
        masks();
        series();
        try (Generator gen = memory("snowflake").set("node", 33).note("a test").open()) {
            gen.nextLong();
            Status status = gen.status();
            Check.that(status.node() == 33 && status.held() && status.reserved() && status.next() > status.first());
            Check.that(!status.stays());
        }
    }

    private static void errors() {
        FirnException error = Check.fails(Code.USAGE, () -> Generator.of("snowflak").open());
        Check.same(-1, error.code().number());
        Check.that(error.cure().contains("did you mean") && error.getMessage().equals(error.reason() + ": " + error.cure()));
        Check.that(error.cureName().equals("SPELLING") && error.value().equals("snowflak") && error.limit().isEmpty());
        Check.fails(Code.TEXT, () -> Scheme.of("uuid7").parse("nonsense"));
        FirnException range = Check.fails(Code.RANGE, () -> Scheme.of("snowflake").pack(Map.of("time", PAST, "datacenter", 32, "worker", 0, "sequence", 0)));
        Check.that(range.reason().contains("32") && range.getMessage().contains("31"));
        Check.fails(Code.USAGE, () -> memory("snowflake").set("nonsense", 1).open());
        Check.fails(Code.USAGE, () -> Scheme.of("snowflake", Map.of("nonsense", 1)));
        Check.fails(Code.MISMATCH, () -> Scheme.of("uuid7").id(UUID.randomUUID()));
        Check.fails(Code.USAGE, () -> Scheme.of("uuid7").digest("dns", "x"));
    }

    private static void wrongArguments() {
        Scheme snowflake = Scheme.of("snowflake");
        try (Generator gen = memory("snowflake").open()) {
            for (int n : new int[] {-1, (1 << 24) + 1, Integer.MIN_VALUE, Integer.MAX_VALUE}) {
                Check.fails(Code.RANGE, () -> gen.longs(n));
                Check.fails(Code.RANGE, () -> gen.many(n));
                Check.fails(Code.RANGE, () -> gen.at(PAST, n));
            }
            Check.throwsA(NullPointerException.class, () -> gen.at(null));
            Check.throwsA(IndexOutOfBoundsException.class, () -> gen.many(1).get(1));
        }
        for (Runnable call : List.<Runnable>of(() -> Generator.of(null), () -> Scheme.of((String) null), () -> snowflake.parse(null),
            () -> snowflake.id((byte[]) null), () -> snowflake.id((UUID) null), () -> snowflake.pack(null), () -> Firn.guess(null),
            () -> Segment.of(null), () -> OrderNumbers.of(null), () -> snowflake.digest(null, ""), () -> snowflake.range(null, PAST),
            () -> memory("snowflake").set("node", (String) null), () -> snowflake.pack(Collections.singletonMap("time", null)))) {
            Check.throwsA(NullPointerException.class, call::run);
        }
        String[] texts = {"\0", "a\0b", "\ud800", "x\udfff", "\udc00\ud800", "", "x".repeat(100000), "\u00e9", "\ud83d\ude00", " "};
        for (String text : texts) {
            Check.throwsA(FirnException.class, () -> Generator.of(text).open());
            Check.throwsA(FirnException.class, () -> Scheme.of("uuid7").parse(text));
            Check.throwsA(FirnException.class, () -> snowflake.parse("1", text));
            Check.throwsA(FirnException.class, () -> snowflake.pack(Map.of("time", PAST, "datacenter", 1, "worker", 1, "sequence", text)));
            Check.throwsA(FirnException.class, () -> snowflake.pack(Map.of("time", PAST, text, 1)));
            Check.throwsA(FirnException.class, () -> memory("snowflake").set("node", text).open());
            Check.throwsA(FirnException.class, () -> memory("snowflake").set(text, 1).open());
            if (!text.isBlank()) {
                Check.throwsA(FirnException.class, () -> Generator.of("snowflake").store(text).open());
            }
        }
        Check.that(Check.fails(Code.USAGE, () -> Scheme.of("\ud83d\ude00")).getMessage().contains("\ud83d\ude00")); // UTF-8 of four bytes
        for (Object value : new Object[] {-1, 4096, Long.MIN_VALUE, new java.math.BigInteger("1" + "0".repeat(60)), 1.5, Double.NaN, 'x',
            List.of(), Float.NEGATIVE_INFINITY, new byte[1]}) {
            Check.throwsA(FirnException.class, () -> snowflake.pack(Map.of("time", PAST, "datacenter", 1, "worker", 1, "sequence", value)));
        }
        dev.firn.client.FirnClient client = dev.firn.client.FirnClient.of("http://127.0.0.1:1").build(); // is not asked
        for (String name : new String[] {"", "\ud800", "x\udfff"}) {
            Check.throwsA(dev.firn.client.ServerException.Request.class, () -> client.next(name));
            Check.throwsA(dev.firn.client.ServerException.Request.class, () -> client.integer(name));
        }
        for (String address : new String[] {"", "ids1:7380", "ftp://ids1", "http://", "http://ids1/v1"}) {
            Check.throwsA(IllegalArgumentException.class, () -> dev.firn.client.FirnClient.of(address));
        }
        for (int size : new int[] {0, 7, 9, 1 << 20}) {
            Check.fails(Code.RANGE, () -> snowflake.id(new byte[size]));
        }
    }

    private static void closed() {
        Generator gen = memory("snowflake").open();
        Block block = gen.block(Duration.ofSeconds(1));
        block.nextLong();
        gen.close();
        gen.close();
        for (Runnable call : List.<Runnable>of(gen::nextLong, gen::next, () -> gen.longs(1), () -> gen.many(1), () -> gen.at(PAST), gen::status,
            gen::block, block::nextLong, block::nextId, () -> gen.stream().findFirst())) {
            Check.that(Check.fails(Code.USAGE, call::run).getMessage().contains("closed: open another one"));
        }
        block.close();
        block.close();
        Check.that(Check.fails(Code.USAGE, block::nextLong).getMessage().contains("closed"));
        Segment segment = Segment.of("x").store("memory:").open();
        segment.close();
        segment.close();
        Check.fails(Code.USAGE, segment::next);
        Check.fails(Code.USAGE, segment::increment);
    }

    private static void closedMeanwhile() throws Exception {
        for (int round = 0; round < 20; round++) {
            Generator gen = memory("uuid7").open();
            CountDownLatch running = new CountDownLatch(2);
            List<Future<Long>> calls = new ArrayList<>();
            ExecutorService threads = Executors.newFixedThreadPool(2);
            for (int i = 0; i < 2; i++) {
                calls.add(threads.submit(() -> {
                    Block block = gen.block();
                    running.countDown();
                    for (long n = 0; n < 100_000_000; n++) {
                        try {
                            gen.next();
                            block.nextUuid();
                            gen.many(50);
                        } catch (FirnException error) {
                            return error.code() == Code.USAGE ? n : -1;
                        }
                    }
                    return -1L;
                }));
            }
            running.await();
            gen.close();
            for (Future<Long> call : calls) {
                Check.that(call.get(60, TimeUnit.SECONDS) >= 0);
            }
            threads.shutdown();
        }
    }

    private static void renewal() throws Exception {
        try (Generator gen = Generator.of("snowflake").store(store()).unsafe(true).set("window", "50ms").set("full", "wait").open()) {
            long last = 0;
            long limit = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
            while (gen.status().renewals() < 3 && System.nanoTime() < limit) {
                long id = gen.nextLong();
                Check.that(id > last);
                last = id;
                Thread.sleep(5);
            }
            Check.that(gen.status().renewals() >= 3);
        }
        try (Generator gen = memory("snowflake").set("window", "50ms").set("full", "wait").open()) {
            Check.fails(Code.WINDOW, () -> gen.longs(300000)); // a window has 204800: the call is tried again, with an end
            Check.that(gen.nextLong() > 0);
        }
        dev.firn.Inside.waitsForRenewer(memory("snowflake").set("window", "50ms").open());
        dev.firn.Inside.failedRenewalIsThrown();
    }

    private static void storeFails() throws Exception {
        Path file = Path.of(store().substring("sqlite:".length()));
        Path away = file.resolveSibling("away");
        long limit = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        try (Generator gen = Generator.of("snowflake").store("sqlite:" + file).unsafe(true).set("window", "200ms").open()) {
            long last = gen.nextLong();
            Files.move(file, away);
            FirnException error = null;
            for (; error == null && System.nanoTime() < limit; Thread.sleep(1)) {
                try {
                    last = gen.nextLong();
                } catch (FirnException caught) {
                    error = caught;
                }
            }
            Check.that(error != null && error.getMessage().contains(file.toString()) && error.getCause() instanceof FirnException);
            Files.deleteIfExists(file);
            Files.move(away, file);
            for (boolean back = false; !back; Thread.sleep(1)) {
                try {
                    back = gen.nextLong() > last;
                } catch (FirnException caught) {
                    Check.that(System.nanoTime() < limit);
                }
            }
        }
    }

    private static void threads() throws Exception {
        String url = store();
        for (Options<Generator> options : List.of(Generator.of("snowflake").store(url).unsafe(true).set("full", "wait"), Generator.of("uuid7"))) {
            try (Generator gen = options.open()) {
                boolean wide = gen.scheme().bits() > 64;
                Callable<List<String>> task = () -> {
                    List<String> ids = new ArrayList<>();
                    Block block = gen.block();
                    gen.many(500).forEach(id -> ids.add(id.toString()));
                    for (int i = 0; i < 1000; i++) {
                        ids.add(gen.next().toString());
                        ids.add(wide ? block.nextUuid().toString() : Long.toString(block.nextLong()));
                        if (i % 250 == 0) {
                            System.gc();
                        }
                    }
                    return ids; // without closing the block
                };
                ExecutorService threads = Executors.newFixedThreadPool(4);
                List<String> all = new ArrayList<>();
                for (Future<List<String>> part : threads.invokeAll(Collections.nCopies(8, task))) {
                    all.addAll(part.get());
                }
                threads.shutdown();
                Check.same(8 * 2500, all.size());
                Check.same(all.size(), new HashSet<>(all).size());
                all.add(all.get(7));
                Check.that(new HashSet<>(all).size() < all.size()); // what this would find
            }
        }
    }

    /** Another process holds the store for longer than a window, so all callers wait; other virtual threads run at that time. */
    private static void virtualThreads() throws Exception {
        ExecutorService threads = (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        String url = store();
        String hold = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1], isolation_level=None); db.execute('BEGIN EXCLUSIVE'); "
                + "print('held', flush=True); sys.stdin.read()";
        AtomicBoolean back = new AtomicBoolean();
        AtomicInteger issued = new AtomicInteger();
        try (Generator gen = Generator.of("snowflake").store(url).unsafe(true).set("window", "200ms").set("full", "wait").set("max_wait", "60s")
                .open()) {
            Callable<List<Long>> task = () -> {
                List<Long> ids = new ArrayList<>();
                while (!back.get()) {
                    ids.add(gen.nextLong());
                    issued.incrementAndGet();
                    Thread.sleep(1);
                }
                return ids;
            };
            gen.nextLong();
            List<Future<List<Long>>> parts = new ArrayList<>();
            for (int i = 0; i < 64; i++) {
                parts.add(threads.submit(task));
            }
            Process holder = new ProcessBuilder("python3", "-c", hold, url.substring("sqlite:".length())).start();
            Check.that(holder.getInputStream().read() == 'h');
            for (int before = -1; before != issued.get();) {
                before = issued.get();
                Thread.sleep(500);
                threads.submit(() -> 1).get(30, TimeUnit.SECONDS); // not if each carrier is held
            }
            back.set(true);
            holder.getOutputStream().close();
            List<Long> all = new ArrayList<>();
            for (Future<List<Long>> part : parts) {
                all.addAll(part.get());
            }
            threads.shutdown();
            Check.that(all.size() >= 64);
            Check.same(all.size(), new HashSet<>(all).size());
        }
    }

    /** KiB of the pages that a fork wipes: the pages of generators and blocks. */
    private static long wipedKib() throws Exception {
        long size = 0;
        long sum = 0;
        for (String line : Files.readAllLines(Path.of("/proc/self/smaps"))) {
            if (line.startsWith("Size:")) {
                size = Long.parseLong(line.replaceAll("[^0-9]", ""));
            } else if (line.startsWith("VmFlags:") && line.contains(" wf")) {
                sum += size;
            }
        }
        return sum;
    }

    private static void leaked() throws Exception {
        Generator[] all = new Generator[10000];
        long before = wipedKib();
        Set<UUID> ids = new HashSet<>();
        for (int i = 0; i < all.length; i++) {
            all[i] = Generator.of("uuid7").open();
            ids.add(all[i].nextUuid());
            Block block = all[i].block();
            ids.add(block.nextUuid());
        }
        Check.same(20000, ids.size());
        long most = wipedKib() - before;
        Check.that(most > 40000); // each has its own memory
        Arrays.fill(all, null);
        long limit = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (wipedKib() - before > most / 100 && System.nanoTime() < limit) {
            System.gc();
            Thread.sleep(20);
        }
        Check.that(wipedKib() - before <= most / 100);
    }

    private static void renewersEnd() throws Exception {
        Generator open = memory("snowflake").open();
        memory("snowflake").open(); // leaks
        long limit = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (renewers() > 1 && System.nanoTime() < limit) {
            System.gc();
            Thread.sleep(20);
        }
        Check.same(1L, renewers());
        open.close();
        while (renewers() > 0 && System.nanoTime() < limit) {
            Thread.sleep(5);
        }
        Check.same(0L, renewers());
    }

    private static long renewers() {
        return Thread.getAllStackTraces().keySet().stream().filter(thread -> thread.getName().startsWith("firn-renewer")).count();
    }

    private static void processes() throws Exception {
        String url = store();
        Process child = child("child", url, 3);
        List<String> ids;
        try (Generator gen = Generator.of("snowflake").store(url).unsafe(true).set("full", "wait").open()) {
            Set<Long> seen = new HashSet<>();
            ids = new String(child.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8).lines().collect(Collectors.toList());
            for (long id : gen.longs(3000)) {
                seen.add(id);
            }
            Check.same(3, child.waitFor());
            Check.same(3000, ids.size());
            ids.forEach(id -> Check.that(seen.add(Long.parseLong(id))));
        }
    }

    /** A JVM that runs {@link #main} with these arguments. */
    private static Process child(String task, String url, int status) throws Exception {
        List<String> command = List.of(ProcessHandle.current().info().command().orElseThrow(), "-Xshare:auto", "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC", "-Dfirn.folder=" + System.getProperty("firn.folder"), "-cp", System.getProperty("java.class.path"), "FirnTest",
            task, url, Integer.toString(status));
        return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    /** Issues IDs of a job, and is killed. */
    private static void halfOfJob(String url) throws Exception {
        Job job = jobOn(url).open();
        jobIds(job, 1001).forEach(System.out::println);
        System.out.flush();
        new ProcessBuilder("kill", "-9", Long.toString(ProcessHandle.current().pid())).start().waitFor();
        Thread.sleep(Long.MAX_VALUE);
    }

    /** Issues IDs, and ends with the generator, a block and its own thread in use. */
    private static void child(String url, int status) {
        Generator gen = Generator.of("snowflake").store(url).unsafe(true).set("full", "wait").open();
        Block block = gen.block();
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < 1500; i++) {
            out.append(gen.nextLong()).append('\n').append(block.nextLong()).append('\n');
        }
        System.out.print(out);
        System.out.flush();
        Generator other = Generator.of("uuid7").open();
        Thread busy = new Thread(() -> {
            while (true) {
                other.next();
            }
        });
        busy.setDaemon(true);
        busy.start();
        System.exit(status);
    }
}
