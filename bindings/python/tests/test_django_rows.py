# SPDX-License-Identifier: MIT
"""Migrations that add a column of IDs to a table with rows: a project of the real Django, on SQLite and on the PostgreSQL
that FIRN_TEST_POSTGRES names. The migration that fills the rows is the one of README.md."""
import importlib
import multiprocessing
import os
import re
import signal
import sys
import tempfile
import unittest

try:
    import django  # noqa: F401
except ImportError:
    raise unittest.SkipTest("Django is not installed") from None

for name in ("core.management.commands.makemigrations", "core.management.commands.migrate", "core.serializers.json",
             "db.backends.sqlite3.base", "views.debug", "views.generic"):
    importlib.import_module("django." + name)
import firn.django  # noqa: E402, F401

FORK = multiprocessing.get_context("fork")
README = os.path.join(os.path.dirname(__file__), "../README.md")
ROWS = 2500  # more than two batches of the README
SETTINGS = """
import os
SECRET_KEY = "x"
USE_TZ = True
INSTALLED_APPS = ["shop"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
DATABASES = {"default": %r}
FIRN = {"default": {"scheme": "snowflake", "store": os.environ["STORE"]}, "events": {"scheme": "uuid7", "store": os.environ["STORE"]}}
"""
MODELS = """
import datetime
from django.db import models
from firn.django import IdField, UUIDField
class Order(models.Model):
    total = models.IntegerField(default=0)
    created_at = models.DateTimeField(null=True, default=datetime.datetime(2020, 1, 2, 3, tzinfo=datetime.timezone.utc))
"""
# As firn wrote it when the field had a default.
OLD_MIGRATION = """
from django.db import migrations
import firn.django
class Migration(migrations.Migration):
    dependencies = [("shop", "0001_initial")]
    operations = [migrations.AddField("order", "public_id", firn.django.IdField(editable=False))]
"""
# The beginning of each process of the project.
PRELUDE = """
import importlib
import os
import signal
import django
django.setup()
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import IntegrityError, connection
from django.db.models import Count
from shop.models import Order
import firn.django

def migrate(**named):
    if named:
        call_command("makemigrations", "shop", **named)
    importlib.invalidate_caches()
    call_command("migrate")

def add_rows(n):
    Order.objects.bulk_create([Order() for _ in range(n)])

# Rows, rows with an ID, different IDs.
def counts():
    return [*Order.objects.aggregate(a=Count("pk"), b=Count("public_id"), c=Count("public_id", distinct=True)).values()]

# Kills the process when a statement that begins so has been executed, and not yet committed; with batch, in that batch.
def migrate_killed(beginning, batch=0):
    def kill(execute, sql, *rest):
        nonlocal batch
        result = execute(sql, *rest)
        batch -= "IN (SELECT" in sql
        if batch <= 0 and sql.startswith(beginning):
            os.kill(os.getpid(), signal.SIGKILL)
        return result
    with connection.execute_wrapper(kill):
        migrate()

def refused(kind, text, call, *words, **named):
    try:
        call(*words, **named)
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError("not refused: %s" % text)
"""


