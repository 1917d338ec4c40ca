# SPDX-License-Identifier: MIT
# Writes what is made from the list of SQL functions:
#     awk -v out=postgres -f functions.awk functions.def firn.sql.in     firn--VERSION.sql; of firn_pure.sql.in the same
#     awk -v out=install|uninstall -f functions.awk functions.def        the scripts of MariaDB
#     awk -v out=page -f functions.awk functions.def                     docs/reference/sql.md

# Splits "WORD(a, "b, c", d)" into part[1..]; quotes are removed.
function split_line(line, n, text, quoted, c, i) {
    sub(/^[A-Z_]+\(/, "", line)
    sub(/\)$/, "", line)
    n = 1; text = ""; quoted = 0
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        if (c == "\\" && quoted) { i++; text = text substr(line, i, 1) }
        else if (c == "\"") quoted = !quoted
        else if (c == "," && !quoted) { part[n++] = text; text = ""; i++ }
        else text = text c
    }
    part[n] = text
    return n
}

function sql_type(type) {
    return type == "INT" ? "bigint" : type == "UUID" ? "uuid" : "text"
}

# How much slower than the planner's unit, about 50 ns.
BEGIN { cost["firn_show"] = 150; cost["firn_time"] = cost["firn_mask"] = cost["firn_unmask"] = 10 }

# Writes a function of PostgreSQL; free: firn_pure has it too. Its GRANTs name the types of its arguments only.
function create(name, arguments, returns, symbol, volatility, parallel, who, free, text) {
    text = "CREATE FUNCTION " name "(" arguments ") RETURNS " returns "\n    AS 'MODULE_PATHNAME', 'firn_sql_" \
        symbol "' LANGUAGE C " volatility " STRICT PARALLEL " parallel \
        (name in cost ? " COST " cost[name] : "") ";\n"
    made[kind] = made[kind] text
    if (who == "granted") revoke(name, arguments)
    if (free) made["free"] = made["free"] text
}

function create_many(name, returns, call, arguments) {
    many = many "CREATE FUNCTION " name "(" arguments ") RETURNS SETOF " returns \
        " LANGUAGE sql VOLATILE STRICT PARALLEL SAFE\n    AS 'SELECT @extschema@." call \
        " FROM pg_catalog.generate_series(1::bigint, @extschema@.firn_check_count(n))';\n"
}

function revoke(name, arguments, list, n, i, types) {
    n = split(arguments, list, ", ")
    types = ""
    for (i = 1; i <= n; i++) {
        sub(/^[^ ]+ /, "", list[i])
        types = types (i > 1 ? ", " : "") list[i]
    }
    revoked = revoked (revoked == "" ? "" : ",\n") "    '" name "(" types ")'"
}

# Adds to an entry of the page, a function, a line with a signature.
function add_signature(extension, text) {
    if (extension != last) page = page "\n" extension ":\n\n"
    if (!((heading, extension, text) in listed)) page = page "    " text "\n"
    listed[heading, extension, text]
    last = extension
}

