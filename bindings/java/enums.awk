# SPDX-License-Identifier: MIT
# Writes Code.java and Sorts.java into the folder `out`, from the lists in firn.h: awk -v out=FOLDER -f enums.awk firn.h
/^ *X\([A-Z]+, -[0-9]+, "/ {
    name[++codes] = $1; number[codes] = $2; text[codes] = $0
    sub(/.*\(/, "", name[codes]); sub(/,.*/, "", name[codes]); sub(/,.*/, "", number[codes])
    sub(/^[^"]*"/, "", text[codes]); sub(/".*/, "", text[codes])
}
/^enum firn_sorts \{/ {
    gsub(/.*\{ *| *\}.*|FIRN_SORTS_/, ""); sorts = split($0, sort, ", ")
}
END {
    if (codes < 20 || sorts != 4) { print "enums.awk: firn.h has other lists" >"/dev/stderr"; exit 1 }
    file = out "/Code.java"
    head(file, "Every kind of error. docs/reference/errors.md says what to do.", "Code")
    for (i = 1; i <= codes; i++) {
        printf "    /** %s. */\n    %s(%s)%s\n", toupper(substr(text[i], 1, 1)) substr(text[i], 2), name[i], number[i], i < codes ? "," : ";" >file
    }
    print "\n    private final int number;\n\n    Code(int number) {\n        this.number = number;\n    }\n" >file
    print "    /**\n     * The number of the C library.\n     *\n     * @return a negative number\n     */" >file
    print "    public int number() {\n        return number;\n    }\n" >file
    print "    static Code of(int number) {\n        for (Code code : values()) {\n            if (code.number == number) {" >file
    print "                return code;\n            }\n        }" >file
    print "        throw new AssertionError(\"libfirn has an error with the number \" + number);\n    }\n}" >file
    file = out "/Sorts.java"
    head(file, "Whether IDs sort in the order of issue.", "Sorts")
    says["NO"] = "Not at all"; says["PER_NODE"] = "Among the IDs of one node"
    says["BY_TICK"] = "Between ticks, not within one"; says["YES"] = "Yes"
    for (i = 1; i <= sorts; i++) {
        printf "    /** %s. */\n    %s%s\n", says[sort[i]], sort[i], i < sorts ? "," : "" >file
    }
    print "}" >file
}
function head(file, says, name) {
    print "// SPDX-License-Identifier: MIT\n// Made by enums.awk from firn.h.\npackage dev.firn;\n" >file
    printf "/** %s */\npublic enum %s {\n", says, name >file
}
