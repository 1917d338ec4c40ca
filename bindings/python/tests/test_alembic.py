# SPDX-License-Identifier: MIT
"""Columns of firn.sqlalchemy in migrations that the real Alembic writes, on SQLite and on the PostgreSQL that
FIRN_TEST_POSTGRES names: they have the types that create_all gives them."""
import importlib
import io
import os
import re
import sys
import tempfile
import unittest

try:
    import alembic.command
    import alembic.config
    import sqlalchemy
    import sqlalchemy.orm
except ImportError:
    raise unittest.SkipTest("Alembic is not installed") from None

import firn

README = os.path.join(os.path.dirname(__file__), "../README.md")
SCHEMES = ("snowflake", "uuid7", "ksuid")
MODELS = """
import firn
from firn.sqlalchemy import id_column
from sqlalchemy import Column, Integer
from sqlalchemy.orm import declarative_base
Base = declarative_base()
tables = {}
for scheme in "snowflake", "uuid7", "ulid":
    gen = firn.open(scheme, store="memory:")
    tables[scheme] = type(scheme, (Base,), {"__tablename__": scheme, "id": id_column(gen, primary_key=True),
                                            "other": id_column(gen, nullable=True), "total": Column(Integer)})
"""


class Migrations(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        with open(self.folder + "/firn_models.py", "w") as out:
            out.write(MODELS)
        sys.path.insert(0, self.folder)
        self.addCleanup(sys.path.remove, self.folder)
        self.addCleanup(sys.modules.pop, "firn_models", None)

    def types(self, url):
        """The types and defaults of the columns of a database, by table."""
        inspector = sqlalchemy.inspect(sqlalchemy.create_engine(url))
        return {table: {column["name"]: "%s %s" % (column["type"], column["default"]) for column in inspector.get_columns(table)}
                for table in inspector.get_table_names() if table != "alembic_version"}

    def revision(self):
        written = alembic.command.revision(self.config, autogenerate=True)
        with open(written.path) as text:
            return text.read()

    def begin(self, migrated):
        self.config = alembic.config.Config(self.folder + "/alembic.ini", stdout=io.StringIO())
        alembic.command.init(self.config, self.folder + "/alembic")
        self.config.set_main_option("sqlalchemy.url", migrated)
        with open(README) as page:
            line = re.search(r"`script.py.mako`.*?```python\n(.*?)```", page.read(), re.S)[1]
        for name, old, new in (("script.py.mako", "from alembic import op\n", "from alembic import op\n" + line),
                               ("env.py", "target_metadata = None", "from firn_models import Base\ntarget_metadata = Base.metadata"),
                               ("env.py", "target_metadata=target_metadata", "target_metadata=target_metadata, compare_type=True, render_as_batch=True")):
            path = "%s/alembic/%s" % (self.folder, name)
            with open(path) as text:
                before = text.read()
            self.assertIn(old, before)
            with open(path, "w") as out:
                out.write(before.replace(old, new))

    def check(self, created, migrated):
        self.begin(migrated)
        text = self.revision()
        self.assertIn("firn.sqlalchemy.ID('uuid')", text)
        alembic.command.upgrade(self.config, "head")
        import firn_models
        firn_models.Base.metadata.create_all(sqlalchemy.create_engine(created))
        self.assertEqual(self.types(migrated), self.types(created))
        self.assertNotIn("op.", self.revision().split("def upgrade")[1])
        with sqlalchemy.orm.Session(sqlalchemy.create_engine(migrated)) as session:
            for model in firn_models.tables.values():
                session.add_all([model() for _ in range(20)])
                session.commit()
                for name in "id", "other":
                    self.assertEqual(len({getattr(row, name) for row in session.query(model)} - {None}), 20)
        return self.types(migrated)

    def models(self, text):
        with open(self.folder + "/firn_models.py", "w") as out:
            out.write(text)
        importlib.invalidate_caches()
        sys.modules.pop("firn_models", None)
        return importlib.import_module("firn_models")

    def add_columns(self, url):
        """Columns of IDs for a table that has rows: filled by a program, then NOT NULL."""
        def shop(options):
            return MODELS.partition("tables =")[0] + """
class Order(Base):
    __tablename__ = "orders"
    key = Column(Integer, primary_key=True)
    total = Column(Integer)
""" + ("" if options is None else "".join("""
    %s = id_column(firn.open("%s", store="memory:"), %s)
""" % (scheme, scheme, options) for scheme in SCHEMES))

        def rows():
            with sqlalchemy.orm.Session(engine) as session:
                return session.execute(sqlalchemy.text("SELECT %s FROM orders" % ", ".join(SCHEMES))).all()
        sys.dont_write_bytecode, before = True, sys.dont_write_bytecode  # a file that changes twice in a second
        self.addCleanup(setattr, sys, "dont_write_bytecode", before)
        engine = sqlalchemy.create_engine(url)
        self.begin(url)
        Order = self.models(shop(None)).Order
        self.revision()
        alembic.command.upgrade(self.config, "head")
        with sqlalchemy.orm.Session(engine) as session:
            session.add_all([Order(total=total) for total in range(50)])
            session.commit()
        self.models(shop("nullable=False"))
        script = alembic.command.revision(self.config, autogenerate=True)
        with self.assertRaisesRegex(sqlalchemy.exc.DBAPIError, "(?i)null"):
            alembic.command.upgrade(self.config, "head")
        os.remove(script.path)
        Order = self.models(shop("nullable=True")).Order
        self.revision()
        alembic.command.upgrade(self.config, "head")
        self.assertEqual(rows(), [(None,) * 3] * 50)
        with sqlalchemy.orm.Session(engine) as session:
            for order in session.query(Order):
                for scheme in SCHEMES:
                    setattr(order, scheme, getattr(Order, scheme).property.columns[0].default.arg(None))
            session.add_all([Order(total=total) for total in range(5)])
            session.commit()
        self.models(shop("nullable=False"))
        filled = sorted(rows())
        self.revision()
        alembic.command.upgrade(self.config, "head")
        self.assertNotIn("op.", self.revision().split("def upgrade")[1])
        self.assertEqual(sorted(rows()), filled)
        for values in zip(*filled):
            self.assertEqual(len(set(values)), 55)

    def test_columns_for_rows_on_sqlite(self):
        self.add_columns("sqlite:///%s/rows.db" % self.folder)

    @unittest.skipUnless(os.environ.get("FIRN_TEST_POSTGRES"), "FIRN_TEST_POSTGRES names no PostgreSQL")
    def test_columns_for_rows_on_postgres(self):
        server = os.environ["FIRN_TEST_POSTGRES"].replace("postgres:", "postgresql:")
        with sqlalchemy.create_engine(server, isolation_level="AUTOCOMMIT").connect() as connection:
            connection.execute(sqlalchemy.text("CREATE DATABASE with_rows"))
        self.add_columns(server.rpartition("/")[0] + "/with_rows")

    def test_on_sqlite(self):
        types = self.check(*("sqlite:///%s/%s.db" % (self.folder, name) for name in ("created", "migrated")))
        self.assertEqual([types[scheme]["id"] for scheme in ("snowflake", "uuid7", "ulid")], ["BIGINT None", "VARCHAR(36) None", "VARCHAR(40) None"])

    @unittest.skipUnless(os.environ.get("FIRN_TEST_POSTGRES"), "FIRN_TEST_POSTGRES names no PostgreSQL")
    def test_on_postgres(self):
        server = os.environ["FIRN_TEST_POSTGRES"]
        urls = [server.rpartition("/")[0] + "/" + name for name in ("created", "migrated")]
        segments = []
        with sqlalchemy.create_engine(server.replace("postgres:", "postgresql:"), isolation_level="AUTOCOMMIT").connect() as connection:
            for url in urls:
                connection.execute(sqlalchemy.text("CREATE DATABASE " + url.rpartition("/")[2]))
                # A store in the database of the application: autogenerate would drop its tables, and integers would begin again.
                segments.append(firn.Segment("orders", store=url + "?table=shop", kind="serial"))
        before = [segment.next() for segment in segments]
        types = self.check(*(url.replace("postgres:", "postgresql:") for url in urls))
        self.assertEqual([segment.next() for segment in segments], [n + 1 for n in before])
        self.assertLessEqual({"shop_mark", "shop_namespace"}, set(types))
        with sqlalchemy.create_engine(urls[1].replace("postgres:", "postgresql:")).connect() as connection:
            self.assertEqual(connection.execute(sqlalchemy.text(
                "SELECT collation_name FROM information_schema.columns WHERE table_name = 'ulid' AND column_name = 'id'")).scalar(), "C")
        # The other way of the reference: a schema at which no tool looks.
        with sqlalchemy.create_engine(urls[1].replace("postgres:", "postgresql:")).begin() as connection:
            connection.execute(sqlalchemy.text("CREATE SCHEMA firn_store"))
        firn.Segment("orders", store=urls[1] + "?options=-csearch_path=firn_store", kind="serial").next()
        self.assertEqual(self.types(urls[1].replace("postgres:", "postgresql:")), types)
        self.assertEqual([types[scheme]["id"] for scheme in ("snowflake", "uuid7", "ulid")], ["BIGINT None", "UUID None", "VARCHAR(40) None"])


if __name__ == "__main__":
    unittest.main()
