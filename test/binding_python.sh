# SPDX-License-Identifier: MIT
# The package for Python: built as a wheel from a copy of its folder, installed next to it, and tested with its own tests; then
# the same tests with the sanitizers' library.
. test/tap
python=/usr/bin/python3
[ -x $python ] || python=python3
if ! $python -c 'import setuptools, wheel, sysconfig, os; os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null; then
    [ "${CI:-}" != true ] || fail "python3-dev, python3-setuptools and python3-wheel are installed"
    skip "the package for Python" "python3-dev, python3-setuptools or python3-wheel is missing"
    finish
fi
check "a wheel is built, from the source distribution" env CFLAGS=-Werror bindings/build python
package=$BUILD/bindings/python
same "one wheel serves every Python from 3.9 on" "firn-0.1.0-cp39-abi3" "$(basename "$package"/*.whl | sed 's/-linux.*//')"
mkdir "$TMPDIR/site"
check "the wheel holds the package" $python -m zipfile -e "$(ls "$package"/*.whl)" "$TMPDIR/site"
for file in firn_client.py firn/_firn.abi3.so firn/__init__.py firn/__init__.pyi firn/py.typed firn/django.py firn/sqlalchemy.py; do
    check "the wheel holds $file" test -f "$TMPDIR/site/$file"
done

same "the wheel has no file of C" "" "$(find "$TMPDIR/site" -name '*.[ch]')"

# tried SENTENCE FOLDER_OF_LIBFIRN TEST [VARIABLE=VALUE...]
tried() {
    sentence=$1 library=$2 name=$3
    shift 3
    if env LD_LIBRARY_PATH="$library" PYTHONPATH="$TMPDIR/site" PYTHONDONTWRITEBYTECODE=1 "$@" timeout 600 $python \
        "bindings/python/tests/$name.py" >"$TMPDIR/log" 2>&1; then
        count=$(sed -n 's/^Ran \([0-9]*\) tests* .*/\1/p' "$TMPDIR/log")
        if [ "${count:-0}" -gt 0 ]; then pass "$sentence: $count tests"; else fail "$sentence" "$(cat "$TMPDIR/log")"; fi
    else
        fail "$sentence" "$(tail -n 40 "$TMPDIR/log")"
    fi
}
tried "the package works" "$BUILD" test_firn
if $python -c 'import redis' 2>/dev/null; then
    tried "the client of the server has the words of the package" "$BUILD" test_client FIRN_SERVE="${FIRN%/*}/firn-serve"
else
    [ "${CI:-}" != true ] || fail "python3-redis is installed"
    skip "the client of the server has the words of the package" "python3-redis is missing"
fi
FIRN_TEST_POSTGRES=
if $python -c 'import psycopg2' 2>/dev/null && ENGINE_OWNER=$$ test/engine start postgres "$TMPDIR/postgres" >"$TMPDIR/url" 2>/dev/null; then
    trap 'test/engine stop "$TMPDIR/postgres"' EXIT
    FIRN_TEST_POSTGRES=$(cat "$TMPDIR/url")
else
    [ "${CI:-}" != true ] || fail "postgresql and python3-psycopg2 are installed"
    skip "the tables in PostgreSQL" "postgresql or python3-psycopg2 is missing"
fi
export FIRN_TEST_POSTGRES
tried "calls that wait, forks and the end" "$BUILD" test_waiting
for name in django django_rows sqlalchemy alembic numpy; do
    if $python -c "import ${name%_*}" 2>/dev/null; then
        tried "with $name" "$BUILD" test_$name
    else
        [ "${CI:-}" != true ] || fail "python3-${name%_*} is installed"
        skip "with $name" "python3-${name%_*} is missing"
    fi
done
if [ -x /usr/bin/gunicorn ] && $python -c 'import django' 2>/dev/null; then
    tried "a Django service under gunicorn" "$BUILD" test_gunicorn
else
    [ "${CI:-}" != true ] || fail "gunicorn and python3-django are installed"
    skip "a Django service under gunicorn" "gunicorn or python3-django is missing"
fi
same "every public name has a type, and each scheme and form the type of its IDs" "" "$(LD_LIBRARY_PATH=$BUILD PYTHONPATH=$TMPDIR/site $python -c '
import ast, firn
stub = ast.parse(open("bindings/python/firn/__init__.pyi").read())
names = {node.name for node in stub.body if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))}
print(*sorted((set(firn.__all__) | {"open", "format", "range"}) ^ {name for name in names if name[0] != "_"}))
words = {node.targets[0].id: {word.value for word in ast.walk(node.value) if isinstance(word, ast.Constant)}
         for node in stub.body if isinstance(node, ast.Assign)}
for scheme in map(firn.scheme, firn.schemes()):
    name = {"int": "_Ints", "UUID": "_UUIDs", "str": "_Texts"}[firn._type(scheme.bits, scheme.form).__name__]
    print(*[scheme.name for kind in ("_Ints", "_UUIDs", "_Texts")
            if (scheme.name in words[kind]) != (kind == name) and scheme.name != "order"], end="")
print(*sorted((set(firn.forms()) - {"uuid"} | {"text"}) ^ words["_Forms"]))' | tr -d '\n')"
mkdir -p "$TMPDIR/typed/python/firn" "$TMPDIR/typed/node"
cp bindings/python/firn/__init__.pyi "$TMPDIR/typed/python/firn/"
cp bindings/node/index.d.ts "$TMPDIR/typed/node/"
bindings/keys "$TMPDIR/typed"
check "the types have the keys of src/keys.def: else run bindings/keys" cmp "$TMPDIR/typed/python/firn/__init__.pyi" bindings/python/firn/__init__.pyi
same "another version of libfirn is refused" "install both from one release" "$(sed 's/"0.1.0"/"9.9.9"/' include/firn/firn.h >"$TMPDIR/firn.h" &&
    mkdir -p "$TMPDIR/other/firn" && cp include/firn/recognize.h "$TMPDIR/firn.h" "$TMPDIR/other/firn/" && cp -r bindings/python "$TMPDIR/package" &&
    cd "$TMPDIR/package" &&
    CFLAGS=-O0 FIRN_INCLUDE="$TMPDIR/other" FIRN_LIB="$BUILD" $python setup.py -q build_ext --inplace >/dev/null 2>&1
    LD_LIBRARY_PATH=$BUILD $python -c 'import firn' 2>&1 | grep -o 'install both from one release')"
asan=$(cc -print-file-name=libasan.so)
if short; then
    finish
elif [ -f "$BUILD-address/libfirn.so" ] && [ -f "$asan" ]; then
    tried "under the address sanitizer" "$BUILD-address" test_firn LD_PRELOAD="$asan" ASAN_OPTIONS=detect_leaks=0 \
        FIRN_SANITIZED=1
    tried "calls that wait under the address sanitizer" "$BUILD-address" test_waiting LD_PRELOAD="$asan" \
        ASAN_OPTIONS=detect_leaks=0 FIRN_TEST_POSTGRES=
else
    skip "under the address sanitizer" "$BUILD-address is not built"
fi
finish
