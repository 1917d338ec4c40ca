// SPDX-License-Identifier: MIT
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.firn.Firn;
import dev.firn.FirnException;
import dev.firn.Id;
import dev.firn.OrderNumbers;
import dev.firn.Scheme;
import java.math.BigInteger;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/** Every case of spec/: spec/README.md. */
@SuppressWarnings("unchecked")
final class Spec {
    private static int count;

    private Spec() {
    }

    static void run() throws Exception {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(Path.of(System.getProperty("firn.spec")), "*.json")) {
            for (Path path : files) {
                Map<String, Object> file = new ObjectMapper().readValue(path.toFile(), Map.class);
                for (Map<String, Object> one : cases(file, "valid")) {
                    valid(file, one);
                }
                for (Map<String, Object> one : cases(file, "invalid")) {
                    Check.throwsA(FirnException.class, () -> invalid(file, one));
                }
                others(file);
            }
        }
        Check.that(count > 2600);
    }

    private static List<Map<String, Object>> cases(Map<String, Object> file, String group) {
        List<Map<String, Object>> cases = (List<Map<String, Object>>) file.getOrDefault(group, List.of());
        count += cases.size();
        return cases;
    }

    private static Scheme scheme(Map<String, Object> file, Map<String, Object> one) {
        String name = (String) file.get("scheme");
        String layout = (String) one.get("layout");
        for (int digits = 1; layout != null && name.equals("time-random") && digits <= 18; digits++) {
            Scheme with = Scheme.of(name, Map.of("digits", digits));
            if (with.layout().equals(layout)) {
                return with;
            }
        }
        return Scheme.of(layout != null ? layout : name);
    }

    private static String form(Map<String, Object> file, Map<String, Object> one) {
        return (String) one.getOrDefault("form", file.get("form"));
    }

    private static void valid(Map<String, Object> file, Map<String, Object> one) {
        String form = form(file, one);
        String text = (String) one.get("text");
        int prefix = form.equals("typeid") ? text.lastIndexOf('_') : -1;
        Scheme scheme = prefix < 0 ? scheme(file, one) : Scheme.of("typeid", Map.of("prefix", text.substring(0, prefix)));
        Id id = scheme.pack((Map<String, ?>) one.get("fields"));
        Check.same(text, id.format(form));
        Check.same(one.get("bytes"), HexFormat.of().formatHex(id.toBytes()));
        Check.same(id, scheme.id(id.toBytes()));
        Check.same(id, scheme.parse(text, form));
        Check.same(id, scheme.parse((String) one.getOrDefault("also", text), form));
        if (one.containsKey("tick")) {
            Check.same(one.get("tick"), id.show().fields().get("time"));
        }
        Map<String, Object> fields = (Map<String, Object>) one.get("fields");
        for (Map.Entry<String, String> field : id.show().fields().entrySet()) {
            Object given = fields.get(field.getKey());
            if (!field.getKey().equals("time") && given != null && ((String) given).matches("\\d+") && field.getValue().matches("\\d+")) {
                Check.same(new BigInteger((String) given), new BigInteger(field.getValue()));
            }
        }
    }

    private static void invalid(Map<String, Object> file, Map<String, Object> one) {
        Scheme scheme = scheme(file, one);
        if (one.containsKey("fields")) {
            scheme.pack((Map<String, ?>) one.get("fields")).format(form(file, one));
        } else {
            scheme.parse((String) one.get("text"), form(file, one));
        }
    }

    private static void others(Map<String, Object> file) {
        for (Map<String, Object> one : cases(file, "ranges")) {
            Scheme.Range range = Scheme.of((String) file.get("scheme"))
                .range(Instant.parse((String) one.get("from")), Instant.parse((String) one.get("to")));
            Check.same(List.of(one.get("least"), one.get("greatest")), List.of(range.least().toString(), range.greatest().toString()));
        }
        if (file.containsKey("pairs")) {
            for (Object one : (List<Object>) file.get("pairs")) {
                pair(Scheme.of((String) file.get("scheme")), one);
            }
        }
        List<String> kinds = List.of("uuid1", "uuid6", "uuid1-swapped");
        for (Map<String, Object> one : cases(file, "convert")) {
            for (String from : kinds) {
                for (String to : kinds) {
                    if (one.containsKey(from) && one.containsKey(to)) {
                        Check.same(one.get(to), Scheme.of(from).parse((String) one.get(from)).convert(Scheme.of(to)).toString());
                    }
                }
            }
        }
        for (Map<String, Object> one : cases(file, "digest")) {
            byte[] name = HexFormat.of().parseHex((String) one.get("name_hex"));
            for (String version : List.of("uuid3", "uuid5")) {
                Check.same(one.get(version), Scheme.of(version).digest((String) one.get("namespace"), name).toString());
            }
        }
        for (Map<String, Object> one : cases(file, "guess")) {
            List<Firn.Reading> readings = Firn.guess((String) one.get("text"));
            Check.same(String.valueOf(one.get("scheme")), readings.isEmpty() ? "null" : readings.get(0).id().scheme().name());
        }
        for (Map<String, Object> one : cases(file, "order")) {
            order(one);
        }
    }

    private static void pair(Scheme scheme, Object one) {
        List<String> texts = one instanceof List ? (List<String>) one : List.copyOf(((Map<String, String>) one).values());
        count++;
        Check.that(scheme.parse(texts.get(0)).compareTo(scheme.parse(texts.get(1))) < 0);
    }

    private static void order(Map<String, Object> one) {
        dev.firn.Options<OrderNumbers> options = OrderNumbers.of(HexFormat.of().parseHex((String) one.get("key")));
        for (String key : List.of("digits", "check", "key_id", "tweak")) {
            String value = one.get(key) == null ? "" : one.get(key) instanceof Boolean b ? b ? "1" : "0" : one.get(key).toString();
            if (!value.isEmpty()) {
                options.set(key, value);
            }
        }
        try (OrderNumbers orders = options.open()) {
            Check.same(one.get("text"), orders.write(Long.parseUnsignedLong(one.get("integer").toString())));
            Check.same(one.get("integer").toString(), Long.toUnsignedString(orders.read((String) one.get("text"))));
        }
    }
}
