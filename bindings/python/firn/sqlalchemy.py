# SPDX-License-Identifier: MIT
"""Primary keys for SQLAlchemy 1.4 and later.

    from firn.sqlalchemy import id_column

    gen = firn.open("snowflake", store="postgres://app@db/app")

    class Order(Base):
        __tablename__ = "orders"
        id = id_column(gen, primary_key=True)"""
import uuid

from sqlalchemy import BigInteger, Column, types
from sqlalchemy.dialects import postgresql


class ID(types.TypeDecorator):
    """The column type of a generator's IDs: BIGINT, UUID (CHAR(36) where the engine has none), or VARCHAR."""
    impl = types.String
    cache_ok = True

    def __init__(self, kind=int, length=40):
        super().__init__(length)
        self.kind = kind
        self.length = length

    def load_dialect_impl(self, dialect):
        if self.kind is int:
            return dialect.type_descriptor(BigInteger())
        if self.kind is uuid.UUID and dialect.name == "postgresql":
            return dialect.type_descriptor(postgresql.UUID(as_uuid=True))
        return dialect.type_descriptor(types.String(36 if self.kind is uuid.UUID else self.length))

    def process_bind_param(self, value, dialect):
        if value is None or self.kind is int or (self.kind is uuid.UUID and dialect.name == "postgresql"):
            return value
        return str(value)

    def process_result_value(self, value, dialect):
        if value is None or self.kind is int or isinstance(value, self.kind):
            return value
        return self.kind(value)


def id_column(gen, *args, **options):
    """A Column whose default is the next ID of the generator, with the type that suits its scheme."""
    shown = gen.scheme
    kind = int if shown.bits <= 64 and shown.form in ("dec", "unsigned") else \
        uuid.UUID if shown.form == "uuid" else str
    return Column(ID(kind), *args, default=lambda: gen.next(), **options)
