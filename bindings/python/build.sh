# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154 # bindings/build runs this and sets $there
# The source distribution, and the wheel that is built from it. With libfirn inside, the tag of the wheel says the newest glibc that
# its symbols need.
python=/usr/bin/python3
[ -x $python ] || python=python3
$python -c 'import setuptools, wheel, sysconfig, os; os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null ||
    skipped "python3-dev python3-setuptools python3-wheel"
cp -r bindings/python "$there/tree"
# The oldest glibc that has all symbols of a file: 34 of GLIBC_2.34
glibc() {
    readelf --dyn-syms -W "$1" | sed -n 's/.*@GLIBC_2\.\([0-9]*\).*/\1/p' | sort -n | tail -n 1
}
(
    if [ "$alone" ]; then
        unset FIRN_INCLUDE FIRN_LIB
        contain "$there/tree/vendor"
    else
        export FIRN_INCLUDE="$PWD/include" FIRN_LIB="$BUILD"
    fi
    cd "$there/tree" && $python setup.py -q sdist --dist-dir .. && cd .. && rm -r tree && tar -xzf firn-*.tar.gz && cd firn-*/ && $python setup.py -q build &&
        $python setup.py -q bdist_wheel --skip-build --dist-dir .. \
            ${alone:+--plat-name "manylinux_2_$(glibc build/lib*/firn/_firn.abi3.so)_$(uname -m)"} && cd .. && rm -r firn-*/
) >"$there.log" 2>&1 || { cat "$there.log" >&2; exit 1; }
echo "firn: python: $(ls "$there"/*.whl)"
