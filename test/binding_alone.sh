# SPDX-License-Identifier: MIT
# The packages that contain libfirn: each is built as `./run bindings` does, and its first program runs in an empty environment, which
# has the package and nothing else of firn. No file of a package needs another library than glibc.
. test/tap
case $BUILD in /*) built=$BUILD ;; *) built=$PWD/$BUILD ;; esac
unset LD_LIBRARY_PATH FIRN_STORE FIRN_LIB FIRN_INCLUDE
mkdir "$TMPDIR/own"
there=$TMPDIR/own/packages
# Nothing of this machine's firn: neither its variables nor a library that the linker finds.
empty() {
    env -i PATH="$PATH" HOME="$TMPDIR/home" TMPDIR="$TMPDIR" "$@"
}
mkdir "$TMPDIR/home"
store="sqlite:$TMPDIR/ids.db?unsafe=1"
# package LANGUAGE...: builds packages; false: none is there
package() {
    if env BUILD="$TMPDIR/own" bindings/build --alone "$@" >"$TMPDIR/log" 2>&1; then
        pass "$*: the package is built"
        ! grep 'is skipped' "$TMPDIR/log" >"$TMPDIR/skipped" || {
            [ "${CI:-}" != true ] || fail "$*: what its package needs is installed" "$(cat "$TMPDIR/skipped")"
            skip "$*: the package alone" "$(sed 's/.*is skipped: //' "$TMPDIR/skipped")"
            return 1
        }
    else
        fail "$*: the package is built" "$(tail -n 40 "$TMPDIR/log")"
        return 1
    fi
}
# needs_glibc WHAT FILE: no other library, but gcc's for Rust
needs_glibc() {
    same "$1: no other library than glibc is needed" "" \
        "$(readelf -d "$2" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(lib(c|m|pthread|dl|gcc_s)|ld-linux.*)\.so')"
}
contained() {
    needs_glibc "$@"
    same "... and no function of firn or SQLite is shown" "" "$(nm -D --defined-only "$2" | awk '{ print $3 }' | grep -E '^(firn_|sqlite3|MD5|SHA)')"
}

python=/usr/bin/python3
[ -x $python ] || python=python3
if package python; then
    wheel=$(ls "$there"/python/*.whl)
    if $python -m venv "$TMPDIR/venv" >"$TMPDIR/log" 2>&1; then
        check "the wheel installs into an empty venv" empty "$TMPDIR/venv/bin/pip" install -q --no-index --disable-pip-version-check "$wheel"
        library=$(find "$TMPDIR/venv" -name '_firn.abi3.so')
        contained "the wheel" "$library"
        newest=$(readelf --dyn-syms -W "$library" | sed -n 's/.*@GLIBC_2\.\([0-9]*\).*/\1/p' | sort -n | tail -n 1)
        same "... its tag says the oldest glibc that has its symbols" "firn-0.1.0-cp39-abi3-manylinux_2_${newest}_$(uname -m).whl" "$(basename "$wheel")"
        same "... its first program runs" "UUID int 26" "$(empty "$TMPDIR/venv/bin/python" -I -c '
import sys, firn
with firn.open("snowflake", store=sys.argv[1]) as gen:
    print(type(firn.uuid7()).__name__, type(gen.next()).__name__, len(firn.ulid()))' "$store" 2>&1)"
        check "... a store that it does not contain is refused, with the place of its module" sh -c "$(cat <<'end'
env -i "$0" -I -c 'import firn; firn.open("snowflake", store="postgres://127.0.0.1:1/x").next()' 2>&1 | tee /dev/stderr |
    grep -qE 'the module for postgres is not installed in /usr/lib/.*/firn: install the package libfirn-store-postgres|cannot be reached'
end
)" "$TMPDIR/venv/bin/python"
        same "... segments, series, times, coroutines and order numbers too" "range(1, 4) 2026-001 3 13 0353106399" "$(empty "$TMPDIR/venv/bin/python" -I -c '
import asyncio, sys, firn
async def main():
    async with await firn.aopen("snowflake", store=sys.argv[1]) as gen:
        return {await gen.anext(), *await gen.amany(10), *await gen.aat("2026-01-06", 2)}
