# SPDX-License-Identifier: MIT
# Colour: when there is any, and that the fields of an ID have the tones of the server's console.
. test/command.tap
escape=$(printf '\033')
id=1541815603606036480

# colours ARGS...: how many lines of firn ARGS hold an escape sequence
colours() {
    "$FIRN" "$@" 2>/dev/null | grep -c "$escape"
}
for words in "show $id" "schemes snowflake" "nodes $unsafe"; do
    "$FIRN" new snowflake "$unsafe" >/dev/null 2>&1
    # shellcheck disable=SC2086
    same "a pipe gets no colour from firn $words" 0 "$(colours $words)"
    # shellcheck disable=SC2086
    check "--color=always gives it some" [ "$(NO_COLOR=1 colours $words --color=always)" -gt 0 ]
    # shellcheck disable=SC2086
    same "but not in JSON" 0 "$(colours $words --json --color=always)"
done
refuses "another word is refused" 2 "--color green is not valid: use auto, always or never" show --color=green $id
if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    # terminal VARIABLES ARGS: firn on a pseudo-terminal, in this environment
    terminal() {
        env -u NO_COLOR -u COLORTERM TERM=xterm $1 script -qec "'$FIRN' $2" /dev/null </dev/null | grep -c "$escape"
    }
    check "a terminal gets colour" [ "$(terminal TERM=xterm "show $id")" -gt 0 ]
    check "an empty NO_COLOR changes nothing" [ "$(terminal NO_COLOR= "show $id")" -gt 0 ]
    same "NO_COLOR removes it" 0 "$(terminal NO_COLOR=1 "show $id")"
    same "so does TERM=dumb" 0 "$(terminal TERM=dumb "show $id")"
    same "and --color=never" 0 "$(terminal TERM=xterm "show --color=never $id")"
    same "JSON has none" 0 "$(terminal TERM=xterm "show --json $id")"
    wide() {
        for words in "schemes" "schemes uuid1" "schemes baidu" "show --all $id" "help" "new --help" "stamp --help" "nodes $unsafe"; do
            script -qec "'$FIRN' $words" /dev/null </dev/null | tr -d '\r' | sed "s/$escape\[[0-9;]*m//g" | awk 'length > 80'
        done
    }
    same "no line on a terminal is wider than 80 columns" "" "$(wide)"
else
    skip "a terminal gets colour" "no pseudo-terminal is available"
fi

# The console's choice (ROLES of read.js) against the colours of `firn schemes NAME`, scheme by scheme.
cat >"$TMPDIR/tones.py" <<'PYTHON'
import json, os, re, subprocess, sys
firn = sys.argv[1]
with open("server/console/read.js", encoding="utf-8") as file:
    script = file.read()
roles = {name: re.findall(r'"(\w+)"', tones) for name, tones in re.findall(r"^  (\w+): \{ tones: \[([^\]]*)\]", script, re.M)}
codes = {"33": "blue", "208": "orange", "36": "green", "134": "purple", "142": "yellow", "167": "red", "38": "sky", "245": "grey"}
environment = dict(os.environ, COLORTERM="truecolor")
for line in subprocess.run([firn, "schemes", "--json"], capture_output=True, text=True, check=True).stdout.splitlines():
    scheme = json.loads(line)
    tones, used = {}, set()
    for piece in scheme["slices"]:
        if piece["name"] not in tones:
            choice = roles[piece["role"]]
            tones[piece["name"]] = next((tone for tone in choice if tone not in used), choice[0])
            used.add(tones[piece["name"]])
    drawn = subprocess.run([firn, "schemes", "--color=always", scheme["name"]], capture_output=True, text=True, env=environment).stdout
    fields = {name: codes[code] for code, name in re.findall(r"^  \033\[38;5;(\d+)m(\w+) *\033", drawn, re.M)}
    expected = {piece["name"]: tones[piece["name"]] for piece in scheme["slices"] if piece["role"] != "constant"}
    if fields != expected:
        print(scheme["name"], fields, expected)
PYTHON
same "each field has the tone of the console" "" "$(python3 "$TMPDIR/tones.py" "$FIRN" 2>&1)"
finish
