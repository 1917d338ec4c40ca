# SPDX-License-Identifier: MIT
# See test/lab_choose.py.
. test/tap
postgres='' mysql=''
start() {
    ENGINE_OWNER=$$ test/engine start "$1" "$TMPDIR/$1" >"$TMPDIR/url"
    case $? in
    0) cat "$TMPDIR/$1/port" ;;
    77) ;;
    *) echo 1 ;;
    esac
}
command -v psql >/dev/null && postgres=$(start postgres)
mysql=$(start mysql)
POSTGRES=$postgres MYSQL=$mysql PYTHONDONTWRITEBYTECODE=1 python3 test/lab_choose.py
status=$?
for engine in postgres mysql; do
    [ ! -d "$TMPDIR/$engine" ] || test/engine stop "$TMPDIR/$engine"
done
exit $status
