// SPDX-License-Identifier: MIT
// java.util.UUID and java-uuid-generator, asked by check.py.
import com.fasterxml.uuid.Generators;
import com.fasterxml.uuid.impl.NameBasedGenerator;
import com.fasterxml.uuid.impl.UUIDUtil;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Map;
import java.util.UUID;

class Packages {
    static final Map<String, Integer> VERSIONS = Map.of("uuid1", 1, "uuid3", 3, "uuid4", 4, "uuid5", 5, "uuid6", 6,
        "uuid7", 7, "uuid8", 8, "nil", 0, "max", 15);
    static final String SCHEMES = "uuid1,uuid3,uuid4,uuid5,uuid6,uuid7,uuid8,nil,max";

    static String read(UUID id, String scheme) {
        boolean special = scheme.equals("nil") || scheme.equals("max");
        if (id.version() != VERSIONS.get(scheme) || !special && id.variant() != 2) {
            throw new IllegalArgumentException("version or variant");
        }
        return "%016x%016x".formatted(id.getMostSignificantBits(), id.getLeastSignificantBits());
    }

    static UUID of(byte[] bytes) {
        return new UUID(ByteBuffer.wrap(bytes).getLong(), ByteBuffer.wrap(bytes).getLong(8));
    }

    static String answer(String name, String op, String scheme, String[] args) throws Exception {
        boolean jdk = name.equals("java.util.UUID");
        HexFormat hex = HexFormat.of();
        switch (op) {
        case "read":
            return read(jdk ? UUID.fromString(args[0]) : UUIDUtil.uuid(args[0]), scheme);
        case "write":
            return (jdk ? of(hex.parseHex(args[0])) : UUIDUtil.uuid(hex.parseHex(args[0]))).toString();
        case "time":
            return jdk && scheme.equals("uuid1")
                ? Long.toString(Math.floorDiv(UUID.fromString(args[0]).timestamp() - 0x01B21DD213814000L, 10000L)) : "-";
        case "digest":
            if (jdk) {
                return "-"; // nameUUIDFromBytes takes no namespace
            }
            MessageDigest digest = MessageDigest.getInstance(scheme.equals("uuid3") ? "MD5" : "SHA-1");
            return Generators.nameBasedGenerator(UUID.fromString(args[1]), digest).generate(hex.parseHex(args[0])).toString();
        default:
            return "-";
        }
    }

    public static void main(String[] argv) throws Exception {
        System.out.println("java.util.UUID|" + Runtime.version().feature() + "|" + SCHEMES + "\tjava-uuid-generator|" + argv[0] +
            "|" + SCHEMES);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = in.readLine()) != null;) {
            String[] words = line.split("\t", -1);
            String[] args = new String[words.length - 3];
            for (int i = 0; i < args.length; i++) {
                args[i] = new String(HexFormat.of().parseHex(words[i + 3]), StandardCharsets.UTF_8);
            }
            try {
                System.out.println(answer(words[0], words[1], words[2], args));
            } catch (RuntimeException error) {
                System.out.println("!" + String.valueOf(error.getMessage()).replace('\n', ' '));
            }
        }
    }
}
