# SPDX-License-Identifier: MIT
# The manuals and completions that the build writes: linted, whole (each subcommand, option, key, function and scheme is
# in them), the same at each time and place; and what bash, zsh and fish answer when somebody presses the tab key.
. test/tap
man=$BUILD/share/man
bash_file=$BUILD/share/bash-completion/completions/firn
zsh_file=$BUILD/share/zsh/site-functions/_firn
fish_file=$BUILD/share/fish/vendor_completions.d/firn.fish
export TERM=dumb

# has PROGRAM SENTENCE...: whether it is there; if not, the sentences are skipped.
has() {
    command -v "$1" >/dev/null && return
    missing=$1
    shift
    for sentence; do skip "$sentence" "$missing is not there"; done
    return 1
}

# ---- the pages -------------------------------------------------------------------------------------

pages="man1/firn.1 man1/firn-lab.1 man3/firn.3 man7/firn-schemes.7 man7/firn-stores.7 man8/firn-serve.8"
for page in $pages; do
    if has mandoc "$page has no warning of mandoc"; then
        same "$page has no warning of mandoc" "" "$(mandoc -T lint -W warning "$man/$page" 2>&1)"
        mandoc -T ascii "$man/$page" 2>/dev/null | sed 's/.\x08//g' >"$TMPDIR/${page#*/}.txt"
        check "$page has its parts from NAME to SEE ALSO" sh -c "
            grep -qx NAME '$TMPDIR/${page#*/}.txt' && grep -qx 'SEE ALSO' '$TMPDIR/${page#*/}.txt'"
        same "$page fits 80 columns, except for code" "" "$(grep -vE '^ {10}' "$TMPDIR/${page#*/}.txt" | awk 'length > 80')"
    fi
    if has man "$page is shown by man without a warning"; then
        same "$page is shown by man without a warning" "" "$(MANROFFOPT=-ww MANWIDTH=80 man -l "$man/$page" 2>&1 >"$TMPDIR/shown")"
    fi
done

# Words of the first list that are not whole words of a page.
absent() {
    awk -v words="$1" '
        BEGIN { count = split(words, word) }
        { text = text "\n" $0 }
        END {
            for (i = 1; i <= count; i++)
                if (text "\n" !~ "[^A-Za-z0-9_-]" word[i] "([^A-Za-z0-9_=-]|=[^ \n])") print word[i]
        }' "$2"
}
firn_1=$TMPDIR/firn.1.txt
lab_1=$TMPDIR/firn-lab.1.txt
if [ -s "$firn_1" ]; then
    same "firn(1) has a part for each subcommand" "$(sed -nE 's/^(COMMAND|VERBATIM)\(([a-z]+),.*/firn \2/p' cmd/commands.def)" \
        "$(sed -nE 's/^   (firn [a-z]+)$/\1/p' "$firn_1")"
    same "and firn-lab(1) for each of the laboratory" "$(sed -nE 's/^LAB\(([a-z]+),.*/firn \1/p' lab/lab.def)" \
        "$(sed -nE 's/^   (firn [a-z]+)$/\1/p' "$lab_1")"
    cat "$firn_1" "$lab_1" >"$TMPDIR/pages.txt"
    same "they have each option" "" "$(absent "$(sed -nE 's/^OPTION\([A-Z_]+, "([a-z-]+)",.*/--\1/p' cmd/commands.def)" "$TMPDIR/pages.txt")"
    same "and each key of a subcommand" "" "$(absent "$(sed -nE 's/^(KEY|RARE)\("([A-Za-z_]+)".*/\2/p' cmd/commands.def lab/lab.def)" "$TMPDIR/pages.txt")"
    same "firn(1) has each key of a generator" "" "$(absent "$(sed -nE 's/^(NUMBER|DURATION|CHOICE|WORD)\(([a-z_]+),.*/\2/p' src/keys.def)" "$firn_1")"
    same "firn(1) has each text form" "" "$(absent "dec hex uuid urn braced base32 base32hex base36 base58 base62 bin" "$firn_1")"
    same "firn(1) has each exit status" "0 1 2 3 4 5 6 128" \
        "$(sed -n '/^EXIT STATUS/,/^EXAMPLES/p' "$firn_1" | sed -nE 's/^     ([0-9]+)( .*)?$/\1/p' | tr '\n' ' ' | sed 's/ $//')"
    same "firn(1) answers the first five questions before anything else" "How do I get an ID?
Which scheme?
Is it unique, and what does that depend on?
How do I read one, or back-date one?
What do I do in a container, or on several machines?" \
        "$(sed -n '/^FIRST QUESTIONS/,/^SUBCOMMANDS/p' "$firn_1" | sed -nE 's/^   ([A-Z].*\?)$/\1/p')"
    mkdir -p "$TMPDIR/examples"
    printf '%s\n' 1541815603606036480 1541815603606036481 >"$TMPDIR/examples/ids.txt"
    # The hash is the one of the guide's command.
    line='invoices-2026 1 2026-11-27T20:11:17.004220Z -'
    echo "$line $(printf '%s %064d' "$line" 0 | sha256sum | cut -d' ' -f1)" >"$TMPDIR/examples/chain.txt"
    printf '%s\n' made,item 2019-05-01T08:30:00Z,tea >"$TMPDIR/examples/old.csv"
    printf '%s\n' made,item 2024-05-01T08:30:00Z,tea >"$TMPDIR/examples/new.csv"
    seq 9 >"$TMPDIR/examples/numbers.txt"
    echo '2019-05-01 08:30:00 tea' >"$TMPDIR/examples/old.log"
    (umask 077 && echo 000102030405060708090a0b0c0d0e0f >"$TMPDIR/examples/order.key")
    (umask 077 && printf '1 %064d\n' 0 >"$TMPDIR/examples/mask.key")
    printf '%s\n' 1545844954938404436 >"$TMPDIR/examples/masked.txt"
    {
        sed -nE 's/^ {8,}(firn [a-z].*)/\1/p' "$TMPDIR/pages.txt"
        for subcommand in $(sed -nE 's/^(COMMAND|LAB|VERBATIM)\(([a-z]+),.*/\2/p' cmd/commands.def lab/lab.def | grep -vx serve); do
            "$FIRN" "$subcommand" --help | sed -nE 's/^  (firn [a-z].*[^ ]) +# .*/\1/p'
        done
    } >"$TMPDIR/examples.list"
    wrong=$(while read -r line; do
        case $line in *--store*://* | "firn store move"* | "firn bench"*) continue ;; esac
        (cd "$TMPDIR/examples" && sh -c "'$FIRN' ${line#firn }" </dev/null) >"$TMPDIR/said" 2>&1 || { echo "$line:" && cat "$TMPDIR/said"; }
    done <"$TMPDIR/examples.list")
    same "each example of firn(1), firn-lab(1) and the help does what it says" "" "$wrong"
fi
firn_3=$TMPDIR/firn.3.txt
headers=$TMPDIR/headers # all public ones
cat include/firn/firn.h include/firn/recognize.h >"$headers"
if [ -s "$firn_3" ]; then
    functions=$(tr '\n' ' ' <"$headers" | grep -oE 'FIRN_API [^;(#]*\(' |
        sed -nE 's/.*[ *](firn_[a-z0-9_]+)\($/\1/p')
    same "firn(3) has each function of the public headers, in their order" "$functions" \
        "$(sed -n '/^FUNCTIONS/,/^RETURN/p' "$firn_3" | sed -nE 's/^ {5}[a-z][a-z0-9_ *]*[ *](firn_[a-z0-9_]+)\(.*/\1/p')"
    same "each function of the public headers has its own page" "$(printf '%s\n' "$functions" | sort)" \
        "$(find "$man/man3" -name 'firn_*.3' | sed 's,.*/,,; s,\.3$,,' | sort)"
    same "each page of a function says what the function does" "" \
        "$(cd "$man/man3" && printf '%s\n' "$functions" | sed 's/$/.3/' | xargs grep -LE '^\.Nd [A-Z"\\]?[^ ]+ [^ ]+' 2>&1)"
    if has mandoc "no page of a function has a warning of mandoc"; then
        same "no page of a function has a warning of mandoc" "" "$(mandoc -T lint -W warning "$man"/man3/firn_*.3 2>&1)"
    fi
    types=$(sed -nE 's/^(typedef struct|enum) (firn_[a-z_]+) \{.*/\2/p' "$headers")
    same "firn(3) has each structure and enumeration" "" "$(absent "$types" "$firn_3")"
    members=$(sed -nE 's/^ {4}(FIRN_[A-Z0-9_]+)[,; ].*/\1/p' "$headers")
    same "firn(3) has each member of an enumeration" "" "$(absent "$members" "$firn_3")"
    same "firn(3) has each error" "$(sed -nE 's/^ *X\(([A-Z]+), (-[0-9]+),.*/FIRN_E\1 (\2)/p' include/firn/firn.h)" \
        "$(sed -n '/^ERRORS/,/^SEE/p' "$firn_3" | sed -nE 's/^ {5}(FIRN_E[A-Z]+ \(-[0-9]+\)).*/\1/p')"
    # the indented block, without the blank lines round it
    sed -n '/This program prints/,/The third argument/p' "$firn_3" | sed '1d;$d; s/^ \{11\}//' | sed '/./,$!d' >"$TMPDIR/page.c"
    same "the program of firn(3) is the one in firn.h" \
        "$(sed -n '/^ \*     #include <firn/,/^ \*     }/p' include/firn/firn.h | sed 's/^ \*//; s/^     //')" "$(cat "$TMPDIR/page.c")"
