# SPDX-License-Identifier: MIT
"""Migrations that add a column of IDs to a table with rows: a project of the real Django, on SQLite and on the PostgreSQL
that FIRN_TEST_POSTGRES names. The migration that fills the rows is the one of README.md."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

try:
    import django  # noqa: F401
except ImportError:
    raise unittest.SkipTest("Django is not installed") from None

README = os.path.join(os.path.dirname(__file__), "../README.md")
ROWS = 2500  # more than two batches of the README
SETTINGS = """
import os
SECRET_KEY = "x"
INSTALLED_APPS = ["shop"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
DATABASES = {"default": %r}
FIRN = {"default": {"scheme": "snowflake", "store": os.environ["STORE"]}, "events": {"scheme": "uuid7"}}
"""
MODELS = """
from django.db import models
from firn.django import IdField, UUIDField
class Order(models.Model):
    total = models.IntegerField(default=0)
"""
# As firn wrote it when the field had a default.
OLD_MIGRATION = """
from django.db import migrations
import firn.django
class Migration(migrations.Migration):
    dependencies = [("shop", "0001_initial")]
    operations = [migrations.AddField("order", "public_id", firn.django.IdField(editable=False))]
"""
COUNTS = """
from shop.models import Order
from django.db.models import Count
print(*Order.objects.aggregate(a=Count("*"), b=Count("public_id"), c=Count("public_id", distinct=True)).values())
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
        self.manage("makemigrations", "shop")
        self.manage("migrate")

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w") as out:
            out.write(text)

    def field(self, text):
        self.write("shop/models.py", MODELS + "    public_id = %s\n" % text)

    def manage(self, *words, answers="", fails=False):
        environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "settings", "STORE": self.store, "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run([sys.executable, "-m", "django", *words], cwd=self.folder, env=environment, input=answers, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode != 0, fails, done.stdout)
        return done.stdout

    def run_code(self, text):
        return self.manage("shell", "-c", text).strip()

    def add_rows(self):
        self.run_code("from shop.models import Order; Order.objects.bulk_create([Order() for _ in range(%d)])" % ROWS)

    def add_column(self, text):
        self.field(text)
        self.manage("makemigrations", "shop", "--name", "order_public_id")
        self.manage("migrate")

    def write_fill(self):
        with open(README) as page:
            section = re.search(r"^### A new column.*?^## ", page.read(), re.M | re.S)[0]
        self.write("shop/migrations/0003_fill.py", re.search(r"```python\n(.*?)```", section, re.S)[1])

    def test_in_three_migrations(self):
        self.add_rows()
        self.add_column("IdField(null=True)")
        self.assertEqual(self.run_code(COUNTS), "%d 0 0" % ROWS)
        self.run_code("from shop.models import Order\nOrder().save()\nOrder.objects.first().save()\n"
                      "Order.objects.bulk_create([Order() for _ in range(5)])")
        self.assertEqual(self.run_code(COUNTS), "%d 7 7" % (ROWS + 6))
        self.write_fill()
        # A program saves row 1500 after the migration has read it.
        self.run_code("import importlib, firn.django\nfrom django.core.management import call_command\n"
                      "from shop.models import Order\nfill = importlib.import_module('shop.migrations.0003_fill')\n"
                      "class Late:\n"
                      "    def many(self, n):\n"
                      "        Order.objects.filter(pk=1500).update(public_id=1500)\n"
                      "        return firn.django.generator().many(n)\n"
                      "fill.generator = Late\ncall_command('migrate')\nassert Order.objects.get(pk=1500).public_id == 1500")
        self.assertEqual(self.run_code(COUNTS), "%d %d %d" % ((ROWS + 6,) * 3))
        self.field("IdField(unique=True)")
        self.manage("makemigrations", "shop", answers="2\n")
        self.manage("migrate")
        self.manage("makemigrations", "--check")
        self.run_code("from django.db import IntegrityError, transaction\nfrom shop.models import Order\nfirst = Order.objects.first()\n"
                      "for id in None, first.public_id:\n"
                      "    try:\n"
                      "        with transaction.atomic():\n"
                      "            Order.objects.exclude(pk=first.pk).update(public_id=id)\n"
                      "        raise SystemExit('not refused: %s' % id)\n"
                      "    except IntegrityError:\n"
                      "        pass")
        self.run_code("from shop.models import Order; Order().save()")
        self.assertEqual(self.run_code(COUNTS), "%d %d %d" % ((ROWS + 7,) * 3))

    def test_unique_from_the_start(self):
        self.add_rows()
        self.add_column("UUIDField(null=True, unique=True, using='events')")
        self.assertEqual(self.run_code(COUNTS), "%d 0 0" % ROWS)
        self.run_code("from shop.models import Order\nfor order in Order.objects.all()[:100]:\n    order.save()")
        self.assertEqual(self.run_code(COUNTS), "%d 100 100" % ROWS)

    def test_a_one_off_default_is_refused(self):
        for field in ("IdField()", "IdField(unique=True)"):
            self.field(field)
            self.manage("makemigrations", "--noinput", fails=True)
            said = self.manage("makemigrations", answers="1\n0\n", fails=True)
            self.assertIn("would give many rows one ID", said)
            self.assertFalse([name for name in os.listdir(self.folder + "/shop/migrations") if name.startswith("0002")])
        self.manage("makemigrations", "shop", "--name", "none", answers="1\nNone\n")
        self.add_column_fails_with_rows_only()

    def test_a_migration_of_an_older_version(self):
        self.field("IdField()")
        self.write("shop/migrations/0002_old.py", OLD_MIGRATION)
        self.add_column_fails_with_rows_only()

    def add_column_fails_with_rows_only(self):
        self.run_code("from django.db import connection\nwith connection.cursor() as cursor:\n"
                      "    cursor.execute('INSERT INTO shop_order (total) VALUES (0), (0)')")
        self.assertIn("IntegrityError", self.manage("migrate", fails=True))
        self.run_code("from django.db import connection\nwith connection.cursor() as cursor:\n    cursor.execute('DELETE FROM shop_order')")
        self.manage("migrate")
        self.manage("makemigrations", "--check")
        self.add_rows()
        self.assertEqual(self.run_code(COUNTS), "%d %d %d" % ((ROWS,) * 3))

    def test_a_migration_needs_no_store(self):
        self.add_rows()
        self.store = "sqlite:%s/missing/firn.db" % self.folder
        self.add_column("IdField(null=True)")
        self.manage("check")
        self.assertEqual(self.run_code(COUNTS), "%d 0 0" % ROWS)

    def test_migrate_refuses_a_field_without_fitting_ids(self):
        self.field("UUIDField(null=True)")
        self.manage("makemigrations", "--noinput", fails=True)
        self.assertIn("firn.E002", self.manage("migrate", fails=True))


@unittest.skipUnless(os.environ.get("FIRN_TEST_POSTGRES"), "FIRN_TEST_POSTGRES names no PostgreSQL")
class OnPostgres(OnSqlite):
    test_a_migration_needs_no_store = test_migrate_refuses_a_field_without_fitting_ids = None  # not a matter of the engine

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
