# SPDX-License-Identifier: MIT
# The clients of the server: test/clients/clients.py asks each language the same; then the blocks of their READMEs run
# as printed, and their packages are built.
. test/serve.tap
languages=

# language NAME PACKAGES COMMAND...: is tested if the command succeeds.
language() {
    name=$1 packages=$2
    shift 2
    if "$@" >/dev/null 2>&1; then
        languages=$languages${languages:+,}$name
        return 0
    fi
    [ "${CI:-}" != true ] || fail "$packages are installed"
    skip "the client for $name" "one of these packages is missing: $packages"
    return 1
}
language php "php-cli php-curl php-illuminate-database php-illuminate-events php-sqlite3" php -r \
    'require "Illuminate/Database/autoload.php"; require "Illuminate/Events/autoload.php"; exit(extension_loaded("curl") && extension_loaded("pdo_sqlite") ? 0 : 1);'
language ruby "ruby ruby-redis ruby-activerecord ruby-sqlite3" ruby -e 'require "redis"; require "active_record"; require "sqlite3"'
language lua "lua5.3 lua-socket lua-sec lua-posix" lua5.3 -e 'require "socket" require "ssl" require "posix.unistd"'
language lua5.4 "lua5.4 lua-socket lua-sec" lua5.4 -e 'require "socket" require "ssl"'
language elixir "elixir" elixir -e ':ssl.start()'
language csharp "mono-mcs libmono-system-net-http4.0-cil" sh -c 'command -v mcs && ls /usr/lib/mono/4.5/System.Net.Http.dll'
language python "python3-redis" /usr/bin/python3 -c 'import redis'
language node "nodejs" node -e 'fetch, AbortSignal.timeout'
language java "default-jdk-headless" sh -c 'command -v javac'
/usr/bin/python3 test/clients/clients.py "$languages" >"$TMPDIR/checks" 2>&1
ended=$?
grep -v '^1\.\.' "$TMPDIR/checks"
checks=$(grep -cE '^(not )?ok ' "$TMPDIR/checks")
failures=$((failures + $(grep -c '^not ok ' "$TMPDIR/checks")))
same "the checks ran to their end" "$((failures != 0))" "$ended"

# ---- READMEs --------------------------------------------------------------------------------------

