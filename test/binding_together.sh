# SPDX-License-Identifier: MIT
# Programs in four languages, and in Java, Go and Rust if they are installed, issue snowflakes from one SQLite store at the same
# time: no ID twice, among TOGETHER of them (400000; `make together` takes 10^7). The duplicate check finds an injected duplicate.
. test/tap
case $BUILD in /*) built=$BUILD ;; *) built=$PWD/$BUILD ;; esac
total=${TOGETHER:-400000}
each=$((total / 4))
python=/usr/bin/python3
if ! command -v g++ >/dev/null || ! command -v node >/dev/null || [ ! -f /usr/include/node/node_api.h ] ||
    ! $python -c 'import setuptools, wheel' 2>/dev/null; then
    [ "${CI:-}" != true ] || fail "g++, nodejs, libnode-dev, python3-dev, python3-setuptools and python3-wheel are installed"
    skip "four languages at once" "g++, nodejs, libnode-dev, python3-setuptools or python3-wheel is missing"
    finish
fi
# The tests of both packages build them too, perhaps at this moment: these go into a folder of this test.
own=$TMPDIR/built
mkdir "$own"
ln -s "$built"/libfirn.so* "$own/"
java=
if command -v javac >/dev/null && [ -f "$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")/include/jni.h" ]; then
    java=java
elif [ "${CI:-}" = true ]; then
    fail "default-jdk-headless is installed"
fi
go=
if command -v go >/dev/null; then
    go=go
elif [ "${CI:-}" = true ]; then
    fail "golang-go is installed"
fi
rust=
cargo=cargo
[ ! -x /usr/bin/cargo ] || cargo=/usr/bin/cargo
if command -v $cargo >/dev/null && [ -n "$(find /usr/share/cargo/registry -maxdepth 1 -name 'serde_json-*' 2>/dev/null)" ]; then
    rust=rust
elif [ "${CI:-}" = true ]; then
    fail "cargo and librust-serde-json-dev are installed"
fi
GOCACHE=${GOCACHE:-$built/go-cache}
export GOCACHE
# shellcheck disable=SC2086 # names or nothing
check "the packages are built" env BUILD="$own" bindings/build node python $java $go $rust
check "the wheel is unpacked" $python -m zipfile -e "$(ls "$own"/bindings/python/*.whl)" "$TMPDIR/site"
url="sqlite:$TMPDIR/ids.db?unsafe=1"
LD_LIBRARY_PATH=$built
export LD_LIBRARY_PATH url each

cat >"$TMPDIR/issue.cpp" <<'end'
#include <firn/firn.hpp>
#include <cstdio>
#include <cstdlib>
int main() {
    firn::generator gen("snowflake", "full=wait", std::getenv("url"));
    auto ahead = firn::block::open(gen);
    for (long i = 0, each = std::atol(std::getenv("each")); i < each; i++) {
        std::printf("%llu\n", (unsigned long long)(i % 2 ? gen.next_u64() : ahead.next_u64()));
    }
}
end
cat >"$TMPDIR/issue.py" <<'end'
import itertools, os, firn
each = int(os.environ["each"])
with firn.open("snowflake", store=os.environ["url"], full="wait") as gen:
    for id in itertools.islice(gen, each // 2):
        print(id)
    for _ in range(each - each // 2):
        print(gen.next())
end
cat >"$TMPDIR/issue.js" <<'end'
const firn = require(process.env.package)
const each = Number(process.env.each)
const gen = firn.open('snowflake', { store: process.env.url, full: 'wait' })
const it = gen.ids()
let out = []
for (let i = 0; i < each; i++) {
  out.push(i % 2 ? gen.next() : it.next().value)
  if (out.length === 10000 || i === each - 1) {
    require('fs').writeSync(1, out.join('\n') + '\n')
    out = []
  }
}
gen.close()
end
cat >"$TMPDIR/Issue.java" <<'end'
import dev.firn.*;
class Issue {
    public static void main(String[] args) {
        try (Generator gen = Generator.of("snowflake").store(System.getenv("url")).set("full", "wait").open(); Block block = gen.block()) {
            StringBuilder out = new StringBuilder();
            for (int i = 0, each = Integer.parseInt(System.getenv("each")); i < each; i++) {
                out.append(i % 2 == 0 ? gen.nextLong() : block.nextLong()).append('\n');
                if (i % 10000 == 9999 || i == each - 1) {
                    System.out.print(out);
                    out.setLength(0);
                }
            }
        }
    }
}
end
mkdir "$TMPDIR/go"
printf 'module issue\n\ngo 1.19\n\nrequire firn.example/firn v0.1.0\n\nreplace firn.example/firn => %s\n' "$own/bindings/go" >"$TMPDIR/go/go.mod"
cat >"$TMPDIR/go/main.go" <<'end'
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"

	"firn.example/firn"
	"firn.example/firn/libfirn"
)

func main() {
	gen, err := libfirn.Open[firn.ID]("snowflake", libfirn.Config{Store: os.Getenv("url"), Keys: "full=wait"})
	if err != nil {
		panic(err)
	}
	block, _ := gen.IDs(0)
	from := []firn.Source[firn.ID]{gen, block}
	out := bufio.NewWriter(os.Stdout)
	each, _ := strconv.Atoi(os.Getenv("each"))
	for i := 0; i < each; i++ {
		id, err := from[i%2].Next(context.Background())
		if err != nil {
			panic(err)
		}
		fmt.Fprintln(out, id)
	}
	out.Flush()
	gen.Close()
}
end
mkdir -p "$TMPDIR/rust/src"
printf '[package]\nname = "issue"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\nfirn = "0.1"\n' >"$TMPDIR/rust/Cargo.toml"
cat >"$TMPDIR/rust/src/main.rs" <<'end'
use std::{env::var, io::Write, time::Duration};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let gen = firn::Generator::builder("snowflake").store(var("url")?).key("full", "wait").open()?;
    let mut ids = gen.ids::<u64>(Duration::from_millis(1))?;
    let mut out = std::io::BufWriter::new(std::io::stdout());
    for i in 0..var("each")?.parse::<u64>()? {
        let id = if i % 2 == 0 { gen.next_u64()? } else { ids.next().ok_or("no ID")?? };
        writeln!(out, "{id}")?;
    }
    Ok(out.flush()?)
}
end
check "the program in C++ is built" g++ -std=c++17 -O2 -Iinclude -Ibindings/cpp -o "$TMPDIR/issue" "$TMPDIR/issue.cpp" -L"$built" -lfirn
package=$own/bindings/node
export package
"$TMPDIR/issue" >"$TMPDIR/cpp.ids" 2>"$TMPDIR/cpp.log" &
first=$!
PYTHONPATH="$TMPDIR/site" $python "$TMPDIR/issue.py" >"$TMPDIR/python.ids" 2>"$TMPDIR/python.log" &
second=$!
node "$TMPDIR/issue.js" >"$TMPDIR/node.ids" 2>"$TMPDIR/node.log" &
third=$!
"$built/bin/firn" new snowflake -n "$each" mode=window full=wait "store=$url" >"$TMPDIR/command.ids" 2>"$TMPDIR/command.log" &
fourth=$!
others=
if [ -n "$java" ]; then
    java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp "$(find "$own/bindings/java" -name 'firn-*[0-9].jar')" "$TMPDIR/Issue.java" \
        >"$TMPDIR/java.ids" 2>"$TMPDIR/java.log" &
    others=$!
fi
if [ -n "$go" ]; then
    check "the program in Go is built" env -C "$TMPDIR/go" GOFLAGS=-mod=mod GOPROXY=off C_INCLUDE_PATH="$PWD/include" LIBRARY_PATH="$built" go build .
    "$TMPDIR/go/issue" >"$TMPDIR/go.ids" 2>"$TMPDIR/go.log" &
    others="$others $!"
fi
if [ -n "$rust" ]; then
    check "the program in Rust is built" env -C "$own/bindings/rust" -u CARGO_TARGET_DIR CARGO_HOME="$TMPDIR/rust/home" FIRN_LIB="$built" \
        RUSTC="$(dirname "$(command -v $cargo)")/rustc" $cargo build -q --manifest-path "$TMPDIR/rust/Cargo.toml"
    "$own/bindings/rust/target/debug/issue" >"$TMPDIR/rust.ids" 2>"$TMPDIR/rust.log" &
    others="$others $!"
fi
ended=0
for one in $first $second $third $fourth $others; do
    wait $one || ended=1
done
# shellcheck disable=SC2086
same "all have issued their IDs" "0 $((each * (4 + $(set -- $others && echo $#))))" "$ended $(cat "$TMPDIR"/*.ids | wc -l)"
[ $ended = 0 ] || cat "$TMPDIR"/*.log
cat "$TMPDIR"/*.ids >"$TMPDIR/all"
check "no ID was issued twice" "$built/bin/firn" check --scheme snowflake "$TMPDIR/all"
sed -n 7p "$TMPDIR/node.ids" >>"$TMPDIR/all"
check "an injected duplicate is found" sh -c "! '$built/bin/firn' check --scheme snowflake '$TMPDIR/all'"
finish
