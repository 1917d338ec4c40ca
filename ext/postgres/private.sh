# SPDX-License-Identifier: MIT
# For the test and the bench: `. ext/postgres/private.sh` in the tree's root, with BUILD set. A copy of the installed
# PostgreSQL, by links, with the extension in it: the server finds its folders next to its program, so nothing of the
# system's is touched. private_start makes it; private_end removes it.

private_start() {
    prefix=$(mktemp -d /tmp/firn-prefix.XXXXXX) || exit 1 # the server's user cannot reach TMPDIR
    chmod 755 "$prefix"
    bin=$(pg_config --bindir) library=$(pg_config --pkglibdir) share=$(pg_config --sharedir)
    mkdir -p "$prefix$bin" "$prefix$library/firn" "$prefix$share/extension" # firn/: of stores, never a link
    cp "$bin/postgres" "$bin/initdb" "$bin/pg_ctl" "$prefix$bin"
    for folder in "$bin" "$library" "$share" "$share/extension"; do
        set --
        for file in "$folder"/*; do
            case ${file##*/} in
            firn.so | firn_pure.so | firn.control | firn_pure.control | firn--* | firn_pure--*) ;; # of an installed firn: not to be written through its link
            *) [ -e "$prefix$file" ] || set -- "$@" "$file" ;;
            esac
        done
        [ $# = 0 ] || ln -s "$@" "$prefix$folder/"
    done
    make -s -C "$BUILD/ext/postgres" -f "$PWD/ext/postgres/Makefile" VPATH="$PWD/ext/postgres" with_llvm=no \
        FIRN_LIB="$BUILD/libfirn.a" DESTDIR="$prefix" install >&2 || exit 1
    export ENGINE_POSTGRES="$prefix$bin" ENGINE_OWNER=$$
}

private_end() {
    rm -rf "$prefix"
}
