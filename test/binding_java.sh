# SPDX-License-Identifier: MIT
# The package for Java: built as `./run bindings` does, put to its own tests with -Xcheck:jni, and these again under the
# address sanitizer. The examples of its README are compiled and run. Few JVMs start: each takes a second of a slow core.
. test/tap
jars=
for name in jackson-databind jackson-core jackson-annotations spring3-context spring3-core spring3-beans spring3-aop spring3-expression \
    commons-logging postgresql; do
    [ -f "/usr/share/java/$name.jar" ] || lacking="${lacking:-} $name.jar"
    jars=$jars:/usr/share/java/$name.jar
done
packages="default-jdk-headless, libjackson2-databind-java, libspring-context-java or libpostgresql-jdbc-java"
if ! command -v javac >/dev/null || [ -n "${lacking:-}" ]; then
    [ "${CI:-}" != true ] || fail "the packages for Java are installed" "$packages"
    skip "the package for Java" "$packages is missing"
    finish
fi
case $BUILD in /*) built=$BUILD ;; *) built=$PWD/$BUILD ;; esac
check "the jar is built" env CFLAGS='-Wconversion -pedantic -Werror' \
    JAVACFLAGS='-Xlint:all -Xdoclint:all/protected -Werror' bindings/build java
there=$built/bindings/java
version=$(sed -n 's/^#define FIRN_VERSION "\(.*\)".*/\1/p' include/firn/firn.h)
jar=$there/firn-$version.jar
same "the package has the version of the library" "$version $version" \
    "$(sed -n 's/.*String VERSION = "\(.*\)";/\1/p' bindings/java/src/dev/firn/Native.java) $(sed -n 's:^  <version>\(.*\)</version>:\1:p' "$there/pom.xml")"
same "every error code of firn.h is in the enum" "$(sed -nE 's/^ *X\(([A-Z]+), (-[0-9]+),.*/\1(\2)/p' include/firn/firn.h)" \
    "$(sed -nE 's/^    ([A-Z]+\(-[0-9]+\))[,;]$/\1/p' "$there/src/dev/firn/Code.java")"

# The ```java blocks of the README and of the guide, each into the file that its first line names. Without @Configuration, because Debian's
# Spring 4.3 cannot subclass a class (its asm is too new); Spring takes the beans of the class anyway.
mkdir "$TMPDIR/examples" "$TMPDIR/classes"
awk -v out="$TMPDIR/examples" '
    /^```java$/ { getline; file = out "/" $2; next }
    /^```/ { file = ""; next }
    /^@Configuration$/ { next }
    file != "" { gsub("/var/lib/app/", ENVIRON["TMPDIR"] "/"); print >file }' bindings/java/README.md docs/guides/languages.md
quick='-XX:TieredStopAtLevel=1 -XX:+UseSerialGC'
# shellcheck disable=SC2046,SC2086 # names and flags without blanks
check "the tests and the examples of the README are compiled" javac $(printf -- '-J%s ' $quick) -encoding UTF-8 -Xlint:all,-try,-classfile,-serial,-processing,-path -Werror \
    -d "$TMPDIR/classes" -cp "$jar$jars" $(find bindings/java/test "$TMPDIR/examples" -name '*.java')

url=
if ENGINE_OWNER=$$ test/engine start postgres "$TMPDIR/postgres" >"$TMPDIR/url" 2>/dev/null; then
    trap 'ENGINE_OWNER=$$ test/engine stop "$TMPDIR/postgres"' EXIT
    url=$(sed 's|^postgres://\([^@]*\)@\(.*\)|jdbc:postgresql://\2?user=\1|' "$TMPDIR/url")
else
    skip "the example for JDBC" "PostgreSQL is missing"
fi

# tried SENTENCE FOLDER_OF_LIBFIRN [VARIABLE=VALUE...]
tried() {
    sentence=$1 library=$2
    shift 2
    rm -rf "$TMPDIR/own"
    mkdir "$TMPDIR/own"
    # shellcheck disable=SC2086 # flags
    env LD_LIBRARY_PATH="$library" "$@" timeout 600 java $quick -Xcheck:jni -Xmx400m --add-opens java.base/java.lang=ALL-UNNAMED \
        -Djava.io.tmpdir="$TMPDIR/own" -Dfirn.spec=spec -Dfirn.folder="$TMPDIR/own" -Dfirn.jar="$jar" ${url:+-Dfirn.jdbc="$url"} \
        -cp "$TMPDIR/classes:$jar$jars" FirnTest >"$TMPDIR/log" 2>&1
    status=$?
    if [ $status = 0 ] && ! grep -qE '^not ok|WARNING in native|FATAL ERROR in native|AddressSanitizer|runtime error:' "$TMPDIR/log"; then
        pass "$sentence: $(grep -c '^ok' "$TMPDIR/log") tests"
    else
        fail "$sentence" "$(echo "status $status"; grep -v '^ok' "$TMPDIR/log" | tail -n 60)"
    fi
    same "$sentence: no copy of the library is left" "" "$(find "$TMPDIR/own" -name '*.so')"
}
tried "the package works" "$built"
asan=$(cc -print-file-name=libasan.so)
if [ -f "$built-address/libfirn.so" ] && [ -f "$asan" ]; then
    home=$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")
    mkdir "$TMPDIR/sanitized"
    check "the native part is built with the sanitizers" cc -std=gnu17 -O1 -g -fsanitize=address,undefined -shared -fPIC \
        -I"$home/include" -I"$home/include/linux" -Iinclude bindings/java/native/*.c -o "$TMPDIR/sanitized/libfirnjni.so" \
        -L"$built-address" -lfirn
    # check_printf=0: while it starts with -Xcheck:jni, Java 17 itself prints a text that it has freed.
    tried "under the address sanitizer" "$built-address" LD_PRELOAD="$asan" ASAN_OPTIONS=detect_leaks=0:handle_segv=0:check_printf=0 \
        UBSAN_OPTIONS=print_stacktrace=1 JDK_JAVA_OPTIONS=-Djava.library.path="$TMPDIR/sanitized"
else
    skip "under the address sanitizer" "$built-address is not built"
fi
finish
