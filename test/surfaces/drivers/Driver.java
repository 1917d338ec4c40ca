// SPDX-License-Identifier: MIT
import dev.firn.Firn;
import dev.firn.FirnException;
import dev.firn.Generator;
import dev.firn.Id;
import dev.firn.Scheme;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Answers the requests of test/surfaces/compare.py with the package for Java: see class Program in surfaces.py. */
final class Driver {
    private static String written(Id id, String form) {
        return form == null ? id.toString() : id.format(form);
    }

    private static List<String> shown(Id id) {
        return List.of(id.scheme().name(), id.toString(), id.show().timeText());
    }

    private static List<String> answer(String verb, String name, Map<String, String> settings, Map<String, String> fields) {
        String as = settings.get("as");
        String from = settings.get("from");
        String to = settings.get("to");
        String of = settings.get("scheme");
        Map<String, String> options = new HashMap<>(settings);
        options.keySet().retainAll(List.of("epoch", "bits", "digits"));
        if (fields.containsKey("prefix") && !Scheme.of(name, options).layout().contains("prefix:")) {
            options.put("prefix", fields.remove("prefix"));
        }
        switch (verb) {
            case "pack":
                return List.of(written(Scheme.of(name, options).pack(fields), as));
            case "span":
                Scheme.Range range = Scheme.of(name, options).range(Instant.parse(from), Instant.parse(to), fields);
                return List.of(written(range.least(), as), written(range.greatest(), as));
            case "show":
                return of != null ? shown(Scheme.of(of, options).parse(name, from))
                    : Firn.guess(name).stream().limit(1).flatMap(best -> shown(best.id()).stream()).toList();
            case "convert":
                Id id = Scheme.of(of).parse(name, from);
                return List.of(Firn.forms().contains(to) ? id.format(to) : id.convert(Scheme.of(to)).toString());
            case "schemes":
                Scheme scheme = Scheme.of(name, options);
                return List.of(scheme.layout(), String.valueOf(scheme.bits()), scheme.form());
            case "digest":
                return List.of(Scheme.of(name).digest(settings.get("namespace"), settings.get("name")).toString());
            default:
                try (Generator gen = Generator.of(name).open()) {
                    return List.of(gen.next().toString());
                }
        }
    }

    public static void main(String[] args) throws Exception {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (String line : new String(System.in.readAllBytes(), StandardCharsets.UTF_8).split("\n")) {
            String[] words = line.split("\t", -1);
            Map<String, String> settings = new LinkedHashMap<>();
            Map<String, String> fields = new LinkedHashMap<>();
            Map<String, String> kept = settings;
            for (int i = 2; i < words.length; i++) {
                if (words[i].isEmpty()) {
                    kept = fields;
                } else {
                    String[] pair = words[i].split("=", 2);
                    kept.put(pair[0], pair[1]);
                }
            }
            try {
                out.println("good\t" + String.join("\t", answer(words[0], words[1], settings, fields)));
            } catch (FirnException error) {
                out.println("bad\t" + error.code() + "\t" + error.getMessage());
            }
        }
        out.flush();
    }
}