with firn.Segment("orders", store=sys.argv[1]) as a, firn.Series("bills", store=sys.argv[1], template="{year}-{counter:3}") as b:
    print(a.block(3), b.next("2026-01-06"), len(firn.decode(firn.open("uuid7").array(3), "uuid7")) // 8, len(asyncio.run(main())),
          firn.Order(bytes(range(16)), digits=10).write(12345))' "$store" 2>&1)"
    else
        lacks "the wheel in an empty venv" python3-venv
    fi
fi

if command -v node >/dev/null && [ -f /usr/include/node/node_api.h ]; then
    if package node; then
        tarball=$(ls "$there"/node/firn-*.tgz)
        mkdir "$TMPDIR/app"
        echo '{ "private": true }' >"$TMPDIR/app/package.json"
        cd "$TMPDIR/app" || exit 1
        if command -v npm >/dev/null; then
            check "the tarball installs into a new project, offline" empty npm install --offline --no-audit --no-fund "$tarball"
        else
            skip "the tarball installs into a new project, offline" "npm is missing"
            mkdir -p node_modules/firn && tar -xzf "$tarball" --strip-components 1 -C node_modules/firn
        fi
        contained "the addon" node_modules/firn/firn.node
        same "... the first program runs" "addon bigint 26 1" "$(empty node -e '
const firn = require("firn")
const gen = firn.open("snowflake", { store: process.argv[1] })
const segment = new firn.Segment("npm", { store: process.argv[1] })
console.log(firn.backend, typeof gen.next(), firn.ulid().length, Number(segment.next()))
gen.close()' "$store" 2>&1)"
        same "... as an ES module, too" "addon 36" "$(empty node --input-type=module -e '
import { backend, uuid7 } from "firn"
console.log(backend, uuid7().length)' 2>&1)"
        same "... require under browser conditions is WebAssembly" "wasm 36" \
            "$(empty node -C browser -e 'const firn = require("firn"); console.log(firn.backend, firn.uuid7().length)' 2>&1)"
        rm node_modules/firn/firn.node node_modules/firn/*.wasm
        same "... without the addon, and without a file of WebAssembly, its bytes are in the modules" "wasm 26" \
            "$(empty node -e 'const firn = require("firn"); console.log(firn.backend, firn.ulid().length)' 2>&1)"
        cd "$OLDPWD" || exit 1
    fi
else
    [ "${CI:-}" != true ] || fail "nodejs and libnode-dev are installed"
    skip "the package for npm" "nodejs or libnode-dev is missing"
fi

if package java; then
    jar=$(ls "$there"/java/firn-*[0-9].jar)
    mkdir "$TMPDIR/jar"
    cp "$jar" "$TMPDIR/jar/firn.jar"
    cat >"$TMPDIR/jar/First.java" <<'end'
import dev.firn.*;

public class First {
    public static void main(String[] words) {
        try (Generator gen = Generator.of("snowflake").store(words[0]).open(); Segment segment = Segment.of("jar").store(words[0]).open()) {
            System.out.println((gen.nextLong() > 0) + " " + segment.next() + " " + Generator.of("uuid7").open().next());
        }
    }
}
end
    cd "$TMPDIR/jar" || exit 1
    check "the library in the jar" sh -c 'jar -xf firn.jar && ls META-INF/native/linux-*/libfirnjni.so'
    contained "... its library" "$(ls META-INF/native/linux-*/libfirnjni.so)"
    rm -r META-INF dev module-info.class
    same "... the jar alone runs the first program" 1 \
        "$(empty java -XX:TieredStopAtLevel=1 -cp firn.jar First.java "$store" 2>&1 | grep -cE '^true 1 [0-9a-f-]{36}$')"
    same "... and leaves no copy of its library" "" "$(find "$TMPDIR" -name 'libfirnjni*.so' -not -path '*/own/*')"
    cd "$OLDPWD" || exit 1
fi

