# SPDX-License-Identifier: MIT
# make study: one cell of each engine, and a report that is what the committed data give.
. test/tap
python=/usr/bin/python3 # with Debian's packages

# ---- one cell ------------------------------------------------------------------------------------------------------

# A table of half the buffer, and again: the second run finds that it is measured.
for cell in "postgres uuid7 as uuid" "mariadb uuid7 as binary" "sqlite uuid7 as blob"; do
    engine=${cell%% *}
    case $engine in
    postgres) module=psycopg2 ;;
    mariadb) module=MySQLdb ;;
    *) module=sqlite3 ;;
    esac
    name="a cell of $engine is measured"
    if ! $python -c "import $module" 2>/dev/null; then
        skip "$name" "python has no $module"
        continue
    fi
    said=$($python study/run.py "$FIRN" --data "$TMPDIR/data" --machine test --repetitions 1 --only "table: $cell, 0.5 times" 2>&1)
    case $said in
    *"is left out"*) skip "$name" "$engine is not installed" ;;
    *) same "$name" "study: every cell has 1 repetitions" "$(printf '%s\n' "$said" | tail -n 1)" ;;
    esac
done
said=$($python study/run.py "$FIRN" --data "$TMPDIR/data" --machine test --repetitions 1 --only "table: sqlite uuid7 as blob, 0.5 times" 2>&1)
same "a run continues where the last one stopped" "study: every cell has 1 repetitions" "$said"
mkdir "$TMPDIR/disk"
chmod 755 "$TMPDIR/disk"
said=$($python study/run.py "$FIRN" --data "$TMPDIR/on-disk" --machine disk --repetitions 1 --place "$TMPDIR/disk" --times 2 \
    --only "table: sqlite uuid7 as blob, 0.5 times" 2>&1)
same "a cell with twice the rows and its data on a disk is measured" "study: every cell has 1 repetitions 2" "$(printf '%s\n' "$said" | tail -n 1) $($python - \
    "$TMPDIR/on-disk/disk.csv" "$TMPDIR/data/test.csv" <<'PYTHON'
import csv, sys
rows = [next(row for row in csv.DictReader(open(path, newline="")) if row["engine"] == "sqlite" and row["kind"] == "table") for path in sys.argv[1:]]
print(round(int(rows[0]["rows"]) / int(rows[1]["rows"])))
PYTHON
)"
same "a few cells have the fixed cell of their engine between them" drift,sqlite "$(grep -o 'drift,[a-z]*' "$TMPDIR/on-disk/disk.csv" | sort -u)"
same "its machine says where" 1 "$(grep -c "^data on.$TMPDIR/disk " "$TMPDIR/on-disk/disk.tsv")"
check "and such results do not go to the published ones" sh -c '! "$@" 2>/dev/null' sh $python study/run.py "$FIRN" --times 2 --only none
check "each row has a value for every metric that a table has" $python - "$TMPDIR/data/test.csv" <<'PYTHON'
import csv, sys
for row in csv.DictReader(open(sys.argv[1], newline="")):
    lacking = [name for name, value in row.items() if value == "" and not name.startswith(("replica_", "images_", "binlog_"))]
    assert not lacking, (row["engine"], lacking)
    assert 0.3 < float(row["leaf_density"]) <= 1 and float(row["total_bytes_row"]) > 100, row
PYTHON

check "the report of a few cells has exactly their figures" \
    $python study/report.py --lenient --no-charts --data "$TMPDIR/data" --out "$TMPDIR"
same "and no findings" 0 "$(grep -c '^## Findings' "$TMPDIR/README.md")"

# ---- the report ----------------------------------------------------------------------------------------------------

check "page, tables and summary.tsv are what the data give, and the data carry each sentence: else make study-report" \
    $python study/report.py --check --no-charts
name="the charts are what the data give, byte for byte"
if [ "$($python -c 'import matplotlib; print(matplotlib.__version__)' 2>/dev/null)" = 3.6.3 ]; then
    check "$name" $python study/report.py --check
else
    lacks "$name" python3-matplotlib 3.6.3
fi
cp docs/study/data/* "$TMPDIR/data"
$python study/report.py --no-charts --data "$TMPDIR/data" --out "$TMPDIR" >"$TMPDIR/said" 2>&1
check "results of another machine do not change the figures of the one with the most results" \
    cmp "$TMPDIR/summary.tsv" docs/study/summary.tsv
check "and its name is on the page" grep -q '^| machine |.*`test`' "$TMPDIR/README.md"
sed -i '1s/load_rows_s/rows/' "$TMPDIR/data/test.csv"
said=$($python study/run.py "$FIRN" --data "$TMPDIR/data" --machine test --only "sqlite uuid7 as blob, 0.5 times" 2>&1)
check "results of another version of the study are not mixed with new ones" \
    sh -c 'case $1 in *"other columns"*) ;; *) exit 1 ;; esac' sh "$said"
check "figures: the interval of 7 values is the lowest to the highest; results near a slow fixed cell are left out" $python - <<'PYTHON'
import sys
sys.path.insert(0, "study")
import figures
assert figures.interval([7, 1, 2, 3, 4, 5, 6]) == (4, 1, 7, 7)
assert figures.interval(range(1, 10)) == (5, 2, 8, 9)
assert figures.interval([5]) == (5, 5, 5, 1)
rows = [dict(kind=kind, engine=engine, load_rows_s=speed) for kind, engine, speed in (
    ("drift", "a", 100), ("table", "a", 1), ("drift", "b", 9), ("table", "b", 1), ("drift", "a", 99), ("table", "a", 1), ("table", "b", 1),
    ("drift", "a", 70), ("drift", "b", 9), ("table", "a", 1), ("drift", "a", 100), ("table", "a", 1))]
assert figures.disturbed(rows) == {5, 9}, figures.disturbed(rows)
assert 0.0499 < figures.chance(14.067) < 0.0501 and figures.chance(0) == 1
assert figures.number(1234.5) == "1,234" or figures.number(1234.5) == "1,230"
PYTHON
finish
