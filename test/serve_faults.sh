# SPDX-License-Identifier: MIT
# The server while things around it fail: test/serve/faults.py. Words name the only parts to run. With TEST_SHORT=1,
# outages are shorter, and fewer engines are tried.
. test/clock
CLOCK_LIBRARY=$TMPDIR/clock.so
PYTHONDONTWRITEBYTECODE=1
export CLOCK_LIBRARY PYTHONDONTWRITEBYTECODE
make_clock "$CLOCK_LIBRARY"
[ $# = 0 ] || exec /usr/bin/python3 test/serve/faults.py "$@"

# The outage of a store is waited for in parallel with the others, and reported after them, with its own count.
/usr/bin/python3 test/serve/faults.py store_gone what_is_told_of_a_store >"$TMPDIR/store_gone" 2>&1 &
beside=$!
/usr/bin/python3 test/serve/faults.py killed_under_load two_on_one_file a_full_disk a_clock_that_steps connections_come_and_go
status=$?
wait $beside || status=1
cat "$TMPDIR/store_gone"
exit $status