if package rust; then
    # Registries of Debian; the project and its home know nothing else.
    mkdir -p "$TMPDIR/crate/src/bin" "$TMPDIR/crate/.cargo"
    printf '[source.crates-io]\nreplace-with = "debian"\n[source.debian]\ndirectory = "/usr/share/cargo/registry"\n' >"$TMPDIR/crate/.cargo/config.toml"
    # samples PAGE: the lines of all its samples
    samples() { awk '/^```/ { inside = $0 == "```rust"; next } inside' "$1" | sed "s|/var/lib/app|$TMPDIR|"; }
    samples bindings/rust/README.md >"$TMPDIR/crate/src/main.rs"
    samples docs/guides/languages.md >"$TMPDIR/crate/src/bin/short.rs"
    # crate EDITION FOLDER: with the rustc and cargo of the folder, and $path of firn, below which are the lines in $patch
    crate() {
        printf '[package]\nname = "app"\nversion = "0.0.0"\nedition = "%s"\n[dependencies]\nfirn = { path = "%s", features = ["vendored"] }\n%s' \
            "$1" "$path" "$patch" >"$TMPDIR/crate/Cargo.toml"
        rm -f "$TMPDIR/crate/Cargo.lock"
        check "a new project of edition $1 is built, offline" env -C "$TMPDIR/crate" -u CARGO_TARGET_DIR CARGO_HOME="$TMPDIR/cargo" \
            RUSTC="$2/rustc" "$2/cargo" build -q --offline --target-dir "$TMPDIR/crate/target"
        same "... and the samples of the pages run, alone" "7 1" "$(empty "$TMPDIR/crate/target/debug/app" 2>&1 | wc -l) $(
            empty "$TMPDIR/crate/target/debug/short" 2>&1 | grep -cxE '[0-9]{19}')"
    }
    path=$there/rust patch=''
    if [ -x /usr/bin/cargo ] && [ -x /usr/bin/rustc ]; then crate 2021 /usr/bin; fi
    # The crates of a release, as the page says: cargo looks for firn-sys in the registry unless the project names its folder.
    for file in "$there"/rust/*.crate; do tar -xf "$file" -C "$TMPDIR"; done
    path=$(echo "$TMPDIR"/firn-[0-9]*) patch="$(sed -n '/^\[patch/,/^```/{/^```/!p}' bindings/rust/README.md | sed "s|PATH|$TMPDIR|")"
    # Not the launchers of rustup, which need its folder in the home
    newest=$(for one in rustc "$HOME/.cargo/bin/rustc"; do
        ! home=$("$one" --print sysroot 2>/dev/null) || echo "$("$home/bin/rustc" --version | sed 's/rustc 1\.\([0-9]*\).*/\1/') $home/bin"
    done | sort -n | tail -n 1)
    if [ "${newest%% *}" -ge 85 ] && [ -x "${newest#* }/cargo" ]; then
        crate 2024 "${newest#* }"
    else
        lacks "a new project of edition 2024" rustc 1.85
    fi
    needs_glibc "its program" "$TMPDIR/crate/target/debug/app"
fi

if package go; then
    mkdir "$TMPDIR/module"
    printf 'module app\n\ngo 1.19\n\nrequire firn.example/firn v0.1.0\n\nreplace firn.example/firn => %s\n' "$there/go" >"$TMPDIR/module/go.mod"
    awk '/^```go$/ { inside = 1; next } /^```/ && inside { exit } inside' bindings/go/README.md |
        sed "s|sqlite:/var/lib/app|sqlite:$TMPDIR|; s|firn.db\"|&, Unsafe: true|" >"$TMPDIR/module/main.go"
    check "a new module with a replace line is built" env -C "$TMPDIR/module" -u LD_LIBRARY_PATH -u C_INCLUDE_PATH -u LIBRARY_PATH \
        GOPROXY=off GOFLAGS=-mod=mod GOCACHE="${GOCACHE:-$TMPDIR/own/go-cache}" go build -o app .
    needs_glibc "its program" "$TMPDIR/module/app"
    same "... the sample of the page runs, alone" 1 "$(empty "$TMPDIR/module/app" 2>&1 | grep -c '^2008327652766646272 2008690040632246271 <nil>$')"
fi
finish
