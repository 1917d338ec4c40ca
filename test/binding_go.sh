# SPDX-License-Identifier: MIT
# The module for Go: built as `./run bindings` does, its own tests with the race detector and the checks of cgo, against
# libfirn and firn serve; then with a library of another version, and the programs of its page.
. test/tap
if ! command -v go >/dev/null; then
    [ "${CI:-}" != true ] || fail "golang-go is installed"
    skip "the module for Go" "golang-go is missing"
    finish
fi
case $BUILD in /*) built=$BUILD ;; *) built=$PWD/$BUILD ;; esac
case $FIRN in /*) ;; *) FIRN=$PWD/$FIRN ;; esac
FIRN_SPEC=$PWD/spec
LD_LIBRARY_PATH=$built
GOCACHE=${GOCACHE:-$built/go-cache} GOFLAGS='-buildvcs=false -mod=mod' GOPROXY=off
C_INCLUDE_PATH=$PWD/include LIBRARY_PATH=$built
export FIRN FIRN_SPEC LD_LIBRARY_PATH GOCACHE GOFLAGS GOPROXY C_INCLUDE_PATH LIBRARY_PATH
case $(go version) in # since Go 1.21 these checks need Go's own packages built again: the plain ones are on
*' go1.'1* | *' go1.20'*) export GODEBUG=cgocheck=2 ;;
esac
check "the module is built" bindings/build go
check "shim.c has no warnings" cc -std=c17 -O2 -Wall -Wextra -Werror -c -o "$TMPDIR/shim.o" bindings/go/libfirn/shim.c
module=$built/bindings/go

same "the codes are the same as in firn.h: run go generate in bindings/go" "$(bindings/go/codes.sh)" "$(cat bindings/go/codes.go)"
same "gofmt has nothing to change" "" "$(gofmt -l bindings/go)"
tree=$PWD
cd "$module" || exit 1
check "the tests pass, with the race detector" timeout 600 go test -race -count=1 ./...
check "nothing leaks" env FIRN_LEAKS=1 MALLOC_ARENA_MAX=1 timeout 300 go test -count=1 -run Leak ./libfirn
same "the client has no cgo" "[] [] []" "$(go list -f '{{.CgoFiles}}' . ./client ./internal/kind | tr '\n' ' ' | sed 's/ $//')"

# A library of another version, loaded first
echo 'const char *firn_version(void) { return "9.8.7"; }' >"$TMPDIR/other.c"
check "a library of another version is compiled" cc -shared -fPIC -o "$TMPDIR/other.so" "$TMPDIR/other.c"
check "it is refused" env FIRN_OTHER=9.8.7 LD_PRELOAD="$TMPDIR/other.so" go test -count=1 -run '^TestVersion$' ./libfirn
cd "$tree" || exit 1

# The page: its first program; its second block against a server; the others with pgx on PostgreSQL and a stub of GORM.
# block N: the block of Go of that number
block() {
    awk -v n="$1" '/^```go$/ { at++; inside = 1; next } /^```/ { inside = 0 } inside && at == n' bindings/go/README.md
}
page=$TMPDIR/gopath/src/page
mkdir -p "$page/first" "$page/second" "$page/third" "$TMPDIR/gopath/src/firn.example" "$TMPDIR/gopath/src/gorm.io/gorm"
ln -s "$module" "$TMPDIR/gopath/src/firn.example/firn"
printf 'package gorm\n\ntype DB struct{}\n' >"$TMPDIR/gopath/src/gorm.io/gorm/gorm.go"
block 1 | sed "s|sqlite:/var/lib/app|sqlite:$TMPDIR|; s|firn.db\"|&, Unsafe: true|" >"$page/first/main.go"
{
    printf 'package main\n\nimport (\n\t"context"\n\t"errors"\n\t"fmt"\n\t"log"\n\t"os"\n\t"time"\n\n'
    printf '\t"firn.example/firn"\n\t"firn.example/firn/client"\n)\n\nfunc main() {\nctx := context.Background()\n'
    block 2 | sed "s|ids-1:7379|unix:$TMPDIR/socket|"
    printf 'fmt.Println(id, err)\n}\n'
} >"$page/second/main.go"
{
    printf 'package main\n\nimport (\n\t"context"\n\t"fmt"\n\t"os"\n\n\t"firn.example/firn"\n\t"firn.example/firn/libfirn"\n'
    printf '\t"github.com/jackc/pgx/v4"\n\t"gorm.io/gorm"\n)\n\nvar gen *libfirn.Generator[firn.ID]\n\n'
    block 4
    printf 'func insert(ctx context.Context, conn *pgx.Conn, total int64) error {\n'
    block 5
    cat <<'end'
	return err
}

func main() {
	ctx := context.Background()
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	var err error
	gen, err = libfirn.Open[firn.ID]("snowflake", libfirn.Config{Store: "memory:"})
	must(err)
	conn, err := pgx.Connect(ctx, os.Args[1])
	must(err)
	_, err = conn.Exec(ctx, "CREATE TEMPORARY TABLE orders (id bigint PRIMARY KEY, uuid uuid, total bigint)")
	must(err)
	must(insert(ctx, conn, 3))
	order := Order{Total: 4}
	must(order.BeforeCreate(nil))
	chosen := Order{ID: 7}
	must(chosen.BeforeCreate(nil))
	uuid := firn.UUID{15: 7}
	_, err = conn.Exec(ctx, "INSERT INTO orders VALUES ($1, $2, $3)", order.ID, uuid, order.Total)
	must(err)
	var id firn.ID
	var back firn.UUID
	must(conn.QueryRow(ctx, "SELECT id, uuid FROM orders WHERE id = $1", order.ID).Scan(&id, &back))
	fmt.Println(id == order.ID, back == uuid, chosen.ID)
}
end
} >"$page/third/main.go"
mkdir "$page/old"
{
    printf 'package main\n\nimport (\n\t"crypto/sha256"\n\t"encoding/binary"\n\t"fmt"\n\t"time"\n\n\t"firn.example/firn"\n'
    printf '\t"firn.example/firn/libfirn"\n)\n\ntype row struct {\n\tID      firn.ID\n\tCreated time.Time\n}\n\n'
    printf 'func stamp(file []byte, rows []*row) error {\n'
    block 3 | sed "s|sqlite:/var/lib/app|sqlite:$TMPDIR|; s|firn.db\"|&, Unsafe: true|"
    cat <<'end'
	return nil
}

func main() {
	a, b := &row{Created: time.Unix(1556971200, 0)}, &row{Created: time.Unix(1556971200, 0)}
	fmt.Println(stamp([]byte("a file"), []*row{a}), stamp([]byte("a file"), []*row{b}), a.ID == b.ID, stamp(nil, nil) != nil)
}
end
} >"$page/old/main.go"
# built DIRECTORY: as Debian builds, without modules
built() {
    (cd "$page/$1" && GO111MODULE=off GOFLAGS=-buildvcs=false GOPATH=$TMPDIR/gopath:/usr/share/gocode go build -o "$TMPDIR/$1" .)
}
check "the first program of the page is built" built first
check "and prints IDs and a range" sh -c "'$TMPDIR/first' | grep -qE '^[0-9]+ [0-9]+ <nil>\$' &&
    '$TMPDIR/first' | grep -qx '2008327652766646272 2008690040632246271 <nil>'"
check "so is the job of the page" built old
same "which repeats its IDs, and no other input has them" "<nil> <nil> true true" "$("$TMPDIR/old" 2>&1)"
check "the second is built" built second
mkdir "$page/languages"
{
    printf 'package main\n\nimport (\n\t"context"\n\n\t"firn.example/firn"\n\t"firn.example/firn/client"\n\t"firn.example/firn/libfirn"\n)\n\n'
    awk '/^```go$/ { inside = 1; print "func _(ctx context.Context) {"; next }
        /^```/ && inside { inside = 0; print "_, _ = id, err\n}" } inside' docs/guides/languages.md
    printf 'func main() {}\n'
} >"$page/languages/main.go"
check "so are the blocks of docs/guides/languages.md" built languages
"$FIRN" serve --resp "unix:$TMPDIR/socket" --http none --store memory: --log-level error &
server=$!
await test -S "$TMPDIR/socket"
check "the second gets a UUID from a server" sh -c "'$TMPDIR/second' | grep -qE '^[0-9a-f-]{36} <nil>\$'"
awk '/^## 40 pods/ { here = 1 } /^```go$/ && here { inside = 1; next } /^```/ { inside = 0; here = here && !done }
    inside { print; done = 1 }' docs/guides/deploying.md >"$TMPDIR/service.go"
mkdir "$page/service"
sed 's/"127.0.0.1:8080"/os.Getenv("LISTEN")/' "$TMPDIR/service.go" >"$page/service/main.go"
check "the service of docs/guides/deploying.md is built" built service
# Another program may take a free port first.
for _ in 1 2 3 4 5; do
    LISTEN=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print("127.0.0.1:%d" % s.getsockname()[1])')
    export LISTEN
    FIRN_SERVERS="unix:/nowhere unix:$TMPDIR/socket" "$TMPDIR/service" 2>"$TMPDIR/service.log" &
    service=$!
    asked() { ! kill -0 $service 2>/dev/null || curl -fso "$TMPDIR/order" "http://$LISTEN/orders"; }
    await asked
    [ ! -s "$TMPDIR/order" ] || break
done
check "and issues snowflakes from the server that is there" sh -c "cat '$TMPDIR/service.log'; grep -qE '^[0-9]{19}\$' '$TMPDIR/order'"
kill $service $server
wait $service $server
if [ -d /usr/share/gocode/src/github.com/jackc/pgx/v4 ]; then
    check "the others are built, with pgx" built third
    ENGINE_OWNER=$$
    export ENGINE_OWNER
    if url=$(test/engine start postgres "$TMPDIR/pg"); then
        same "and IDs are columns" "true true 7" "$("$TMPDIR/third" "$url" 2>&1)"
        test/engine stop "$TMPDIR/pg"
    else
        skip "and IDs are columns" "PostgreSQL is not installed"
    fi
else
    skip "the others are built, with pgx" "golang-github-jackc-pgx-v4-dev is missing"
fi
finish
