# SPDX-License-Identifier: MIT
# The server's settings: flags override the environment, and the environment the file; every setting in each; errors name the place.
. test/serve.tap
list=server/settings/settings.def
ini=$TMPDIR/firn.ini
unset FIRN_CONFIG FIRN_STORE

# settings_of KIND: the names of the settings of that kind
settings_of() {
    sed -nE "s/^($1)\(([a-z_]+),.*/\2/p" $list
}
# value_of NAME: as --print-config has it
value_of() {
    printf '%s\n' "$out" | sed -nE "s/^$1 = ?(.*)/\1/p"
}
# write LINE...: the file
write() {
    printf '%s\n' "$@" >"$ini"
}

# ---- without anything --------------------------------------------------------------------------
ask serve --config '' --print-config
same "without a file, variables and flags the presets are in force" "0 " "$status $err"
preset=$out
same "each setting is printed once, in the order of the list" "$(settings_of 'TEXT|NUMBER|DURATION|SWITCH|CHOICE')" \
    "$(printf '%s\n' "$preset" | sed -nE 's/^([a-z_]+) =.*/\1/p')"
same "presets equal the list" "$(sed -nE 's/^(TEXT|CHOICE)\([a-z_]+, "([^"]*)".*/\2/p; s/^NUMBER\([a-z_]+, ([0-9]+).*/\1/p; s/^DURATION\([a-z_]+, [a-z]+, "([^"]*)".*/\1/p
    s/^TEXT\([a-z_]+, NULL.*//p; s/^SWITCH\([a-z_]+, 0.*/no/p; s/^SWITCH\([a-z_]+, 1.*/yes/p' $list)" \
    "$(printf '%s\n' "$preset" | sed -nE 's/^[a-z_]+ = ?(.*)/\1/p')"
if [ -f "$BUILD/share/doc/firn/firn.ini" ]; then
    sed '/^# ----/,$d; s/^#\([a-z_]\)/\1/' "$BUILD/share/doc/firn/firn.ini" >"$ini"
    ask serve --config "$ini" --print-config
    same "the sample says what the presets are" "$preset" "$out"
    sed 's/^#\([a-z_[]\)/\1/' "$BUILD/share/doc/firn/firn.ini" >"$ini"
    ask serve --config "$ini" --check-config
    same "the sample with all of its examples is right" "0 $ini is valid" "$status $out"
    same "the sample fits 100 columns" "" "$(awk 'length > 100' "$BUILD/share/doc/firn/firn.ini")"
fi
ask help serve all
same "firn help serve all has each flag" "" "$(for name in $(settings_of 'TEXT|NUMBER|DURATION|SWITCH|CHOICE|FLAG'); do
    printf '%s\n' "$out" | grep -qE -- "--$(echo "$name" | tr _ -)( |\$)" || echo "$name"; done)"
same "firn serve --help is firn help serve" "$("$FIRN" help serve)" "$("$FIRN" serve --help)"
same "and says how many settings it leaves out" 1 \
    "$("$FIRN" serve --help | grep -cxF "\`firn help serve all\` has $(grep -c '^RARE_SETTING(' $list) more.")"
ask serve --log-level info --help
same "--help among other options says where the options are" "0 usage: firn serve [OPTION...]: run \`firn help serve\` for the options" "$status $out"
ask serve --version
same "--version is the same as the command prints" "$("$FIRN" version)" "$out"

# ---- every setting in each source ------------------------------------------------------------------
# A valid value for a setting that differs from the default.
other() {
    case $1 in
    resp) echo unix:/tmp/a ;;
    http) echo '127.0.0.1:1 [::1]:2' ;;
    store) echo sqlite:/x/y.db ;;
    socket_mode) echo 0600 ;;
    log) echo json ;;
    log_level) echo debug ;;
    access_log_lines) echo request ;;
    access_log | tls_cert | tls_key | tls_client_ca | tokens | masks | hosts) echo "/$1" ;;
    idle | slow | wait | drain | stop) echo 2s ;;
    *) sed -nE "s/^NUMBER\($1, [0-9]+, [0-9]+, ([0-9]+).*/\1/p; s/^SWITCH\($1, 0.*/yes/p; s/^SWITCH\($1, 1.*/no/p" $list ;;
    esac
}
names=$(settings_of 'TEXT|NUMBER|DURATION|SWITCH|CHOICE')
echo '[server]' >"$ini"
for name in $names; do
    echo "$name = $(other "$name")" >>"$ini"
done
ask serve --config "$ini" --print-config
same "a file sets every setting" "$(cat "$ini")" "$out"
whole=$out
set -- serve --config ''
for name in $names; do
    set -- "$@" "--$(echo "$name" | tr _ -)=$(other "$name")"
done
ask "$@" --print-config
same "flags set every setting" "$whole" "$out"
same "variables set every setting" "$whole" "$(
    for name in $names; do
        eval "FIRN_$(echo "$name" | tr a-z A-Z)=\$(other $name)"
        # shellcheck disable=SC2163 # the name is in the variable
        export "FIRN_$(echo "$name" | tr a-z A-Z)"
    done
    "$FIRN" serve --config '' --print-config 2>&1
)"
set -- serve --config ''
for name in $names; do
    case $(other "$name") in
    yes) set -- "$@" "--$name" ;;
    no) set -- "$@" "--no-$name" ;;
    *) set -- "$@" "--$name" "$(other "$name")" ;;
    esac
done
ask "$@" --print-config
same "flags with _ and with their value after a blank do too" "$whole" "$out"
printf '%s\n' "$whole" >"$ini"
ask serve -c "$ini" --print-config
same "the printed configuration can be read again, and is the same" "$whole" "$out"

# ---- which is stronger -----------------------------------------------------------------------------
write '[server]' 'loops = 1' 'wait = 1ms' 'slow = 1s'
out=$(FIRN_CONFIG=$ini FIRN_WAIT=2ms FIRN_SLOW=2s "$FIRN" serve --slow 3s --print-config)
same "file under environment under flags" "1 2ms 3s" "$(value_of loops) $(value_of wait) $(value_of slow)"
out=$(FIRN_CONFIG=/nowhere FIRN_WAIT='' "$FIRN" serve --config "$ini" --print-config)
same "--config is stronger than FIRN_CONFIG, and an empty variable is ignored" 1ms "$(value_of wait)"
write '[server]' 'auto_create = on'
ask serve --config "$ini" --no-auto-create --print-config
same "--no-NAME turns a switch off" no "$(value_of auto_create)"
write '[server]' '   loops=2   ' '# wait = 7ms' '; slow = 7s' "$(printf '\ttokens =')" '' '[ server2'
ask serve --config "$ini" --print-config
same "a section without its end is refused with its line" "2 firn.ini:7: the section has no closing bracket: add ]" \
    "$status $(printf '%s' "$err" | sed 's|^firn: .*/||')"
deep=$TMPDIR/$(printf '%0120d' 0)
mkdir -p "$deep"
printf '[server]\n[generator a]\nscheme = snowflake\nnode = 4711\n' >"$deep/firn.ini"
ask serve --config "$deep/firn.ini" --check-config
same "a long path is cut at its start, and the line is shown" "0/firn.ini:2: node" \
    "$(printf '%s' "$err" | grep -oE '0/firn.ini:2: node')"
printf '\357\273\277[server]\r\nloops = 2\r\n' >"$ini"
ask serve --config "$ini" --print-config
same "a byte order mark and other ends of lines are read over" "2" "$(value_of loops)"

# ---- control characters ----------------------------------------------------------------------------
for section in server 'generator g' 'segment s'; do
    for line in 'store = sqlite:/a\033[31mb' 'store = a\177b' 'node\001 = 3' 'ns = a\007b' 'scheme = time:41\tnode:10'; do
        printf "[$section]\n$line\n" >"$ini"
        ask serve --config "$ini" --check-config
        same "a control character in [$section] is refused: $line" 2 "$status"
        same "in one plain line" "" "$(printf '%s' "$err" | tr -d '[:print:]')"
    done
done

# ---- generators and segments -----------------------------------------------------------------------
write '[generator events]' 'scheme = time:41/ms@@2024-01-01 node:10 sequence:12' 'as = hex' 'node = 7' \
    'store = postgres://me:hidden@db:5432/ids?timeout=5ms' '[segment empty]' '[segment orders]' 'kind = ticket' 'start = 1000' \
    '[generator orders]' 'scheme = typeid' 'prefix = order'
ask serve --config "$ini" --print-config
same "sections are kept with their keys, and passwords are not printed" "[generator events]
scheme = time:41/ms@@2024-01-01 node:10 sequence:12
store = postgres://me@db:5432/ids?timeout=5ms
as = hex
node = 7

[segment empty]

[segment orders]
kind = ticket
start = 1000

[generator orders]
scheme = typeid
prefix = order" "$(printf '%s\n' "$out" | sed '1,/^log_level/d' | sed 1d)"
ask serve --config '' --store 'redis://:hid:den@h:1/0' --print-config
same "nor of flags" 'redis://@h:1/0' "$(value_of store)"
ask serve --config '' --store 'mysql://u:hid/den?x@h' --print-config
same "nor those that make a URL wrong" "" "$(printf '%s\n' "$out" | grep hid)"

# ---- what is wrong ---------------------------------------------------------------------------------
# wrong SENTENCE STATUS PATTERN LINE...: a file of these lines is refused so, and the server does not start with it.
wrong() {
    sentence=$1 wanted=$2 pattern=$3
    shift 3
    write "$@"
    refuses "$sentence" "$wanted" "$pattern" serve --config "$ini" --check-config
}
wrong "a wrong name names the nearest, with its line" 2 "firn.ini:3: .*'lops': did you mean .loops.[?]" '[server]' '' 'lops = 1'
wrong "so does a wrong section" 2 "firn.ini:1: .*\[sever\]: did you mean .server.[?]" '[sever]'
wrong "a name far from all points to the list" 2 "'colour': run firn serve --help" '[server]' 'colour = red'
wrong "a setting in front of all sections is refused" 2 "firn.ini:1: .*under \[server\]" 'loops = 1'
wrong "a line that is invalid is refused" 2 "firn.ini:2: not a line of the form name = value" '[server]' 'loops'
wrong "a setting given twice is refused" 2 "firn.ini:3: loops is given twice" '[server]' 'loops = 1' 'loops = 1'
wrong "a section given twice is refused, with where it was" 2 "firn.ini:2: .* at .*firn.ini:1" '[segment a]' '[segment a]'
wrong "a key given twice is refused" 2 "firn.ini:3: start is given twice" '[segment a]' 'start = 1' 'start = 1'
wrong "a number out of range is refused with the bounds" 1 "65 is out of range: .* 0\.\.64" '[server]' 'loops = 65'
wrong "so is one of too many digits" 1 "out of range" '[server]' 'loops = 99999999999999999999'
wrong "text is not a number" 2 "firn.ini:2: loops = 4 ; four is not a number" '[server]' 'loops = 4 ; four'
wrong "nor is nothing" 2 "not a number" '[server]' 'loops ='
wrong "a word that is not a choice is refused with the choices" 2 'logfmt\|json' '[server]' 'log = xml'
wrong "a switch is yes or no" 2 "yes or no" '[server]' 'auto_create = maybe'
wrong "a generator needs a scheme" 2 "firn.ini:1: .*has no scheme" '[generator a]' 'node = 1'
wrong "a scheme that is invalid is refused with its place" 2 "firn.ini:1: .*snowflake" '[generator a]' 'scheme = snowflke'
wrong "a number without a unit" 2 "firn.ini:2: wait = 70 has no unit: write 70ms" '[server]' 'wait = 70'
wrong "the old name of a duration" 2 "firn.ini:2: drain_s is now drain, with a unit: write drain = 15s" '[server]' 'drain_s = 15'
write '[server]' 'loops = 1'
export FIRN_DRAIN_S=15
refuses "the old name of a variable" 2 "FIRN_DRAIN_S is now FIRN_DRAIN, with a unit: write FIRN_DRAIN=15s" serve --config "$ini" --check-config
unset FIRN_DRAIN_S
refuses "the old name of an option" 2 "drain-s=15 is now --drain, with a unit: write --drain 15s" serve --config "$ini" --drain-s=15 --check-config
refuses "the old name of an option, its value the next word" 2 "drain, with a unit: write --drain 5s" serve --drain-s 5 --check-config
refuses "a value that has its unit keeps it" 2 "write --drain 5min" serve --drain-s=5min --check-config
refuses "the old name of an option without a value" 2 "write --drain Ns" serve --drain-s --check-config
wrong "the old name of a setting with a unit" 2 "write drain = 5min" '[server]' 'drain_s = 5min'
wrong "the old name of a key" 2 "window_ms= is now window=, with a unit: write window=500ms" '[generator a]' 'scheme = snowflake' 'window_ms = 500'
wrong "so is a key that the generator does not have" 2 "firn.ini:1: .*window" '[generator a]' 'scheme = snowflake' 'windo_ms = 5'
wrong "so is a key that a segment does not have" 2 "firn.ini:1: .*start" '[segment a]' 'strat = 5'
wrong "so is a store that is invalid" 2 "firn.ini:1: " '[segment a]' 'store = nosuch://x'
wrong "so is a store of a generator that needs no store" 2 "firn.ini:1: firn has no store of kind 'nosuch'" '[generator a]' 'scheme = uuid7' 'store = nosuch://x'
while read -r url what; do
    wrong "so is the default store $url" 2 "$what" '[server]' "store = $url"
    refuses "nor does the server start with it" 2 "$what" serve --config '' --resp "unix:$TMPDIR/nobody" --http none --store "$url"
done <<'END'
nosuch://user:hidden@x firn has no store of kind 'nosuch': use memory, sqlite, postgres, mysql, redis, rediss, etcd, zookeeper, or install its module in [^:]*$
oracle://x firn has no store of kind 'oracle': use memory, sqlite, postgres
sqlite 'sqlite' is not a kind of store: write sqlite:PATH
/var/lib/firn.db '/var/lib/firn.db' is not a kind of store: write sqlite:PATH
END
# The module of a store that is not firn's.
if command -v "${CC:-cc}" >/dev/null; then
    mkdir -p "$TMPDIR/own/bin" "$TMPDIR/own/lib/firn"
    cp "$FIRN" "$FIRN-serve" "$TMPDIR/own/bin/"
    check "a store module of one's own is built" "${CC:-cc}" -std=c17 -D_GNU_SOURCE -shared -fPIC -Iinclude \
        -o "$TMPDIR/own/lib/firn/dir.so" examples/dir.c
    mine="dir:$TMPDIR/own/ids?unsafe=1" # on any file system
    same "the command uses its store" 3 "$("$TMPDIR/own/bin/firn" segment orders --store "$mine" -n 3 2>/dev/null | tail -n 1)"
    same "the server accepts it" "0 configuration is valid" \
        "$(said=$("$TMPDIR/own/bin/firn" serve --config '' --http none --store "$mine" --check-config 2>&1); echo "$? $(echo "$said" | sed 's/.* is valid$/configuration is valid/')")"
    "$TMPDIR/own/bin/firn" serve --config '' --resp "unix:$TMPDIR/mine.sock" --http none --auto-create --store "$mine" >"$TMPDIR/mine.log" 2>&1 &
    pid=$!
    asks_mine() { printf 'INCR orders\r\n' | timeout 5 python3 -c '
import socket, sys
s = socket.socket(socket.AF_UNIX); s.settimeout(5); s.connect(sys.argv[1]); s.sendall(sys.stdin.buffer.read()); print(s.recv(100).decode().strip())' "$TMPDIR/mine.sock" 2>/dev/null | grep -q '^:[0-9]'; }
    check "and issues integers from it" await asks_mine
    kill $pid
    wait $pid 2>/dev/null
else
    skip "a store module of one's own" "a C compiler is missing"
fi
wrong "a block has at least one integer" 1 "max_block = 0 is out of range: .* 1\.\.1000000000000" '[server]' 'max_block = 0'
write '[generator a]' 'scheme = snowflake' 'node = 5' '[generator b]' 'scheme = snowflake' 'node = 5' 'window = 500ms'
refuses "two generators with one node are refused" 2 "firn.ini:4: .generator a. has the same node as .generator b.|firn.ini:1: .generator a. has the same node as .generator b." serve --config "$ini" --check-config
write '[generator a]' 'scheme = snowflake' 'node = 5' '[generator b]' 'scheme = snowflake' 'node = 5' 'ns = other' '[generator c]' 'scheme = tsid' 'node = 5'
ask serve --config "$ini" --check-config
same "but not with another ns or another scheme" 0 "$status"
refuses "without any address nobody could be served" 2 "resp = none and http = none" serve --config '' --store memory: --resp none --http none
wrong "a key is one word as well" 2 "firn.ini:2: 'step 1 start' is not a key" '[segment a]' 'step 1 start = 2'
wrong "a name with a blank is invalid" 2 "is not a valid name" '[segment a b]'
wrong "a long name is invalid" 2 "is not a valid name" "[segment $(printf '%064d' 0)]"
wrong "a value of a key is one word" 2 "not one word" '[segment a]' 'start = 1 2'
wrong "a line that is too long is refused" 1 "firn.ini:2: the line is longer" '[server]' "hosts = $(printf '%03000d' 0)"
wrong "a socket's mode is octal" 2 "firn.ini:2: socket_mode = 999 .*octal" '[server]' 'socket_mode = 999'
wrong "a certificate without its key is refused" 2 "tls_cert and tls_key" '[server]' 'tls_cert = a'
wrong "an address without a port is invalid" 2 "resp: 'localhost' is not a valid address" '[server]' 'resp = localhost'
wrong "a port out of range is refused with them" 1 "resp: .*127.0.0.1:65536 .* 1 to 65535" '[server]' 'resp = 127.0.0.1:65536'
wrong "so is one of many digits" 1 "1 to 65535" '[server]' 'resp = [::1]:99999999999999999999'
wrong "a port that is not a number makes no address" 2 "is not a valid address" '[server]' 'resp = 127.0.0.1:-1'
wrong "nor is one with a name" 2 "is not a valid address" '[server]' 'resp = example.org:1'
wrong "nor is a shortened one" 2 "is not a valid address" '[server]' 'resp = 127.1:1'
wrong "a socket's path is absolute" 2 "absolute path" '[server]' 'resp = unix:here'
wrong "a path too long for a socket is refused" 2 "at most 107" '[server]' "resp = unix:/$(printf '%0107d' 0)"
for address in 0.0.0.0:1 '[::]:1' 10.0.0.1:1 '127.0.0.1:1 192.0.2.1:2' '[::ffff:192.0.2.1]:1'; do
    wrong "$address without tokens is refused with the cure" 2 "set tokens = FILE" '[server]' "http = $address"
done
for address in 127.9.9.9:1 '[::1]:1' '[::ffff:127.0.0.1]:1' unix:/x localhost:1 none ''; do
    write '[server]' "http = $address"
    ask serve --config "$ini" --check-config
    same "'$address' without tokens is right" "0 $ini is valid" "$status $out$err"
done
wrong "[server] given twice is refused" 2 "firn.ini:2: \[server\] is given twice" '[server]' '[server]'
wrong "[server] has no name" 2 "firn.ini:1: \[server x\] must not have a name: use \[server\]" '[server x]'
wrong "a section far from all lists the known ones" 2 "unknown section \[colours\]: use \[server\]" '[colours]'
wrong "a section of nothing is invalid" 2 "firn.ini:1: unknown section \[\]" '[ ]'
wrong "a generator has a name" 2 "firn.ini:1: .*is not a valid name" '[generator]'
for name in 'a"b' 'a\b' 'n'"$(printf '\303\266')"'n' 'a[b'; do
    wrong "$name is not a valid name" 2 "firn.ini:1: .*is not a valid name" "[segment $name]"
done
wrong "a key has a name" 2 "firn.ini:2: '' is not a key" '[segment a]' '= 5'
wrong "and a value" 2 "firn.ini:2: .*not one word" '[segment a]' 'start ='
wrong "a scheme given twice is refused" 2 "firn.ini:3: scheme is given twice" '[generator a]' 'scheme = uuid7' 'scheme = uuid4'
wrong "an empty scheme is refused with the bounds" 1 "firn.ini:2: scheme has 0 bytes: use 1 to 511" '[generator a]' 'scheme ='
wrong "so is a form that is too long" 1 "firn.ini:2: as has 24 bytes: use 1 to 23" '[generator a]' "as = $(printf '%024d' 0)"
wrong "keys that are too long together are refused" 1 "firn.ini:3: the keys of 'a' are longer than 511 bytes" \
    '[segment a]' "start = $(printf '%0300d' 0)" "offset = $(printf '%0300d' 0)"
printf '[server]\nhosts = a\000b\n' >"$ini"
refuses "a zero byte is refused" 1 "firn.ini:2: .*contains a zero byte" serve --config "$ini" --check-config
yes '' | head -n 200001 >"$ini"
refuses "a file without end is refused" 1 "firn.ini:200001: more than 200000 lines" serve --config "$ini" --check-config
awk 'BEGIN { for (i = 0; i < 8193; i++) print "[segment s" i "]" }' >"$ini"
refuses "names beyond the bound are refused with it" 1 "firn.ini:8193: .*8192" serve --config "$ini" --check-config
write '[ segment a ]' 'nodes = 3' 'node = 7'
ask serve --config "$ini" --print-config
same "blanks within a section's brackets do not count, and a key may begin as another one does" \
    "[segment a] nodes = 3 node = 7" "$(printf '%s\n' "$out" | tail -n 3 | tr '\n' ' ' | sed 's/ $//')"
printf '[server]\nloops = 2' >"$ini"
ask serve --config "$ini" --print-config
same "the last line needs no end" 2 "$(value_of loops)"
write '[generator a]' 'scheme = snowflake' 'node = 5' '[generator b]' 'scheme = snowflake' 'node = 5' 'store = memory:'
ask serve --config "$ini" --check-config
same "two generators with one node are right in two stores" 0 "$status"
wrong "a key without its certificate is refused" 2 "tls_cert and tls_key|tls_key" '[server]' 'tls_key = a'
refuses "a flag that resembles no other gets a hint where to look" 2 "unknown option --colour: run firn serve --help" serve --colour red
refuses "a port belongs to one of two listeners" 2 "unknown option --port: use --resp HOST:PORT for the Redis protocol and --http HOST:PORT" serve --port 7379
refuses "--no-NAME is for switches" 2 "unknown option --no-loops" serve --no-loops
refuses "and takes no value" 2 "unknown option --no-auto-create=yes" serve --no-auto-create=yes
refuses "nor for unknown names" 2 "unknown option --no-colour" serve --no-colour
refuses "the last flag without its value is refused" 2 "--store needs a value" serve --store
refuses "two dashes are not a flag" 2 "takes options only" serve --
refuses "--config needs its file" 2 "--config is given without a file" serve --config
refuses "and is given once" 2 "--config is given twice" serve --config '' --config ''
refuses "a path that is too long is refused" 2 "--config is longer than 1023 bytes" serve --config "/$(printf '%01023d' 0)"
long=FIRN_$(printf '%080d' 0)
env "$long=1" "$FIRN" serve --config '' --check-config >/dev/null 2>"$TMPDIR/long"
same "a variable with a very long name is left alone" "0 " "$? $(cat "$TMPDIR/long")"
refuses "an unknown flag: the nearest name" 2 "did you mean .--log-level.[?]" serve --log-lvl info
refuses "an operand is not valid" 2 "takes options only" serve here
ask serve --config '' --access-log - --print-config
same "a dash alone is a value" - "$(value_of access_log)"
refuses "a flag without its value is refused" 2 "needs a value" serve --store --print-config
refuses "a flag given twice is refused" 2 "given twice" serve --loops 1 --loops=1
refuses "a file that is not there is refused" 6 "cannot read" serve --config "$TMPDIR/nowhere.ini"
refuses "so is a folder" 6 "cannot read" serve --config "$TMPDIR"
FIRN_LOOPS=x ask serve --config '' --check-config
same "a wrong variable is reported by its name" "2 firn: FIRN_LOOPS: loops = x is not a number: use 0..64" "$status $err"
FIRN_LOPS=1 ask serve --config '' --check-config
same "one that is near to a setting is reported" "0 firn: note: the environment variable FIRN_LOPS is unknown: did you mean \`FIRN_LOOPS\`?" "$status $notes"
FIRN_SERVICE_HOST=10.0.0.1 FIRN_PORT=tcp://10.0.0.1:1 FIRN_LIB=/build ask serve --config '' --check-config
same "what others put into the environment is left alone" "0 " "$status $notes"

# ---- tokens and certificates -----------------------------------------------------------------------
tokens=$TMPDIR/tokens
# bad_tokens SENTENCE PATTERN LINE...
bad_tokens() {
    sentence=$1 pattern=$2
    shift 2
    (umask 077 && printf '%s\n' "$@" >"$tokens")
    refuses "$sentence" 2 "$pattern" serve --config '' --tokens "$tokens" --check-config
    case $err in *secret*) fail "and its token is not printed" "$err" ;; esac
}
bad_tokens "a token without a role is refused with its line" "tokens:2: the line does not begin with a role" '# who' 'secretsecretsecretsecret'
bad_tokens "a short token is refused" "tokens:1: the token has 6 bytes" 'admin secret'
bad_tokens "a third word that is not a name is refused" "tokens:1: the words after the token" 'admin secretsecretsecret a/b'
bad_tokens "a fourth word that is not a quota is refused" "tokens:1: the words after the token" 'admin secretsecretsecret name more'
refuses "a folder of the access log that is missing" 6 "cannot write the access log /proc/nothing/log: No such file or directory: check" \
    serve --config '' --access-log /proc/nothing/log --check-config
bad_tokens "a token in two lines is refused" "tokens:2: the token is in an earlier line too" 'admin secretsecretsecret a' 'issue secretsecretsecret b'
bad_tokens "no token at all is refused" "contains no token" '# admin secretsecretsecret'
bad_tokens "a line without end is refused" "tokens:1: the line is too long" "admin secret$(printf '%02000d' 0)"
(umask 077 && printf 'admin secretsecretsecret\0x' >"$tokens")
refuses "a byte 0 is refused" 2 "tokens:1: the line contains a zero byte" serve --config '' --tokens "$tokens" --check-config
(umask 077 && printf 'admin secretsecretsecret\nissue othersecretothersecret\n' >"$tokens")
chmod 644 "$tokens"
refuses "tokens that others may read are refused" 2 "chmod" serve --config '' --tokens "$tokens" --check-config
chmod 640 "$tokens"
ask serve --config '' --tokens "$tokens" --http 0.0.0.0:1 --check-config
same "with tokens a public address is right" "0 " "$status $err"
refuses "a file of tokens that is not there is refused" 6 "nowhere" serve --config '' --tokens "$TMPDIR/nowhere" --check-config
ask serve --config '' --tokens "$tokens" --print-config
same "no token is printed" "$tokens" "$(value_of tokens)$(printf '%s\n' "$out" | grep secret)"
for name in one two; do
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$name" \
        -keyout "$TMPDIR/$name.key" -out "$TMPDIR/$name.pem" 2>/dev/null
done
ask serve --config '' --tls-cert "$TMPDIR/one.pem" --tls-key "$TMPDIR/one.key" --check-config
same "a certificate and its key are right" "0 " "$status $err"
refuses "a key of another certificate is refused" 2 "not the private key of" \
    serve --config '' --tls-cert "$TMPDIR/one.pem" --tls-key "$TMPDIR/two.key" --check-config
refuses "what is not a certificate is refused" 2 "not a certificate" \
    serve --config '' --tls-cert "$tokens" --tls-key "$TMPDIR/two.key" --check-config
# Nobody writes to it.
mkfifo -m 600 "$TMPDIR/pipe"
at_once() {
    timeout 60 "$FIRN" serve --check-config "$@" 2>&1
}
for flags in "--config $TMPDIR/pipe" "--tokens $TMPDIR/pipe" "--tls-cert $TMPDIR/pipe --tls-key $TMPDIR/one.key" \
    "--tls-cert $TMPDIR/one.pem --tls-key $TMPDIR/pipe" \
    "--tls-cert $TMPDIR/one.pem --tls-key $TMPDIR/one.key --tls-client-ca $TMPDIR/pipe"; do
    # shellcheck disable=SC2086 # flags
    same "a named pipe is not waited for: ${flags##*--}" \
        "2 firn: $(printf '%.100s' "$TMPDIR/pipe") is a named pipe, and reading one can take for ever: use a regular file" \
        "$(said=$(at_once $flags); echo "$? $said")"
done
same "a shell's pipe is read" "0 /dev/fd/9 is valid" "$(printf '[server]\nwait = 7ms\n' | { said=$(at_once --config /dev/fd/9 9<&0); echo "$? $said"; })"

# ---- nothing is touched ----------------------------------------------------------------------------
write '[server]' "store = sqlite:$TMPDIR/untouched/firn.db?unsafe=1" "resp = unix:$TMPDIR/untouched.sock" '[generator a]' 'scheme = snowflake' '[segment b]'
ask serve --config "$ini" --check-config
same "--check-config opens neither store nor socket" "0 $ini is valid" \
    "$status $out$(ls -d "$TMPDIR"/untouched* 2>/dev/null)"
cp "$FIRN" "$TMPDIR/firn"
alone=$("$TMPDIR/firn" serve 2>&1)
same "without the server next to it the command says so" "6 firn: the server is not installed: install the package firn-server (Debian), or put firn-serve next to firn, in $(printf '%.60s' "$TMPDIR")" \
    "$? $alone"
finish
