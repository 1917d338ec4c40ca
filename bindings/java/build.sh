# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154 # bindings/build runs this and sets $there
# The jar, with libfirnjni in it, and a jar of the sources. The same sources give the same bytes.
javac=$(command -v javac) || skipped "default-jdk-headless"
home=$(dirname "$(dirname "$(readlink -f "$javac")")")
[ -f "$home/include/jni.h" ] || skipped "default-jdk-headless"
version=$(sed -n 's/^#define FIRN_VERSION "\(.*\)".*/\1/p' include/firn/firn.h)
arch=$(uname -m)
[ "$arch" != x86_64 ] || arch=amd64 # as Java calls it
native=$there/classes/META-INF/native/linux-$arch
mkdir -p "$native"
# shellcheck disable=SC2086 # flags
${CC:-cc} -std=gnu17 -O2 -Wall -Wextra ${CFLAGS:-} -shared -fPIC -fvisibility=hidden -I"$home/include" \
    -I"$home/include/linux" -Iinclude bindings/java/native/*.c -o "$native/libfirnjni.so" $link
cp -r bindings/java/src bindings/java/pom.xml "$there"
awk -v out="$there/src/dev/firn" -f bindings/java/enums.awk include/firn/firn.h
quick='-J-XX:TieredStopAtLevel=1 -J-XX:+UseSerialGC' # these programs run for a second or two
# shellcheck disable=SC2046,SC2086 # names without blanks
javac $quick --release 17 -encoding UTF-8 ${JAVACFLAGS:-} -d "$there/classes" \
    $(find "$there/src" -name '*.java' | sort)
# pack JAR FOLDER: files in a fixed order, with a fixed time.
pack() {
    (cd "$2" && find . -type f | sed 's|^\./||' | LC_ALL=C sort >"$there/list" &&
        # shellcheck disable=SC2086 # flags
        jar $quick --create --file "$1" --date=2020-01-01T00:00:00Z "@$there/list")
    rm "$there/list"
}
pack "$there/firn-$version.jar" "$there/classes"
pack "$there/firn-$version-sources.jar" "$there/src"
echo "firn: java: $there/firn-$version.jar"
