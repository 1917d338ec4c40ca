// SPDX-License-Identifier: MIT
import java.io.IOException;
import java.io.InputStream;
import java.lang.module.Configuration;
import java.lang.module.ModuleFinder;
import java.lang.ref.WeakReference;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** The jar in its own class loaders, as application servers do it. */
final class Loaders {
    private Loaders() {
    }

    /** Loads all classes of the jar again; with another version in Native, if there is one. */
    private static final class Own extends URLClassLoader {
        private final byte[] version;

        Own(String version) throws IOException {
            super(new URL[] {Path.of(System.getProperty("firn.jar")).toUri().toURL()}, ClassLoader.getPlatformClassLoader());
            this.version = version == null ? null : version.getBytes(StandardCharsets.UTF_8);
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            if (version == null || !name.equals("dev.firn.Native")) {
                return super.findClass(name);
            }
            try (InputStream in = getResourceAsStream("dev/firn/Native.class")) {
                byte[] code = in.readAllBytes();
                byte[] old = "0.1.0".getBytes(StandardCharsets.UTF_8);
                int changed = 0;
                for (int i = 0; i + old.length <= code.length; i++) {
                    if (Arrays.equals(code, i, i + old.length, old, 0, old.length)) {
                        System.arraycopy(version, 0, code, i, version.length);
                        changed++;
                    }
                }
                Check.that(changed > 0);
                return defineClass(name, code, 0, code.length);
            } catch (IOException error) {
                throw new ClassNotFoundException(name, error);
            }
        }
    }

    private static Object generator(ClassLoader loader, String store) throws Exception {
        Class<?> type = loader.loadClass("dev.firn.Generator");
        Class<?> options = loader.loadClass("dev.firn.Options");
        Object made = type.getMethod("of", String.class).invoke(null, "snowflake");
        options.getMethod("store", String.class).invoke(made, store);
        return options.getMethod("open").invoke(made);
    }

    static void module() throws Exception {
        ModuleFinder jar = ModuleFinder.of(Path.of(System.getProperty("firn.jar")));
        Configuration resolved = ModuleLayer.boot().configuration().resolve(jar, ModuleFinder.of(), Set.of("dev.firn"));
        ModuleLayer layer = ModuleLayer.boot().defineModulesWithOneLoader(resolved, ClassLoader.getPlatformClassLoader());
        try (AutoCloseable gen = (AutoCloseable) generator(layer.findLoader("dev.firn"), "memory:")) {
            Check.same("dev.firn", gen.getClass().getModule().getName());
            Check.that((Long) gen.getClass().getMethod("nextLong").invoke(gen) > 0);
        }
    }

    /** -> a loader that nothing refers to any more; its generator leaks, or is closed. */
    private static WeakReference<ClassLoader> used(Set<Long> ids, String store, boolean closes) throws Exception {
        try (Own loader = new Own(null)) {
            Object gen = generator(loader, store);
            for (int i = 0; i < 100; i++) {
                Check.that(ids.add((Long) gen.getClass().getMethod("nextLong").invoke(gen)));
            }
            if (closes) {
                gen.getClass().getMethod("close").invoke(gen);
            }
            return new WeakReference<>(loader);
        }
    }

    static void reload() throws Exception {
        String store = FirnTest.store() + "?unsafe=1";
        Set<Long> ids = new HashSet<>();
        for (boolean closes : new boolean[] {true, false, true}) {
            WeakReference<ClassLoader> loader = used(ids, store, closes);
            long limit = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
            while (loader.get() != null && System.nanoTime() < limit) {
                System.gc();
                Thread.sleep(20);
            }
            Check.that(loader.get() == null);
        }
        Check.same(300, ids.size());
    }

    private static String refusal(String version, String property) throws Exception {
        if (property != null) {
            System.setProperty("firn.library", property);
        }
        try (Own loader = new Own(version)) {
            Throwable error = Check.throwsA(InvocationTargetException.class, () -> generator(loader, "memory:")).getCause();
            Check.that(error instanceof LinkageError);
            return error.getMessage();
        } finally {
            System.clearProperty("firn.library");
        }
    }

    static void otherVersion() throws Exception {
        String message = refusal("9.9.9", null);
        Check.that(message.contains("9.9.9") && message.contains("install them from one release"));
    }

    static void missing() throws Exception {
        Check.that(refusal(null, "/nowhere/libfirnjni.so").contains("/nowhere/libfirnjni.so"));
    }
}