fi
if [ -s "$TMPDIR/firn-schemes.7.txt" ]; then
    same "firn-schemes(7) has each scheme, in the order of the table" "$("$FIRN" schemes --markdown | sed -nE '/^$/q; s/^\| `([a-z0-9-]+)`.*/\1/p')" \
        "$(sed -n '/^SCHEMES/,/^SEE/p' "$TMPDIR/firn-schemes.7.txt" | sed '1,/^$/d' | sed -nE 's/^ {5}([a-z][a-z0-9-]*)( .*)?$/\1/p')"
fi
if [ -s "$TMPDIR/firn-serve.8.txt" ]; then
    same "firn-serve(8) has each flag" "" "$(absent "$(sed -nE 's/^(FLAG|TEXT|NUMBER|DURATION|SWITCH|CHOICE)\(([a-z_]+),.*/--\2/p' \
        server/settings/settings.def | tr _ -)" "$TMPDIR/firn-serve.8.txt")"
fi
stores=$(for module in modules/*.c; do
    grep -l -E '^const firn_(store_ops firn_store_module|driver firn_store_driver)' "$module" | sed 's,.*/,,; s,\.c$,,'
done)
same "src/stores.def has each module that is a store" "" \
    "$(absent "$stores" src/stores.def)"
# Each module lists the parameters that it takes, when a URL has something else.
for module in etcd redis zookeeper postgres mysql; do
    grep -q "^STORE(\"$module\"" src/stores.def || continue
    path=
    [ "$module" != mysql ] || path=ids
    said=$("$FIRN" nodes --store "$module://127.0.0.1:1/$path?no-such-parameter=1" 2>&1)
    wanted=$(echo "$said" | sed -E "s/.*unknown parameter '[^']*': use //; s/,? and .*//" | tr ' ' '\n' | sort)
    has_lines=$(sed -nE "s/^PARAMETER\\(\"[a-z ]*\\b$module\\b[a-z ]*\", \"([a-z_-]+)\".*/\\1/p" src/stores.def |
        grep -vx sslmode | sort)
    same "src/stores.def has each parameter of $module" "$wanted" "$has_lines"
