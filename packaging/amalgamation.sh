#!/bin/sh
# SPDX-License-Identifier: MIT
# make amalgamation: the library with the SQLite store as one source and one header, firn.c and firn.h, for a program that
# contains firn, with files for CMake and Meson: docs/guides/vendoring.md. Use: packaging/amalgamation.sh FOLDER
# Every source is here in the order of its name, and every header of firn once, where it is first included. The functions
# that sources share become static, so that a program meets only the names of firn.h.
set -eu
LC_ALL=C && export LC_ALL
out=${1:?use: packaging/amalgamation.sh FOLDER}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")/.."

# expand KIND FILE...: the files with the headers that they include; KIND is source or header.
expand() {
    kind=$1
    shift
    awk -v kind="$kind" '
    function die(why) {
        print "packaging/amalgamation.sh: " why >"/dev/stderr"
        failed = 1
        exit 1
    }
    # The path of an included file of firn, or "" for one of the system.
    function find(name, from,    path) {
        if (name ~ /^firn\//) return "include/" name
        sub(/[^\/]*$/, "", from)
        path = from name
        while (path ~ /[^\/.]+\/\.\.\//) sub(/[^\/.]+\/\.\.\//, "", path)
        if ((getline path_line <path) < 0) return ""
        close(path)
        return path
    }
    # Lists and templates have no guard, and are wanted each time.
    function has_guard(path,    line, found) {
        while (!found && (getline line <path) > 0) found = line ~ /^#ifndef FIRN_[A-Z_]*_H$/
        close(path)
        return found
    }
    function include(path, depth,    guard) {
        if (path in done) return
        guard = has_guard(path)
        # A header that only some processors need must not be missing on the others.
        if (guard && depth > 0) die(path " is first included inside #if: include it before")
        if (guard) done[path] = 1
        insert(path, guard)
    }
    function insert(path, guard,    line, words, name, depth, own, count, i, missing) {
        if (path ~ /\.c$/) print "\n/* ==== " path " ==== */"
        while ((getline line <path) > 0) {
            if (line ~ /SPDX-License-Identifier/) continue
            if (line ~ /^#include "/ || line ~ /^#include <firn\//) {
                split(line, words, /["<>]/)
                name = find(words[2], path)
                if (name == "") die(path ": " words[2] " is not found")
                include(name, depth - guard)
                continue
            }
            if (line ~ /^# *if/) depth++
            if (line ~ /^# *endif/) depth--
            split(line, words, /[ (]+/)
            if (line ~ /^#ifndef /) missing = words[2]
            if (line ~ /^#define / && path ~ /\.c$/ && words[2] != missing) own[count++] = words[2]
            # Two tentative definitions would be one variable, without a warning.
            if (path ~ /\.c$/ && line ~ /^static [^(={]*;$/) {
                name = line
                sub(/(\[[^]]*\])*;$/, "", name)
                sub(/.*[ *]/, "", name)
                if (name in variables) die(path " and " variables[name] " both have a variable " name)
                variables[name] = path
            }
            # A definition of a function that was declared static is static, too.
            if (guard) sub(/^static inline /, "FIRN_PRIVATE inline ", line)
            if (guard && kind == "source" && path !~ /^include/ && line ~ /^[a-z_][^=;{]*\(/ &&
                line !~ /^(FIRN_PRIVATE|static|typedef|extern|_Static_assert|__attribute__)/) line = "FIRN_PRIVATE " line
            print line
        }
        close(path)
        for (i = 0; i < count; i++) print "#undef " own[i]
    }
    BEGIN {
        if (kind == "source") done["include/firn/firn.h"] = done["include/firn/recognize.h"] = 1
        for (i = 1; i < ARGC; i++) {
            if (ARGV[i] ~ /^modules/ && !modules++) print "#ifdef FIRN_SQLITE"
            include(ARGV[i], 0)
        }
        if (modules) print "#endif"
        exit failed
    }' "$@"
}

version=$(sed -n 's/^#define FIRN_VERSION "\(.*\)".*/\1/p' include/firn/firn.h)
header="/* SPDX-License-Identifier: MIT */
/* firn $version in one file, written by make amalgamation: change firn's sources, not this. */"
{
    echo "$header"
    expand header include/firn/firn.h include/firn/recognize.h
} >"$out/firn.h.new"
{
    cat <<TEXT
$header
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif
#ifndef _TIME_BITS
#define _TIME_BITS 64
#endif
#include "firn.h"

#if !defined(FIRN_SQLITE) && !defined(FIRN_PURE)
#error "firn.c: compile with -DFIRN_SQLITE and link libsqlite3, or with -DFIRN_PURE, with the store in memory only"
#endif
#define FIRN_PRIVATE static __attribute__((unused))
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wformat-truncation" /* what is too long is cut, as it should be */
#endif
TEXT
    expand source src/*.c modules/module_*.c modules/sqlite*.c
} >"$out/firn.c.new"
cp packaging/single/* "$out/"
mv "$out/firn.h.new" "$out/firn.h"
mv "$out/firn.c.new" "$out/firn.c"
