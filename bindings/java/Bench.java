// SPDX-License-Identifier: MIT
// ns per ID, call and loop included, the minimum of 60 rounds: nextLong(), a block, an array, and what Java has itself. Run:
// java -cp build/bindings/java/firn-0.1.0.jar[:/usr/share/java/java-uuid-generator.jar] bindings/java/Bench.java
import dev.firn.Block;
import dev.firn.Generator;
import java.util.UUID;
import java.util.function.LongSupplier;

class Bench {
    private static final int COUNT = 20000;
    private static long sink;

    private static double least(int count, LongSupplier call) throws InterruptedException {
        long best = Long.MAX_VALUE;
        for (int round = 0; round < 60; round++) {
            long start = System.nanoTime();
            for (int i = 0; i < count; i++) {
                sink += call.getAsLong();
            }
            best = Math.min(best, System.nanoTime() - start);
            Thread.sleep(20); // the layout has 4096 IDs per ms and node
        }
        return (double) best / COUNT;
    }

    private static double timeBased() throws Exception {
        Object[] generator = {null};
        try {
            generator[0] = Class.forName("com.fasterxml.uuid.Generators").getMethod("timeBasedGenerator").invoke(null);
        } catch (ClassNotFoundException error) {
            return Double.NaN;
        }
        java.lang.invoke.MethodHandle handle = java.lang.invoke.MethodHandles.lookup().unreflect(generator[0].getClass().getMethod("generate"))
            .bindTo(generator[0]).asType(java.lang.invoke.MethodType.methodType(UUID.class));
        return least(COUNT, () -> {
            try {
                return ((UUID) handle.invokeExact()).getLeastSignificantBits();
            } catch (Throwable error) {
                throw new AssertionError(error);
            }
        });
    }

    public static void main(String[] args) throws Exception {
        try (Generator gen = Generator.of("snowflake").store("memory:").set("nodes", 16).open(); Block block = gen.block();
             Generator uuids = Generator.of("uuid7").open(); Block uuidBlock = uuids.block()) {
            System.out.printf("snowflake: next %.1f, block %.1f, array %.2f%n", least(COUNT, gen::nextLong), least(COUNT, block::nextLong),
                least(1, () -> gen.longs(COUNT)[0]));
            System.out.printf("uuid7: next %.1f, block %.1f; UUID.randomUUID %.1f; java-uuid-generator v1 %.1f; System.nanoTime %.1f%n",
                least(COUNT, () -> uuids.nextUuid().getLeastSignificantBits()), least(COUNT, () -> uuidBlock.nextUuid().getLeastSignificantBits()),
                least(COUNT, () -> UUID.randomUUID().getLeastSignificantBits()), timeBased(), least(COUNT, System::nanoTime));
        }
    }
}