class OnSqlite(unittest.TestCase):
    def database(self):
        return {"ENGINE": "django.db.backends.sqlite3", "NAME": self.folder + "/app.db", "OPTIONS": {"timeout": 60}}

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.makedirs(self.folder + "/shop/migrations")
        for name in ("shop/__init__.py", "shop/migrations/__init__.py"):
            self.write(name, "")
        self.write("settings.py", SETTINGS % self.database())
        self.store = "sqlite:%s/firn.db?unsafe=1" % self.folder
        self.write("shop/models.py", MODELS)
        self.run_code("migrate(name='initial')\nadd_rows(%d)" % ROWS)

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w") as out:
            out.write(text)

    def field(self, text):
        self.write("shop/models.py", MODELS + "    public_id = %s\n" % text)

    def run_code(self, text, answers="", ends=0):
        """In a fork of this process, which has imported Django, because that takes longer than the work."""
        with tempfile.TemporaryFile("w+") as given, tempfile.TemporaryFile("w+") as said:
            given.write(answers)
            given.seek(0)
            process = FORK.Process(target=self.begin, args=(PRELUDE + text.replace("ROWS", str(ROWS)), given, said))
            process.start()
            process.join()
            said.seek(0)
            self.assertEqual(process.exitcode, ends, said.read())

    def begin(self, code, given, said):
        for number, file in enumerate((given, said, said)):
            os.dup2(file.fileno(), number)
        sys.stdin, sys.dont_write_bytecode = open(0), True
        os.environ.update(DJANGO_SETTINGS_MODULE="settings", STORE=self.store)
        os.chdir(self.folder)
        sys.path.insert(0, self.folder)
        exec(code, {"__name__": "__main__"})

    def write_fill(self, job=', job="orders-2019"'):
        with open(README) as page:
            section = re.search(r"^### A new column.*?^## ", page.read(), re.M | re.S)[0]
        text = re.search(r"```python\n(.*?)```", section, re.S)[1]
        self.assertIn(', job="orders-2019")]', text)
        self.fill = text.replace(', job="orders-2019"', job)
        self.write("shop/migrations/0003_fill.py", self.fill)

    def test_in_three_migrations(self):
        self.field("IdField(null=True)")
        self.run_code("""
migrate(name="order_public_id")
assert counts() == [ROWS, 0, 0]
Order().save()
Order.objects.first().save()
add_rows(5)
assert counts() == [ROWS + 6, 7, 7]
""")
        self.write_fill(job="")
        self.run_code("""
back_dated, batches = firn.django._back_dated, []
def late(gen, times):  # a program saves row 1500 after the migration has read it; the second batch fails once
    batches.append(len(times))
    Order.objects.filter(pk=1500).update(public_id=1500)
    if len(batches) == 2:
        raise InterruptedError("the second batch")
    return back_dated(gen, times)
firn.django._back_dated = late
Order.objects.filter(pk=3).update(created_at=None)
refused(ValueError, "1 rows of shop.order have no created_at: give them a time", migrate)
Order.objects.filter(pk=3).update(created_at="2021-01-02T03:00Z")
refused(InterruptedError, "second", migrate)
assert counts()[1] > 900, counts()
migrate()
assert sum(batches) > ROWS and max(batches) == 1000, batches
assert Order.objects.get(pk=1500).public_id == 1500
assert counts() == [ROWS + 6] * 3
year = lambda pk: firn.show(Order.objects.get(pk=pk).public_id, "snowflake").time.isoformat()[:13]
assert [year(3), year(4), year(ROWS)] == ["2021-01-02T03", "2020-01-02T03", "2020-01-02T03"], [year(3), year(4), year(ROWS)]
""")
        self.field("IdField(unique=True)")
        self.run_code("""
migrate(name="unique")
call_command("makemigrations", check_changes=True)
first = Order.objects.first()
for id in None, first.public_id:
    refused(IntegrityError, "", Order.objects.exclude(pk=first.pk).update, public_id=id)
Order().save()
assert counts() == [ROWS + 7] * 3
""", answers="2\n")

    def test_by_a_job(self):
        """All rows have one time, so a list of other rows would give a row the ID of another one."""
        self.field("IdField(null=True)")
        self.run_code("migrate(name='order_public_id')")
        self.write_fill()
        self.write("shop/migrations/0003_fill.py", self.fill.replace("atomic = False", "atomic = True"))
        self.run_code("refused(ValueError, 'set atomic = False', migrate)\nrefused(ValueError, 'set time=', "
                      "firn.django.Stamp, 'order', 'public_id', job='x')\nassert counts() == [ROWS, 0, 0]")
        self.write("shop/migrations/0003_fill.py", self.fill)
        self.run_code("migrate_killed('INSERT INTO \"firn_shop_order_public_id')", ends=-signal.SIGKILL)
        self.run_code("assert counts() == [ROWS, 0, 0]\nmigrate_killed('UPDATE', batch=2)", ends=-signal.SIGKILL)
        self.write("shop/migrations/0003_fill.py", self.fill.replace("job=", "batch=300, job="))
        self.run_code("""
assert counts() == [ROWS, 1000, 1000], counts()
gone = Order.objects.get(pk=500)
open("gone", "w").write(str(gone.public_id))
gone.delete()
Order.objects.get(pk=1500).save()                               # gets a live ID
Order.objects.filter(pk=1600).update(created_at="2021-01-02T03:00Z")
Order.objects.filter(pk=Order.objects.create().pk).update(public_id=None)
Order.objects.get(pk=400).delete()
Order.objects.bulk_create([Order(pk=400)])                      # another row with the key of one that is gone
Order.objects.filter(pk=400).update(public_id=None)
migrate_killed("DROP TABLE")
""", ends=-signal.SIGKILL)
        self.run_code("""
assert counts() == [ROWS] * 3, counts()
migrate()
assert "firn_shop_order_public_id" not in connection.introspection.table_names()
ids = dict(Order.objects.values_list("pk", "public_id"))
live, late, other = ids.pop(1500), ids.pop(max(ids)), ids.pop(400)
gone = int(open("gone").read())
assert [ids[pk] - gone for pk in sorted(ids)] == [pk - 500 for pk in sorted(ids)]
node = lambda id: id >> 12 & 1023
assert len({node(live), node(late), node(gone)}) == 3 and node(late) == node(other)
assert firn.show(live, "snowflake").time.year > 2025 and firn.show(late, "snowflake").time.year == 2020
""")
        self.run_code("""
Order.objects.update(public_id=None)  # a second list, of the same rows
call_command("migrate", "shop", "0002")
refused(firn.TakenError, "job orders-2019 was started with other input or options", migrate)
assert counts() == [ROWS, 0, 0]
""")
        self.write_fill(', job="orders-2020"')
        self.run_code("migrate()\nassert counts() == [ROWS] * 3")

    def test_zones_routers_and_own_fields(self):
        """Times that a zone has twice or not at all, a column of a class of the application, a router that names another
        database, a node of live IDs, and another run at the same time."""
        self.write("shop/__init__.py", "class Router:\n    db_for_write = lambda self, model, **hints: 'other'\n")
        self.write("settings.py", SETTINGS % self.database() + """
USE_TZ, TIME_ZONE, DATABASE_ROUTERS = False, "Europe/Berlin", ["shop.Router"]
DATABASES["other"] = {**DATABASES["default"], "NAME": "other.db"}
FIRN["default"]["node"] = 5
""")
        self.write("shop/models.py", MODELS.replace("class Order", "class OwnTime(models.DateTimeField):\n    pass\nclass Order").replace(
            "models.DateTimeField(", "OwnTime(db_column='created_at', ").replace(", tzinfo=datetime.timezone.utc", "") + "    public_id = IdField(null=True)\n")
        self.run_code("migrate(name='order_public_id')")
        check = """
rows, node = Order.objects.using("default"), lambda id: id >> 12 & 1023
rows.filter(pk=1).update(created_at="2020-03-29 02:30")  # the zone has no such time
rows.filter(pk=2).update(created_at="2020-10-25 02:30")  # and this one twice
migrate()
ids = dict(rows.values_list("pk", "public_id"))
assert len(set(ids.values())) == ROWS and None not in ids.values()
assert [firn.show(ids[pk], "snowflake").time.isoformat()[:16] for pk in (1, 3)] == ["2020-03-29T01:30", "2020-01-02T02:00"]
assert firn.show(ids[2], "snowflake").time.isoformat()[:16] in ("2020-10-25T00:30", "2020-10-25T01:30")
assert 5 not in map(node, ids.values())
"""
        self.write_fill(job="")
        self.run_code(check)
        self.write_fill()
        self.run_code("rows = Order.objects.using('default')\nrows.update(public_id=None)\ncall_command('migrate', 'shop', '0002')" + """
issued = firn.django.Stamp._issued
def other_run(self, model, listed, seed):  # which ends the second batch, before a row gets a key of it
    for ids, last in issued(self, model, listed, seed):
        if last == 2000:
            listed.model._base_manager.using("default").filter(id=-1).update(done=last)
        yield ids, last
firn.django.Stamp._issued = other_run
""" + check + """
assert {node(ids[pk]) for pk in (4, 2400)} & {node(ids[pk]) for pk in range(1010, 1900)} == set()
assert node(firn.django.generator().next()) == 5
refused(ValueError, "Stamp(batch=0) would give no row an ID", firn.django.Stamp, "order", "public_id", batch=0)
""")
        self.write("shop/migrations/0003_fill.py", self.fill.replace('"public_id"', '"total"'))
        self.run_code("call_command('migrate', 'shop', '0002')\nrefused(ValueError, 'shop.order.total is not an IdField', migrate)")

    def test_a_job_of_uuids(self):
        self.field("UUIDField(null=True, using='events')")
        self.run_code("migrate(name='order_public_id')")
        self.write_fill()
        self.run_code("migrate_killed('UPDATE', batch=2)", ends=-signal.SIGKILL)
        self.run_code("""
before = dict(Order.objects.exclude(public_id=None).values_list("pk", "public_id"))
assert len(before) == 1000
migrate()
assert counts() == [ROWS] * 3
after = dict(Order.objects.values_list("pk", "public_id"))
assert before.items() <= after.items()
assert [after[pk] for pk in sorted(after)] == sorted(after.values())
assert firn.show(after[ROWS], "uuid7").time.isoformat() == "2020-01-02T03:00:00+00:00"
""")

    def test_fixtures(self):
        self.field("IdField(null=True)")
        self.run_code("""
migrate(name="order_public_id")
Order.objects.all().delete()
add_rows(50)
rows = lambda: list(Order.objects.order_by("pk").values_list("pk", "public_id", "total"))
before = rows()
assert counts() == [50] * 3
call_command("dumpdata", "shop", output="rows.json")
Order.objects.update(total=1)
Order.objects.filter(pk__gt=before[20][0]).delete()
for _ in range(2):
    call_command("loaddata", "rows.json")
    assert rows() == before
with open("bare.json", "w") as out:
    out.write('[{"model": "shop.order", "fields": {}}]')
call_command("loaddata", "bare.json")
assert counts() == [51, 50, 50]
""")

    def test_unique_from_the_start(self):
        self.field("UUIDField(null=True, unique=True, using='events')")
        self.run_code("""
migrate(name="order_public_id")
assert counts() == [ROWS, 0, 0]
for order in Order.objects.all()[:100]:
    order.save()
assert counts() == [ROWS, 100, 100]
""")

    def test_a_one_off_default_is_refused(self):
        for field in ("IdField()", "UUIDField(unique=True, using='events')"):
            self.field(field)
            self.run_code("""
refused(SystemExit, "3", call_command, "makemigrations", interactive=False)
refused(ImproperlyConfigured, "would give many rows one ID", call_command, "makemigrations")
""", answers="1\n0\n")
            self.assertFalse([name for name in os.listdir(self.folder + "/shop/migrations") if name.startswith("0002")])
        self.field("IdField()")
        self.column_for_no_rows("call_command('makemigrations', 'shop')", answers="1\nNone\n")

    def test_a_migration_of_an_older_version(self):
        self.field("IdField()")
        self.write("shop/migrations/0002_old.py", OLD_MIGRATION)
        self.column_for_no_rows("")

    def column_for_no_rows(self, begin, answers=""):
        self.run_code(begin + """
refused(IntegrityError, "", migrate)
with connection.cursor() as cursor:
    cursor.execute("DELETE FROM shop_order")
migrate()
call_command("makemigrations", check_changes=True)
add_rows(ROWS)
assert counts() == [ROWS] * 3
""", answers)

    def test_a_migration_needs_no_store(self):
        self.store = "sqlite:%s/missing/firn.db" % self.folder
        self.field("IdField(null=True)")
        self.run_code("migrate(name='order_public_id')\ncall_command('check')\nassert counts() == [ROWS, 0, 0]")

    def test_migrate_refuses_a_field_without_fitting_ids(self):
        self.field("UUIDField(null=True)")
        self.run_code("refused(SystemCheckError, 'firn.E002', call_command, 'migrate', skip_checks=False)")


@unittest.skipUnless(os.environ.get("FIRN_TEST_POSTGRES"), "FIRN_TEST_POSTGRES names no PostgreSQL")
class OnPostgres(OnSqlite):
    test_a_migration_needs_no_store = test_migrate_refuses_a_field_without_fitting_ids = None  # not a matter of the engine
    test_a_job_of_uuids = test_zones_routers_and_own_fields = None

    def database(self):
        import psycopg2
        user, host, port = re.match(r"postgres://(\w+)@([\d.]+):(\d+)/", os.environ["FIRN_TEST_POSTGRES"]).groups()
        name = "shop_" + self.id().rsplit(".", 1)[1]
        server = psycopg2.connect(host=host, port=port, user=user, dbname="postgres")
        server.autocommit = True
        server.cursor().execute("CREATE DATABASE " + name)
        server.close()
        return {"ENGINE": "django.db.backends.postgresql", "NAME": name, "USER": user, "HOST": host, "PORT": port}


if __name__ == "__main__":
    unittest.main()
