# SPDX-License-Identifier: MIT
# For the test and the bench: `. ext/postgres/private.sh` in the tree's root, with BUILD set. A copy of the installed
# PostgreSQL, by links, with the extension in it: the server finds its folders beside its program, so nothing of the
# system's is touched. private_start makes it; private_end takes it away.

private_start() {
    prefix=$(mktemp -d /tmp/firn-prefix.XXXXXX) || exit 1 # the server's user cannot reach TMPDIR
    chmod 755 "$prefix"
    bin=$(pg_config --bindir) library=$(pg_config --pkglibdir) share=$(pg_config --sharedir)
    mkdir -p "$prefix$bin" "$prefix$library/firn" "$prefix$share/extension"
    cp "$bin/postgres" "$bin/initdb" "$prefix$bin"
    for file in "$bin"/* "$library"/* "$share"/* "$share"/extension/*; do
        [ -e "$prefix$file" ] || ln -s "$file" "$prefix$file"
    done
    cp "$BUILD/ext/postgres/firn.so" "$prefix$library"
    cp "$BUILD"/firn/*.so "$prefix$library/firn" # the modules of stores
    cp ext/postgres/firn.control ext/postgres/firn--*.sql "$prefix$share/extension"
    export ENGINE_POSTGRES="$prefix$bin" ENGINE_OWNER=$$
}

private_end() {
    rm -rf "$prefix"
}
