# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154 # bindings/build runs this and sets $there
# The crates for Rust, from Debian's crates alone, offline.
debian=/usr/share/cargo/registry
cargo=cargo
if [ -x /usr/bin/cargo ] && [ -x /usr/bin/rustc ]; then
    cargo=/usr/bin/cargo
    export RUSTC=/usr/bin/rustc RUSTDOC=/usr/bin/rustdoc
fi
if ! command -v $cargo >/dev/null; then skipped "cargo rustc"; fi
for crate in serde serde_json uuid getrandom; do
    if [ -z "$(find $debian -maxdepth 1 -name "$crate-[0-9]*" 2>/dev/null)" ]; then
        skipped "librust-serde-dev librust-serde-json-dev librust-uuid-dev"
    fi
done
for part in Cargo.toml README.md rustfmt.toml src tests examples sys; do cp -r "bindings/rust/$part" "$there"; done
[ -z "$alone" ] || contain "$there/sys/vendor"
mkdir "$there/registry" "$there/.cargo"
ln -s $debian/* "$there/registry"
# A folder as registry, and nothing in the home of the user.
cat >"$there/.cargo/config.toml" <<TOML
[source.crates-io]
replace-with = "here"
[source.here]
directory = "registry"
[build]
target-dir = "target"
[net]
offline = true
TOML
unset CARGO_TARGET_DIR
export CARGO_HOME="$there/home" FIRN_LIB="$BUILD" LD_LIBRARY_PATH="$BUILD"
[ -z "$alone" ] || unset FIRN_LIB LD_LIBRARY_PATH
cd "$there"
for crate in firn-sys firn; do
    $cargo package -q --offline --allow-dirty -p $crate ${alone:+--features vendored}
    tar -xf target/package/$crate-*.crate -C registry
    for folder in registry/$crate-*; do
        echo '{"files": {}}' >"$folder/.cargo-checksum.json"
    done
    mv target/package/$crate-*.crate .
done
echo "firn: rust: $(ls "$there"/*.crate | tr '\n' ' ')"
