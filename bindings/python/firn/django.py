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
import datetime
import os
import secrets
import threading
import uuid

from django.conf import settings
from django.core import checks
from django.core.exceptions import ImproperlyConfigured
from django.db import models, transaction
from django.db.backends.utils import truncate_name
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


def _aware(time):
    """A time of a row: without a zone, it is in the zone of the settings. The hours that a zone leaves out or has twice
    are times as well: make_aware() refuses them where Django's zones are of pytz."""
    if not hasattr(time, "tzinfo") or timezone.is_aware(time):
        return time
    zone = timezone.get_default_timezone()
    return zone.localize(time, is_dst=False) if hasattr(zone, "localize") else time.replace(tzinfo=zone)


def _back_dated(gen, times):
    """An ID for each time; without times of the rows, each is None, and its ID is of now."""
    return [gen.next() if time is None else gen.at(_aware(time))[0] for time in times]


class Stamp(Operation):
    """A migration's operation: gives each row that has no ID yet one of its own time, in batches.

        operations = [firn.django.Stamp("order", "public_id", time="created_at", job="orders-2019")]

    With atomic = False in the migration, each batch is a transaction, and a run that was interrupted continues where it ended.
    job: the name of a job, whose node the next run has too; without a name, each run takes another node for itself.
    Without time=, the IDs have the time of the migration."""
    reversible = True
    reduces_to_sql = False

    def __init__(self, model_name, name, time=None, batch=1000, job=None):
        if job is not None and time is None:
            raise ValueError("Stamp(job=%r) needs the time of the rows: set time=, or leave out job= for IDs of now" % job)
        if batch < 1:
            raise ValueError("Stamp(batch=%r) would give no row an ID: use a number of rows such as 1000" % batch)
        self.model_name, self.name, self.time, self.batch, self.job = model_name, name, time, batch, job

    def state_forwards(self, app_label, state):
        pass

    def database_forwards(self, app_label, schema_editor, from_state, to_state):
        model = to_state.apps.get_model(app_label, self.model_name)
        alias = schema_editor.connection.alias
        if not self.allow_migrate_model(alias, model):
            return
        if not isinstance(model._meta.get_field(self.name), _Field):
            raise ValueError("%s.%s is not an IdField or UUIDField: name another column" % (model._meta.label_lower, self.name))
        rows = model._base_manager.using(alias).filter(**{self.name: None})
        if self.job is None:
            self._fill(model, rows)
        else:
            self._fill_by_job(model, rows, schema_editor)

    def _refuse_timeless(self, model, rows):
        timeless = rows.filter(**{self.time: None}).count() if self.time else 0
        if timeless:
            raise ValueError("%d rows of %s have no %s: give them a time, or leave out time= for IDs of now"
                             % (timeless, model._meta.label_lower, self.time))

    def _fill(self, model, rows):
        """From a node that this run takes for itself."""
        self._refuse_timeless(model, rows)
        field = model._meta.get_field(self.name)
        options = _options(field.using, field.holds)
        if self.time:
            options["history"] = "job"
            if "store" in options:
                options.pop("node", None)  # which is of live IDs
        with firn.open(**options) as gen:
            last = None
            while True:
                batch = list((rows if last is None else rows.filter(pk__gt=last)).order_by("pk")[:self.batch])
                if not batch:
                    break
                for row, id in zip(batch, _back_dated(gen, [getattr(row, self.time) if self.time else None for row in batch])):
                    setattr(row, self.name, id)
                rows.bulk_update(batch, [self.name])  # a row that got an ID in the meantime keeps it
                last = batch[-1].pk

    def _fill_by_job(self, model, rows, schema_editor):
        """A job gives the same records in the same order the same IDs. Rows change while the application runs, so a table has
        the records of the first run until all have their IDs. After a run that was killed, the next one repeats all records, so
        a row without an ID gets the same ID as without the kill."""
        if schema_editor.atomic_migration:
            raise ValueError("Stamp(job=%r) keeps a list of rows, which a rollback would remove: set atomic = False in the migration"
                             % self.job)
        connection = schema_editor.connection
        records = self._records(model, connection)
        with connection.cursor() as cursor:
            found = records._meta.db_table in connection.introspection.table_names(cursor)
        if not found:
            if not rows.exists():
                return
            schema_editor.create_model(records)
        listed = records._base_manager.using(rows.db).order_by("id")
        with transaction.atomic(using=rows.db):
            head = listed.filter(id=-1).first()
            if head is None:
                head = self._list(model, rows, listed, connection)
        for ids, last in self._issued(model, listed.filter(id__gt=0), head.seed):
            with transaction.atomic(using=rows.db):
                head = listed.select_for_update().get(id=-1)  # another run at the same time may have changed it
                if last <= head.done:
                    continue  # a row there without an ID is another one, with the key of a row that is gone
                some = rows.filter(pk__in=listed.filter(id__gt=head.done, id__lte=last).order_by().values("row"))
                some = [row for row in some if row.pk in ids]  # MariaDB finds keys in another case, too: a later row's
                for row in some:
                    setattr(row, self.name, ids[row.pk])
                rows.bulk_update(some, [self.name])  # a row that got an ID in the meantime keeps it
                head.done = last
                head.save(using=rows.db)  # a router may name another one
        if rows.exists():  # they came later
            self._fill(model, rows)
        schema_editor.delete_model(records)

    def _records(self, model, connection):
        """The list: a head, which has its random seed and the number up to which rows have their IDs, then the keys and times
        of the rows, in the order of the times."""
        field = model._meta.get_field(self.time)
        name = "firn_%s_%s" % (model._meta.label_lower.replace(".", "_"), self.name)
        *_, args, options = field.deconstruct()
        own = options.keys() - {"db_column", "db_default", "default", "primary_key", "unique", "db_index", "auto_now", "auto_now_add"}
        time = type(field)(*args, **{**{key: options[key] for key in own}, "null": True})
        return type("FirnRecord", (models.Model,), {
            "__module__": __name__, "id": models.BigAutoField(primary_key=True), "seed": models.CharField(max_length=32, null=True),
            "done": models.BigIntegerField(null=True),
            "time": time,  # without the rules of its column
            "row": models.ForeignKey(model, models.DO_NOTHING, null=True, related_name="+", db_constraint=False, db_index=False),
            "Meta": type("Meta", (), {"apps": model._meta.apps, "app_label": model._meta.app_label,
                                      "db_table": truncate_name(name, connection.ops.max_name_length())})})

    def _list(self, model, rows, listed, connection):
        self._refuse_timeless(model, rows)
        head = listed.create(id=-1, seed=secrets.token_hex(16), done=0)
        select, values = rows.order_by(self.time, "pk").values_list("pk", self.time).query.get_compiler(connection.alias).as_sql()
        name = connection.ops.quote_name
        with connection.cursor() as cursor:
            cursor.execute("INSERT INTO %s (%s, %s) %s" % (*map(name, (listed.model._meta.db_table, "row_id", "time")), select), values)
        return head

    def _issued(self, model, listed, seed):
        """The IDs of the rows of each batch of the list, by their keys, and the last number of the batch."""
        with self._open_job(model, seed) as job:
            last = 0
            while True:
                batch = list(listed.filter(id__gt=last)[:self.batch])
                if not batch:
                    break
                last = batch[-1].id
                yield {record.row_id: job.next(_aware(record.time)) for record in batch}, last

    def _open_job(self, model, seed):
        """With the settings of the field's generator that jobs have, too. Its node has live IDs, so a job has another one. The
        digest follows from the seed and not from the rows: two tenants may have equal rows, whose IDs must differ."""
        field = model._meta.get_field(self.name)
        given = _options(field.using, field.holds)
        layout = firn.scheme(given.get("scheme", "snowflake"), **{key: given.get(key) for key in ("epoch", "bits", "digits")}).layout
        own = {"scheme", "store", "output", "module_dir", "unsafe", "ns", "reach", "reserve_claim", "epoch", "bits", "digits",
               "unsigned"}
        own |= {part.partition(":")[0] for part in layout.split()} - {"node"}
        options = {**{key: given[key] for key in own & given.keys()}, "name": self.job, "digest": int(seed[:16], 16),
                   "disorder": datetime.timedelta(hours=2)}  # in order, except an hour that a zone leaves out
        try:
            return firn.Job(**options)
        except firn.UsageError as error:
            if error.cure_name != "SET_SEED":
                raise
        return firn.Job(**options, seed=seed)

    def database_backwards(self, app_label, schema_editor, from_state, to_state):
        pass

    def describe(self):
        return "Gives the rows of %s an ID in %s" % (self.model_name, self.name)
