# SPDX-License-Identifier: MIT
"""id_column of firn.sqlalchemy in a real SQLAlchemy with SQLite, and the types it chooses for PostgreSQL."""
import unittest
import uuid

try:
    from sqlalchemy import Column, Integer, MetaData, Table, create_engine, exc, select
except ImportError:
    raise unittest.SkipTest("SQLAlchemy is not installed") from None

from sqlalchemy.dialects import mysql, postgresql
from sqlalchemy.orm import Session, declarative_base
from sqlalchemy.schema import CreateTable

import firn
from firn.sqlalchemy import ID, id_column


class Columns(unittest.TestCase):
    def test_every_kind(self):
        for scheme, kind, type_name in (("snowflake", int, " BIGINT"), ("uuid7", uuid.UUID, "UUID"),
                                        ("ulid", str, 'VARCHAR(40) COLLATE "C"')):
            base = declarative_base()
            gen = firn.open(scheme, store="memory:")

            class Order(base):
                __tablename__ = "orders"
                id = id_column(gen, primary_key=True)

            engine = create_engine("sqlite://")
            base.metadata.create_all(engine)
            with Session(engine) as session:
                orders = [Order() for _ in range(20)]
                session.add_all(orders)
                session.commit()
                ids = [order.id for order in orders]
                self.assertEqual({type(id) for id in ids}, {kind})
                self.assertEqual(len(set(ids)), 20)
                self.assertEqual([order.id for order in session.query(Order).order_by(Order.id)], sorted(ids))
                self.assertEqual(session.get(Order, ids[3]).id, ids[3])
            in_mysql = str(CreateTable(Order.__table__).compile(dialect=mysql.dialect()))
            self.assertNotIn("AUTO_INCREMENT", in_mysql)
            self.assertEqual("VARCHAR(40) COLLATE ascii_bin" in in_mysql, kind is str)
            sql = str(CreateTable(Order.__table__).compile(dialect=postgresql.dialect()))
            self.assertIn(type_name, sql)
            gen.close()

    def test_types_are_what_their_text_says(self):
        for kind, text, type_name in (("int", "ID('int')", "BIGINT"), ("uuid", "ID('uuid')", "UUID"), (uuid.UUID, "ID('uuid')", "UUID"),
                                      ("text", "ID('text', length=40)", 'VARCHAR(40) COLLATE "C"')):
            self.assertEqual(repr(ID(kind)), text)
            self.assertEqual(eval(text).compile(dialect=postgresql.dialect()), type_name)
        self.assertEqual(ID(length=40).compile(dialect=postgresql.dialect()), "BIGINT")  # in migrations of older versions
        with self.assertRaisesRegex(firn.UsageError, r"'uid' is not a kind of ID: use 'int', 'uuid', 'text'"):
            ID("uid")

    def test_a_uuid_has_one_spelling(self):
        table = Table("events", MetaData(), Column("id", ID("uuid"), primary_key=True))
        engine = create_engine("sqlite://")
        table.metadata.create_all(engine)
        id = uuid.uuid4()
        with engine.begin() as connection:
            connection.execute(table.insert(), {"id": str(id).upper()})
            for same in id, str(id), id.hex, str(id).upper(), "{%s}" % id:
                self.assertEqual(list(connection.execute(select(table.c.id).where(table.c.id == same))), [(id,)])
                with self.assertRaises(exc.IntegrityError):
                    connection.execute(table.insert(), {"id": same})
            with self.assertRaisesRegex(exc.StatementError, "badly formed"):
                connection.execute(table.insert(), {"id": "no UUID"})
            self.assertEqual(list(connection.execute(select(table.c.id))), [(id,)])

    def test_every_row_of_a_statement_gets_its_own_id(self):
        gen = firn.open("snowflake", store="memory:")
        table = Table("orders", MetaData(), Column("key", Integer, primary_key=True), Column("total", Integer))
        table.append_column(id_column(gen, name="id"))
        engine = create_engine("sqlite://")
        table.metadata.create_all(engine)
        with engine.begin() as connection:
            rows = [{"total": total} for total in range(20)]
            connection.execute(table.insert(), rows)
            connection.execute(table.insert().values(rows))
            with self.assertRaisesRegex(exc.StatementError, "UsageError.*would give all rows one ID: select the rows, and insert them"):
                connection.execute(table.insert().from_select(["total"], select(table.c.total)))
            connection.execute(table.insert().from_select(["total", "id"], select(table.c.total, -table.c.id)))
            self.assertEqual(len({id for id, in connection.execute(select(table.c.id))}), 80)
        gen.close()


if __name__ == "__main__":
    unittest.main()
