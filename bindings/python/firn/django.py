# SPDX-License-Identifier: MIT
"""IDs for Django: primary keys and other columns.

settings.py:
    FIRN = {"default": {"scheme": "snowflake", "store": "postgres://app@db/app"}}
models.py:
    from firn.django import IdField, UUIDField

    class Order(models.Model):
        id = IdField(primary_key=True)

A row gets its ID when it is saved. Each process opens a generator at its first ID; a worker that is forked later gets
its own IDs."""
import os
import threading
import uuid

from django.conf import settings
from django.core import checks
from django.core.exceptions import ImproperlyConfigured
from django.db import models
from django.db.migrations.operations.base import Operation
from django.utils import timezone

import firn

_lock = threading.Lock()
_generators = {}


def _unlock():
    """In a child: a thread that it does not have may hold the lock."""
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_unlock)


def _options(using, holds):
    try:
        return dict(settings.FIRN[using])
    except (AttributeError, KeyError):
        example = '{"scheme": "uuid7"}' if holds is uuid.UUID else '{"scheme": "snowflake", "store": "postgres://..."}'
        raise ImproperlyConfigured('settings.FIRN has no "%s": add {"%s": %s}' % (using, using, example)) from None


def generator(using="default", _holds=int):
    """The generator of settings.FIRN[using], opened once in a process."""
    gen = _generators.get(using)
    if gen is None:
        with _lock:
            gen = _generators.get(using)
            if gen is None:
                gen = _generators[using] = firn.open(**_options(using, _holds))
    return gen


def _type(using, holds):
    """The type of the IDs of a generator, which is not opened: that would take a node."""
    options = _options(using, holds)
    output = options.get("output")
    if output is not None:
        return {"int": int, "uuid": uuid.UUID}.get(output, str)
    shown = firn.scheme(options.get("scheme", "snowflake"), **{key: options.get(key) for key in ("epoch", "bits", "digits")})
    return firn._type(shown.bits, shown.form)


def _unsaved():
    """The default of a primary key. save() looks for a row with the key before it inserts one, unless there is a default."""


class _Field:
    """pre_save fills in the ID, as auto_now does. A default would be evaluated once by a migration that adds the field,
    and would give all rows of the table one ID."""

    def __init__(self, *args, using="default", **options):
        super().__init__(*args, **{"editable": False, **options})
        self.using = using
        self._refuse_default()
        self.blank = True  # until the row is saved
        if self.primary_key and getattr(self, "db_default", models.NOT_PROVIDED) is models.NOT_PROVIDED:
            self.default = _unsaved

    def _refuse_default(self):
        if self.default not in (None, _unsaved, models.NOT_PROVIDED):
            raise ImproperlyConfigured(
                "%s(default=%r) would give many rows one ID: remove the default, and for a new column of a table that has "
                "rows use null=True and fill the rows, as the page of the package shows (default=None if it has none)"
                % (type(self).__name__, self.default))

    def deconstruct(self):
        self._refuse_default()  # one that makemigrations asked for
        name, path, args, options = super().deconstruct()
        options.pop("blank", None)
        if self.default is _unsaved:
            del options["default"]
        if self.using != "default":
            options["using"] = self.using
        return name, path, args, options

    def check(self, **options):
        return [*super().check(**options), *self._check_scheme()]

    def _check_scheme(self):
        try:
            kind = _type(self.using, self.holds)
        except (ImproperlyConfigured, firn.Error) as error:
            return [checks.Error(str(error), obj=self, id="firn.E001")]
        if kind is self.holds:
            return []
        return [checks.Error(self._misfit(kind), obj=self, id="firn.E002")]

    def _misfit(self, kind):
        return ('settings.FIRN["%s"] issues IDs of type %s, and %s holds %s: name another generator with using=, or use '
                "another field" % (self.using, kind.__name__, type(self).__name__, self.holds.__name__))

    def get_pk_value_on_save(self, instance):
        id = generator(self.using, self.holds).next()
        if type(id) is not self.holds:
            raise ImproperlyConfigured("%s: %s" % (self, self._misfit(type(id))))
        return id

    def pre_save(self, instance, add):
        id = super().pre_save(instance, add)
        if id is None:
            id = self.get_pk_value_on_save(instance)
            setattr(instance, self.attname, id)
        return id


class IdField(_Field, models.BigIntegerField):
    """A bigint that is the next ID of a scheme whose IDs are integers."""
    holds = int


class UUIDField(_Field, models.UUIDField):
    """A uuid that is the next ID of a scheme such as uuid7."""
    holds = uuid.UUID


def _back_dated(gen, times):
    """An ID for each time; without times of the rows, each is None, and its ID is of now."""
    zone = timezone.get_default_timezone()
    return [gen.next() if time is None else
            gen.at(timezone.make_aware(time, zone) if hasattr(time, "tzinfo") and timezone.is_naive(time) else time)[0]
            for time in times]


class Stamp(Operation):
    """A migration's operation: gives each row that has no ID yet one of its own time, in batches.

        operations = [firn.django.Stamp("order", "public_id", time="created_at")]

    With atomic = False in the migration, each batch is a transaction, and a run that was interrupted continues where it ended.
    Without time=, the IDs have the time of the migration. The generator of the field takes a node for itself."""
    reversible = True
    reduces_to_sql = False

    def __init__(self, model_name, name, time=None, batch=1000):
        self.model_name, self.name, self.time, self.batch = model_name, name, time, batch

    def state_forwards(self, app_label, state):
        pass

    def database_forwards(self, app_label, schema_editor, from_state, to_state):
        model = to_state.apps.get_model(app_label, self.model_name)
        alias = schema_editor.connection.alias
        if not self.allow_migrate_model(alias, model):
            return
        field = model._meta.get_field(self.name)
        rows = model._base_manager.using(alias).filter(**{self.name: None})
        timeless = rows.filter(**{self.time: None}).count() if self.time else 0
        if timeless:
            raise ValueError("%d rows of %s.%s have no %s: give them a time, or leave out time= for IDs of now"
                             % (timeless, app_label, self.model_name, self.time))
        options = _options(field.using, field.holds)
        with firn.open(**{**options, **({"history": "job"} if self.time else {})}) as gen:
            last = None
            while True:
                batch = list((rows if last is None else rows.filter(pk__gt=last)).order_by("pk")[:self.batch])
                if not batch:
                    break
                for row, id in zip(batch, _back_dated(gen, [getattr(row, self.time) if self.time else None for row in batch])):
                    setattr(row, self.name, id)
                rows.bulk_update(batch, [self.name])  # a row that got an ID in the meantime keeps it
                last = batch[-1].pk

    def database_backwards(self, app_label, schema_editor, from_state, to_state):
        pass

    def describe(self):
        return "Gives the rows of %s an ID in %s" % (self.model_name, self.name)
