# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154 # bindings/build runs this and sets $there
# The source distribution, and the wheel that is built from it.
python=/usr/bin/python3
[ -x $python ] || python=python3
$python -c 'import setuptools, wheel, sysconfig, os; os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null ||
    skipped "python3-dev python3-setuptools python3-wheel"
cp -r bindings/python "$there/tree"
(
    export FIRN_INCLUDE="$PWD/include" FIRN_LIB="$BUILD"
    cd "$there/tree" && $python setup.py -q sdist --dist-dir .. && cd .. && rm -r tree && tar -xzf firn-*.tar.gz && cd firn-*/ &&
        $python setup.py -q bdist_wheel --dist-dir ..
) >"$there.log" 2>&1 || { cat "$there.log" >&2; exit 1; }
echo "firn: python: $(ls "$there"/*.whl)"
