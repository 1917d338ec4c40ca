# SPDX-License-Identifier: MIT
# The generated parts of docs/reference/errors.md: awk -v part=codes|cures -f docs/errors.awk include/firn/firn.h common/errors.h
# common/errors.c common/cures.def. docs/errors.sh, or `make docs/reference/errors.md` puts them between the marks of the page.
{ text[FILENAME] = text[FILENAME] $0 "\n" }

# The string literals at the head of `s`, joined; the rest of `s` stays in `rest`.
function literal(s,    out, piece) {
    out = ""
    while (match(s, /^[ \n\\]*"([^"\\]|\\.)*"/)) {
        piece = substr(s, RSTART, RLENGTH)
        s = substr(s, RSTART + RLENGTH)
        sub(/^[ \n\\]*"/, "", piece)
        sub(/"$/, "", piece)
        gsub(/\\"/, "\"", piece)
        out = out piece
    }
    rest = s
    return out
}

# The next column of a row of cures.def.
function column(s) {
    if (match(s, /^[ \n]*NULL/)) {
        rest = substr(s, RSTART + RLENGTH)
        return ""
    }
    return literal(s)
}

# An item of a list, in lines of at most 120 columns.
function item(s,    count, of, line, i) {
    count = split(s, of, " ")
    line = "-"
    for (i = 1; i <= count; i++) {
        if (length(line) + 1 + length(of[i]) > 120) {
            print line
            line = " "
        }
        line = line " " of[i]
    }
    print line
}

END {
    header = text["include/firn/firn.h"]
    statuses = text["common/errors.h"]
    map = text["common/errors.c"]
    words = text["common/cures.def"]
    if (part == "codes") {
        print "| code | what is wrong | exit |\n|---|---|---|"
        while (match(header, /\n    X\([A-Z]+, -[0-9]+, "[^"]*"\)/)) {
            row = substr(header, RSTART + 7, RLENGTH - 9)
            header = substr(header, RSTART + RLENGTH)
            split(row, of, /, "|, /)
            match(map, "X\\(" of[1] ", [A-Z_]+\\)")
            status = substr(map, RSTART, RLENGTH)
            sub(/.*, /, "", status)
            sub(/\)/, "", status)
            match(statuses, status " = [0-9]+")
            number = substr(statuses, RSTART, RLENGTH)
            sub(/.* /, "", number)
            sentence = row
            sub(/^[^"]*"/, "", sentence)
            printf "| `FIRN_E%s` %s | %s | %s |\n", of[1], of[2], sentence, number
        }
        exit
    }
    while (match(words, /\nCURE\([A-Z_]+,/)) {
        name = substr(words, RSTART + 6, RLENGTH - 7)
        row = substr(words, RSTART + RLENGTH)
        words = row
        command[name] = column(row)
        sub(/^,/, "", rest)
        server[name] = column(rest)
        sub(/^,/, "", rest)
        postgres[name] = column(rest)
    }
    while (match(header, /\n    X\([A-Z_]+, [0-9]+,/)) {
        row = substr(header, RSTART + 7, RLENGTH - 8)
        header = substr(header, RSTART + RLENGTH)
        split(row, of, ", ")
        own = literal(header)
        other = ""
        if (command[of[1]] != "") other = other ". Command: " command[of[1]]
        if (server[of[1]] != "" && server[of[1]] != command[of[1]]) other = other ". Server: " server[of[1]]
        if (server[of[1]] != "" && server[of[1]] == command[of[1]]) sub(/[.] Command:/, ". Command and server:", other)
        if (postgres[of[1]] != "") other = other ". PostgreSQL: " postgres[of[1]]
        gsub(/\{value\}/, "NAME", other)
        item("`FIRN_CURE_" of[1] "` " of[2] ": " own other)
    }
}
