# SPDX-License-Identifier: MIT
# The crates for Rust: packaged offline from Debian's crates, and put to their own tests; these again under the address
# sanitizer; the program of the page against the packaged crates.
. test/tap
case $BUILD in /*) built=$BUILD ;; *) built=$PWD/$BUILD ;; esac
there=$built/bindings/rust
if bindings/build rust >"$TMPDIR/log" 2>&1; then
    pass "both crates are packaged, and build from their packages"
else
    fail "both crates are packaged, and build from their packages" "$(tail -n 40 "$TMPDIR/log")"
fi
if grep -q 'is skipped' "$TMPDIR/log"; then
    [ "${CI:-}" != true ] || fail "cargo, rustc and the crates serde, serde_json and uuid are installed"
    skip "the crates for Rust" "$(sed 's/.*is skipped: //' "$TMPDIR/log")"
    finish
fi
cargo=cargo path=$PATH
if [ -x /usr/bin/cargo ] && [ -x /usr/bin/rustc ]; then
    cargo=/usr/bin/cargo
    export RUSTC=/usr/bin/rustc RUSTDOC=/usr/bin/rustdoc PATH="/usr/bin:$PATH"
fi
unset CARGO_TARGET_DIR
export RUSTFLAGS='-D warnings' CARGO_PROFILE_DEV_DEBUG=0 CARGO_HOME="$there/home" FIRN_LIB="$built" FIRN_SPEC="$PWD/spec" FIRN_INCLUDE="$PWD/include" RUST_BACKTRACE=0
sed -i "s|/var/lib/app|$TMPDIR|" "$there/README.md"

# ran SENTENCE COMMAND...: in the folder of the crates
ran() {
    sentence=$1
    shift
    if (cd "$there" && timeout 600 "$@") >"$TMPDIR/log" 2>&1; then
        count=$(grep -cE '^test .* ok$' "$TMPDIR/log")
        pass "$sentence$([ "$count" = 0 ] || echo ": $count tests")"
    else
        fail "$sentence" "$(tail -n 60 "$TMPDIR/log")"
    fi
}
ran "the crates work" env LD_LIBRARY_PATH="$built" $cargo test --workspace --features serde,uuid
check "every declaration of firn.h is compared" grep -q '^test every_declaration_agrees_with_the_header ... ok' "$TMPDIR/log"
same "what must not compile does not" 5 "$(grep -c 'compile fail ... ok' "$TMPDIR/log")"
ran "without features" $cargo check --workspace
ran "the documentation has no broken link" env RUSTDOCFLAGS='-D warnings' $cargo doc --no-deps --workspace --features serde,uuid

asan=$(cc -print-file-name=libasan.so)
if [ -f "$built-address/libfirn.so" ] && [ -f "$asan" ]; then
    # only the tests run with it, not cargo
    runner="target.'cfg(unix)'.runner = ['env', 'LD_PRELOAD=$asan', 'LD_LIBRARY_PATH=$built-address', 'ASAN_OPTIONS=detect_leaks=1:intercept_tls_get_addr=0:allocator_may_return_null=1']"
    ran "under the address sanitizer, without a leak" $cargo --config "$runner" test --tests --features serde,uuid
else
    skip "under the address sanitizer" "$built-address is not built"
fi
if [ -x /usr/bin/cargo-clippy ] && [ $cargo = /usr/bin/cargo ]; then
    ran "clippy has nothing to say" $cargo clippy -q --workspace --features serde,uuid --all-targets -- -D warnings
else
    skip "clippy has nothing to say" "rust-clippy is missing"
fi
if [ -x /usr/bin/rustfmt ]; then
    ran "rustfmt changes nothing" find src tests examples sys/src sys/tests sys/build.rs -name '*.rs' \
        -exec /usr/bin/rustfmt --edition 2021 --check {} +
else
    skip "rustfmt changes nothing" "rustfmt is missing"
fi

# A program that knows the packages only, and a library of another version.
mkdir -p "$TMPDIR/app/src/bin"
printf '[package]\nname = "app"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\nfirn = "0.1"\n' >"$TMPDIR/app/Cargo.toml"
awk -v out="$TMPDIR/app/src/" '/^```rust$/ { file = out (n++ ? "bin/old.rs" : "main.rs"); next } /^```$/ { file = "" } file { print >file }' \
    "$there/README.md"
echo 'fn main() {
    let times = [std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_556_971_200); 2];
    println!("{}", stamp(&times, 7).unwrap() == stamp(&times, 7).unwrap() && stamp(&times, 8).is_err());
}' >>"$TMPDIR/app/src/bin/old.rs"
sed -n '/^```rust$/,/^```$/p' docs/guides/languages.md | sed "1d;\$d; s|/var/lib/app|$TMPDIR|" >"$TMPDIR/app/src/bin/short.rs"
ran "the programs of the pages are built from the packages" $cargo build -q --manifest-path "$TMPDIR/app/Cargo.toml" --target-dir "$there/target"
# Debian 12's cargo knows no edition 2024; another one may come first in the PATH.
newest=$(PATH=$path command -v cargo)
if [ "$("$newest" --version | sed 's/^cargo 1\.\([0-9]*\).*/\1/')" -ge 85 ]; then
    mkdir "$TMPDIR/newer"
    cp -r "$TMPDIR/app/src" "$TMPDIR/newer/"
    sed 's/2021/2024/' "$TMPDIR/app/Cargo.toml" >"$TMPDIR/newer/Cargo.toml"
    ran "... and in edition 2024" env -u RUSTC -u RUSTDOC PATH="$path" "$newest" check -q --manifest-path "$TMPDIR/newer/Cargo.toml" --target-dir "$TMPDIR/target2024"
else
    lacks "... and in edition 2024" cargo 1.85
fi
LD_LIBRARY_PATH=$built "$there/target/debug/app" >"$TMPDIR/out" 2>&1
same "and prints what it should" 7 \
    "$(grep -cE '^[0-9]+$|^[0-9]+ 1000 [0-9a-f-]{36}$|^Some\(.*Z"\) Some\("[0-9]+"\)$|^[0-9a-f-]{36} \.\. [0-9a-f-]{36}$' "$TMPDIR/out")"
same "a job of the page repeats its IDs, and no other input has them" true "$(LD_LIBRARY_PATH=$built "$there/target/debug/old" 2>&1)"
check "the program of the guide prints an ID" sh -c "LD_LIBRARY_PATH='$built' '$there/target/debug/short' | grep -qxE '[0-9]{19}'"
echo 'const char *firn_version(void); const char *firn_version(void) { return "9.9.9"; }' >"$TMPDIR/other.c"
cc -shared -fPIC -o "$TMPDIR/other.so" "$TMPDIR/other.c"
same "another version of libfirn is refused" "libfirn is version 9.9.9, this crate is for 0.1.0: install both from one release" \
    "$(LD_PRELOAD=$TMPDIR/other.so LD_LIBRARY_PATH=$built "$there/target/debug/app" 2>&1 | sed 's/.*text: "//; s/" }$//')"
finish