# blocks LANGUAGE FENCE: the blocks of its README in $TMPDIR/LANGUAGE.N, asking the server of this test
blocks() {
    awk -v fence="\`\`\`$2" -v file="$TMPDIR/$1." '$0 == "```" { inside = 0 } inside { print >(file n) } $0 == fence { inside = 1; n++ }' \
        "bindings/$1/README.md"
    sed -i -E "s,(redis://)ids[12]:7379,\1$resp,g; s,(http://)ids[12]:7380,\1$http,g" "$TMPDIR/$1."[1-9]
}
serve --auto-create
for name in $(echo "$languages" | tr , ' '); do
    case $name in
    php)
        blocks php php
        for file in "$TMPDIR"/php.[1-9]; do
            printf '<?php\n%s\n' "$(cat "$file")" >"$file.php"
        done
        check "php: the blocks of its README run, with Laravel's models" php bindings/php/tests/readme.php "$TMPDIR"/php.[1-9].php
        ;;
    ruby)
        blocks ruby ruby
        cat "$TMPDIR"/ruby.[1-9] >"$TMPDIR/readme.rb"
        check "ruby: the blocks of its README run, with Rails' models" ruby bindings/ruby/tests/readme.rb "$TMPDIR/readme.rb"
        ;;
    lua)
        blocks lua lua
        cat "$TMPDIR"/lua.[1-9] >"$TMPDIR/readme.lua"
        check "lua: the block of its README runs" env LUA_PATH="bindings/lua/?.lua;;" lua5.3 "$TMPDIR/readme.lua"
        ;;
    lua5.4)
        check "lua5.4: too" env LUA_PATH="bindings/lua/?.lua;;" lua5.4 "$TMPDIR/readme.lua"
        continue
        ;;
    csharp)
        blocks csharp csharp
        printf 'using System;\nclass Readme {\n static void Main() { Run().GetAwaiter().GetResult(); }\n static async System.Threading.Tasks.Task Run() {\n%s\n Console.Write(id < next);\n}}\n' \
            "$(cat "$TMPDIR"/csharp.[1-9])" >"$TMPDIR/Readme.cs"
        check "csharp: the block of its README is compiled" mcs -langversion:7 -r:System.Net.Http -out:"$TMPDIR/readme.exe" bindings/csharp/Firn.cs "$TMPDIR/Readme.cs"
        same "csharp: and runs" True "$(mono "$TMPDIR/readme.exe" 2>&1)"
        ;;
    python)
        blocks python python
        cat $(grep -l firn_client "$TMPDIR"/python.[1-9]) >"$TMPDIR/readme.py"
        check "python: the block of its README runs" env PYTHONPATH=bindings/python PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$TMPDIR/readme.py"
        continue # test/binding_python.sh builds the package
        ;;
    node)
        blocks node js
        mkdir -p "$TMPDIR/node_modules/firn"
        cp bindings/node/*.js bindings/node/*.mjs bindings/node/package.json "$TMPDIR/node_modules/firn/"
        { echo '(async () => {' && cat $(grep -l firn/client "$TMPDIR"/node.[1-9]) && echo '})()'; } >"$TMPDIR/readme.js"
        check "node: the block of its README runs" node "$TMPDIR/readme.js"
        awk '/^## / { app = /A Next.js app/ } /^```$/ { inside = 0 } app && inside && n == 3 { print } app && /^```js$/ { n++; inside = 1 }' \
            docs/guides/deploying.md | sed -E "s,(http://)ids[12]:7380,\1$http,g" >"$TMPDIR/edge.mjs"
        same "node: a route handler of an edge runtime, as docs/guides/deploying.md has it" "edge 1" \
            "$(cd "$TMPDIR" && node --input-type=module -e 'import { runtime, POST } from "./edge.mjs"
                console.log(runtime, (await (await POST()).text()).match(/^{"id":"[0-9]{15,19}"}$/).length)' 2>&1)"
        same "node: a fetch that caches is asked not to" "POST no-store" "$(node -e 'const { Client } = require("./bindings/node/client.js");
            const fetch = (url, { method, cache }) => { console.log(method, cache); process.exit() }
            new Client("http://127.0.0.1:1", { fetch }).next("uuid7", { output: "hex" })' 2>&1)"
        same "node: calls at the same time, in any order of refills, get an ID each" "0 0 0" "$(node test/clients/turns.js 2>&1)"
        continue # test/binding_node.sh builds the package
        ;;
    java)
        blocks java java
        mkdir -p "$TMPDIR/built"
        ln -s "$BUILD"/libfirn.so* "$TMPDIR/built/"
        check "java: its package is built" env BUILD="$TMPDIR/built" bindings/build java
        cp "$(grep -l 'class Ask' "$TMPDIR"/java.[1-9])" "$TMPDIR/Ask.java"
        same "java: the program of its README asks the server" true \
            "$(java -cp "$(find "$TMPDIR/built" -name 'firn-*[0-9].jar')" "$TMPDIR/Ask.java" 2>&1)"
        continue
        ;;
    elixir)
        blocks elixir elixir
        cat "$TMPDIR"/elixir.[1-9] >"$TMPDIR/readme.exs"
        same "elixir: a client that is busy is an error, and no exit" unreachable "$(elixir -r bindings/elixir/lib/firn.ex -e '
            {:ok, firn} = Firn.start_link([])
            :sys.suspend(firn)
            {:error, error} = Firn.next(firn, "snowflake")
            IO.puts(error.kind)' 2>&1)"
        check "elixir: the blocks of its README run, with a stub of Ecto" elixir -r bindings/elixir/lib/firn.ex bindings/elixir/tests/readme.exs "$TMPDIR/readme.exs"
        ;;
    esac
    check "$name: its package is built" env BUILD="$TMPDIR/built" bindings/build "$name"
done
finish
