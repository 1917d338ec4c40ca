# SPDX-License-Identifier: MIT
"""Primary keys for SQLAlchemy 1.4 and later.

    from firn.sqlalchemy import id_column

    gen = firn.open("snowflake", store="postgres://app@db/app")

    class Order(Base):
        __tablename__ = "orders"
        id = id_column(gen, primary_key=True)"""
import uuid

from sqlalchemy import BigInteger, Column, String, types
from sqlalchemy.dialects import postgresql
from sqlalchemy.sql.expression import Insert

import firn

_KINDS = {"int": int, "uuid": uuid.UUID, "text": str}
# Other collations sort letters of both cases together, so ranges of base62 miss rows; MariaDB's treat both as equal.
_COLLATIONS = {"postgresql": "C", "mysql": "ascii_bin", "mariadb": "ascii_bin"}


def _text():
    """The type of a text ID. It consists of types of SQLAlchemy, so that migrations need no import of firn."""
    column_type = String(40)
    for dialect, collation in _COLLATIONS.items():
        column_type = column_type.with_variant(String(40, collation=collation), dialect)
    return column_type


class ID(types.TypeDecorator):
    """The column type of UUIDs: UUID, or VARCHAR(36) where the engine has none. ID("int") and ID("text") are BIGINT and
    VARCHAR(length). repr() is what Alembic writes into a migration."""
    impl = types.String
    cache_ok = True

    def __init__(self, kind="int", length=40):
        super().__init__(length)
        self.kind = _KINDS.get(kind, kind)
        if self.kind not in _KINDS.values():
            raise firn.UsageError("%r is not a kind of ID" % (kind,), "use " + ", ".join(map(repr, _KINDS)))
        self.length = length

    def __repr__(self):
        name = next(name for name, kind in _KINDS.items() if kind is self.kind)
        return "ID(%r%s)" % (name, ", length=%d" % self.length if name == "text" else "")

    def load_dialect_impl(self, dialect):
        if self.kind is int:
            return dialect.type_descriptor(BigInteger())
        if self.kind is uuid.UUID and dialect.name == "postgresql":
            return dialect.type_descriptor(postgresql.UUID(as_uuid=True))
        if self.kind is uuid.UUID:
            return dialect.type_descriptor(types.String(36))
        return dialect.type_descriptor(types.String(self.length, collation=_COLLATIONS.get(dialect.name)))

    def process_bind_param(self, value, dialect):
        if value is None or self.kind is int:
            return value
        if self.kind is uuid.UUID:
            value = value if isinstance(value, uuid.UUID) else uuid.UUID(str(value))  # one spelling, so that equal ones are equal
            if dialect.name == "postgresql":
                return value
        return str(value)

    def process_result_value(self, value, dialect):
        if value is None or self.kind is int or isinstance(value, self.kind):
            return value
        return self.kind(value)


def id_column(gen, *args, **options):
    """A Column whose default is the next ID of the generator, with the type that suits its scheme."""
    shown = gen.scheme
    kind = firn._type(shown.bits, shown.form)

    def default(context):
        statement = getattr(getattr(context, "compiled", None), "statement", None)
        if isinstance(statement, Insert) and statement.select is not None:
            raise firn.UsageError("from_select() evaluates a default once and would give all rows one ID: select the rows, and "
                                  "insert them as a list")
        return gen.next()

    column_type = BigInteger() if kind is int else _text() if kind is str else ID(kind)
    return Column(column_type, *args, default=default, **{"autoincrement": False, **options})  # no sequence


# The columns of the tables of a store, by the end of their names: the prefix is the store's choice.
_STORE = {"namespace": {"name", "layout", "identity", "floor"}, "mark": {"ns", "key", "high", "grant", "note"}}


def _drops_store(op):
    columns = _STORE.get(getattr(op, "table_name", "").rpartition("_")[2])
    return columns is not None and isinstance(op, ops.DropTableOp) and columns <= set(op.to_table().columns.keys())


def _keep_store(context, upgrade, schemas):
    """Autogenerate drops tables that the models lack. In the database of a store, that would lose all that firn reserved."""
    upgrade.ops[:] = [op for op in upgrade.ops if not _drops_store(op)]


try:
    from alembic.autogenerate import comparators
    from alembic.operations import ops
except ImportError:
    pass
else:
    comparators.dispatch_for("schema")(_keep_store)