FILENAME ~ /[.]def$/ && /^[A-Z_]+\(/ {
    word = $0; sub(/\(.*/, "", word)
    n = split_line($0)
    if (word == "GENERATOR") {
        kind = "issue"
        create(part[1], "", sql_type(part[3]), part[1], "VOLATILE", "SAFE", "everybody", part[4] == "FREE")
        create_many(part[1] "s", sql_type(part[3]), part[1] "()", "n bigint")
        mariadb[++count] = part[1] " " (part[3] == "INT" ? "INTEGER" : "STRING")
        generators = generators "| `" part[1] "` | " part[2] " | " \
            (part[3] == "INT" ? "INTEGER" : "TEXT; `" part[1] "_blob` BLOB") " | " \
            (part[3] == "INT" ? "BIGINT" : "text") " | " sql_type(part[3]) " | " (part[4] == "FREE" ? "yes" : "") " |\n"
    } else if (word == "FUNCTION") {
        heading = part[1]
        last = ""
        page = page "\n### " heading "\n\n" toupper(substr(part[2], 1, 1)) substr(part[2], 2) ".\n"
    } else if (word ~ /^SQLITE_/) {
        add_signature("SQLite", part[1] "(" part[n] ")")
    } else if (word ~ /^MARIADB_/) {
        mariadb[++count] = part[1] " " part[2]
        add_signature("MariaDB", part[1] "(" part[n] ")")
    } else if (word == "POSTGRES" || word == "POSTGRES_PURE") {
        if (word == "POSTGRES_PURE") {
            part[4] = part[4] "_" part[5]
            part[5] = "IMMUTABLE"
            part[6] = "SAFE"
            part[7] = "everybody"
        }
        kind = part[4] ~ /mask/ ? "mask" : part[5] == "IMMUTABLE" && part[4] != "check_count" ? "pure" : part[4] ~ /^stamp_|^confirm|^hand_|^take_/ ? "old" : "issue"
        optional = part[2] ~ /\[/
        for (i = 0; i <= optional; i++) { # without what is in [], and with it
            arguments = part[2]
            if (i == 0) sub(/\[.*/, "", arguments)
            gsub(/[][]/, "", arguments)
            create(part[1], arguments, part[3], part[4], part[5], part[6], part[7],
                kind == "issue" && part[5] == "VOLATILE" && part[7] == "everybody" && arguments != "")
            add_signature("PostgreSQL", part[1] "(" arguments ")")
        }
    } else if (word == "POSTGRES_SQL") {
        if (part[3] == "granted") revoke(part[1], part[2])
        add_signature("PostgreSQL", part[1] "(" part[2] ")")
    } else if (word == "POSTGRES_MANY") {
        create_many(part[1] "s", part[2], part[1] "()", "n bigint")
        add_signature("PostgreSQL", part[1] "s(n bigint)")
    }
}

# The templates of PostgreSQL's scripts: a line "-- @WORD@" is replaced.
FILENAME !~ /[.]def$/ {
    if ($0 == "-- @ISSUE@") printf "%s", made["issue"]
    else if ($0 == "-- @FREE@") printf "%s", made["free"]
    else if ($0 == "-- @MANY@") printf "%s", many
    else if ($0 == "-- @OLD@") printf "%s", made["old"]
    else if ($0 == "-- @MASK@") printf "%s", made["mask"]
    else if ($0 == "-- @PURE@") printf "%s", made["pure"]
    else if ($0 == "-- @REVOKED@") print revoked
    else print
}

END {
    if (out == "install") {
        print "-- Made from ext/functions.def. Needs INSERT on mysql.func."
        for (i = 1; i <= count; i++) {
            split(mariadb[i], one, " ")
            print "CREATE FUNCTION IF NOT EXISTS " one[1] " RETURNS " one[2] " SONAME 'firn_mariadb.so';"
        }
    } else if (out == "uninstall") {
        print "-- Made from ext/functions.def. Needs SELECT and DELETE on mysql.func, and RELOAD."
        print "-- Names the columns that use a function. Until FLUSH TABLES, an open table would continue with a function that is gone."
        print "SELECT concat(table_schema, '.', table_name, '.', column_name, ' uses ', name, '(), which this script drops: '"
        print "    'statements on this table fail until you change the column or create the function again') AS note"
        print "    FROM information_schema.columns JOIN mysql.func ON dl = 'firn_mariadb.so'"
        print "    AND concat_ws(' ', column_default, generation_expression) REGEXP concat('\\\\b', name, '`?[(]');"
        for (i = 1; i <= count; i++) {
            split(mariadb[i], one, " ")
            print "DROP FUNCTION IF EXISTS " one[1] ";"
        }
        print "FLUSH TABLES;"
    } else if (out == "page") {
        print "<!-- SPDX-License-Identifier: MIT -->"
        print "<!-- Made from ext/functions.def by `make docs/reference/sql.md`: edit the list, not this page. -->"
        print "# SQL functions"
        print ""
        print "For everybody who writes SQL with firn: every function of the three extensions, side by side. How to install an"
        print "extension, and examples, are in its guide: [SQLite](../guides/sqlite.md), [MariaDB](../guides/mariadb.md),"
        print "[PostgreSQL](../guides/postgres.md). The [glossary](../glossary.md) explains [scheme](../glossary.md#scheme),"
        print "[layout](../glossary.md#layout), [field](../glossary.md#field), [node](../glossary.md#node),"
        print "[generator](../glossary.md#generator), [back-dated ID](../glossary.md#back-dated-id) and [job](../glossary.md#job)."
        print ""
        print "## Generators"
        print ""
        print "Each call returns a new ID. In SQLite and MariaDB you can pass options: `uuid7('ns=orders')`. In PostgreSQL these"
        print "functions take no options. PostgreSQL has a second function for each, with an `s` after the name, that returns many"
        print "IDs: `uuid7s(100)`. [`firn_pure`](../guides/postgres.md#firn_pure), a small extension of PostgreSQL, has the functions"
        print "with *yes*, and of the other functions those that read or convert, `typeid`, and `firn_new` without options."
        print ""
        print "| function | scheme | SQLite | MariaDB | PostgreSQL | firn_pure |"
        print "|---|---|---|---|---|---|"
        printf "%s", generators
        print ""
        print "## Other functions"
        print ""
        print "Square brackets mark optional arguments. If an argument is NULL, the result is NULL. SQLite has `region`, `instagram`,"
        print "`time_member` and `typeid` too, because it has a function for every scheme that is issued."
        printf "%s", page
        print ""
        print "Numbers without gaps are SQL that you install separately: [series without gaps](../guides/gapless.md)."
        print ""
        print "Next: the [keys](keys.md) that options take."
    }
}