done
# LD_PRELOAD is the linker's: src/module.c only looks whether it is set.
variables=$(grep -ohE '(getenv\(|module_password\(.*, )"[A-Z_]+"' cmd/*.c cmd/*/*.c lab/*.c common/*.c src/*.c modules/*.c | sed -E 's/.*"([A-Z_]+)"/\1/' | grep -vx LD_PRELOAD | sort -u)
cat "$TMPDIR/pages.txt" "$TMPDIR/firn-stores.7.txt" >"$TMPDIR/both.txt" 2>/dev/null
same "each variable of the environment that is read is in firn(1), firn-lab(1) or firn-stores(7)" "" \
    "$(absent "$variables" "$TMPDIR/both.txt")"
(export TZ=Asia/Tokyo LC_ALL=C.UTF-8 && cd / && "$BUILD/firn_pages" page "$OLDPWD/packaging/firn.1.in" "$TMPDIR/again" "$OLDPWD/include/firn/firn.h")
check "a page is the same at another time and place" cmp "$man/man1/firn.1" "$TMPDIR/again"

# ---- what a shell answers --------------------------------------------------------------------------

# LINE => WORDS: the line as typed so far, and all completions of its last word.
cat >"$TMPDIR/asked" <<'TEXT'
firn sch => schemes
firn se => segment series serve
firn serve --log-lev => --log-level
firn serve --log j => json
firn new sno => snowflake
firn new uuid1 => uuid1 uuid1-swapped
firn show --sch => --scheme
firn new snowflake ordering= => strict thread
firn new snowflake ordering=s => strict
firn new snowflake start=r => random: rolling
firn new snowflake -n 3 data => datacenter=
firn new snowflake ord => ordering=
firn new "time:41/ms node:10 sequence:12" his => history=
firn pack snowflake seq => sequence=
firn new snowflake seq =>
firn new snowflake --as base3 => base32 base32hex base32sort base36 base36lower
firn show --from=urn => urn
firn convert --to js => js53
firn new snowflake --store mem => memory:
firn new snowflake --store postgres => postgres://
firn segment orders kind= => segment serial ticket
firn segment orders ki => kind=
firn segment or =>
firn nodes fr => free
firn spread snowflake hist => history=
firn lab => lab
firn lab c => choose
firn lab xy =>
firn lab spread snowflake hist => history=
firn stamp log.csv --scheme snowflake data => datacenter=
firn stamp log.csv --scheme=leaf work => worker=
firn stamp log.csv --on-error s => skip stop
firn stamp log.csv --sch => --scheme
firn range snowflake 2024-01-01 2024-02-01 dat => datacenter=
firn schemes ks => ksuid
firn help con => convert
firn nodes n => ns=
firn --ver => --version
TEXT
sed 's/ =>.*//' "$TMPDIR/asked" >"$TMPDIR/lines"

cat >"$TMPDIR/ask.bash" <<'TEXT'
# Divides each line as readline does, asks the function, prints its answer.
source "$1"
while IFS= read -r line; do
    COMP_WORDS=()
    rest=$line
    while [[ $rest =~ ^\ *(\"[^\"]*\"|[=:]+|[^\ =:]+)(.*)$ ]]; do
        COMP_WORDS+=("${BASH_REMATCH[1]}")
        rest=${BASH_REMATCH[2]}
    done
    [[ $line == *[=:\ ] ]] && COMP_WORDS+=('')
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    COMPREPLY=()
    _firn firn
    mapfile -t COMPREPLY < <(printf '%s\n' "${COMPREPLY[@]}" | sort)
    echo "$line =>${COMPREPLY[*]:+ ${COMPREPLY[*]}}"
done
TEXT
if has bash "bash reads its completion" "bash answers as the tables have it"; then
    check "bash reads its completion" bash -n "$bash_file"
    same "bash answers as the tables have it" "$(cat "$TMPDIR/asked")" \
        "$(bash "$TMPDIR/ask.bash" "$bash_file" <"$TMPDIR/lines" 2>&1)"
fi

cat >"$TMPDIR/ask.fish" <<'TEXT'
# fish answers with whole words; the part before a = is cut off, as bash does it.
source $argv[1]
while read -l line
    set -l word (string split ' ' -- $line)[-1]
    set -l found (complete -C $line | string replace -r '\t.*' '' | sort -u)
    string match -q '*=*' -- $word; and set found (string replace -r '^[^=]*=' '' -- $found)
    string trim -r -- "$line => $found"
end
TEXT
if has fish "fish reads its completion" "fish answers as the tables have it"; then
    check "fish reads its completion" fish -n "$fish_file"
    same "fish answers as the tables have it" "$(cat "$TMPDIR/asked")" \
        "$(HOME=$TMPDIR XDG_CONFIG_HOME=$TMPDIR XDG_DATA_HOME=$TMPDIR fish --no-config "$TMPDIR/ask.fish" "$fish_file" <"$TMPDIR/lines" 2>&1)"
fi

# ---- what is typed ---------------------------------------------------------------------------------

# Each line is typed into the shell at a terminal, then tab and return; firn is a function there that shows its words.
touch "$TMPDIR/log.csv"
cat >"$TMPDIR/typed" <<TEXT
firn new sno => <new><snowflake>
firn show --sch => <show><--scheme>
firn show --scheme=lea => <show><--scheme=leaf>
firn new snowflake ordering=st => <new><snowflake><ordering=strict>
firn new snowflake start=ran => <new><snowflake><start=random:>
firn new snowflake dat => <new><snowflake><datacenter=>
firn new snowflake --store sqlite:log.c => <new><snowflake><--store><sqlite:log.csv>
firn check log.c => <check><log.csv>
TEXT
# type_in COMMAND
type_in() {
    { sed 's/ =>.*/\t/' "$TMPDIR/typed" && echo exit; } | timeout -k 5 300 script -qec "$1" /dev/null | tr -d '\r' | grep -a '^<'
}
shown=$(sed 's/.* => //' "$TMPDIR/typed")
shows="firn() { printf '<%s>' \"\$@\"; echo; }"
printf '%s\n' "source '$bash_file'" "cd '$TMPDIR'" "$shows" 'PS1=' >"$TMPDIR/rc.bash"
if has bash "a line typed into bash is completed" && has script "a line typed into bash is completed"; then
    same "a line typed into bash is completed" "$shown" "$(type_in "bash --noprofile --rcfile $TMPDIR/rc.bash -i")"
fi
printf '%s\n' "fpath=('${zsh_file%/*}' \$fpath)" 'autoload -U compinit; compinit -u -D' "cd '$TMPDIR'" "$shows" 'PS1=' >"$TMPDIR/.zshrc"
if has zsh "zsh reads its completion" "a line typed into zsh is completed"; then
    check "zsh reads its completion" zsh -n "$zsh_file"
    same "a line typed into zsh is completed" "$shown" "$(ZDOTDIR=$TMPDIR type_in 'zsh -d -i')"
fi
finish
