# SPDX-License-Identifier: MIT
"""id_column of firn.sqlalchemy in a real SQLAlchemy with SQLite, and the types it chooses for PostgreSQL."""
import unittest
import uuid

try:
    from sqlalchemy import create_engine
except ImportError:
    raise unittest.SkipTest("SQLAlchemy is not installed") from None

from sqlalchemy.dialects import postgresql
from sqlalchemy.orm import Session, declarative_base
from sqlalchemy.schema import CreateTable

import firn
from firn.sqlalchemy import id_column


class Columns(unittest.TestCase):
    def test_every_kind(self):
        for scheme, kind, type_name in (("snowflake", int, "BIGINT"), ("uuid7", uuid.UUID, "UUID"),
                                        ("ulid", str, "VARCHAR(40)")):
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
            sql = str(CreateTable(Order.__table__).compile(dialect=postgresql.dialect()))
            self.assertIn(type_name, sql)
            gen.close()


if __name__ == "__main__":
    unittest.main()
