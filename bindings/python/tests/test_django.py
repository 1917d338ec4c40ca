# SPDX-License-Identifier: MIT
"""The fields of firn.django in a real Django with SQLite."""
import multiprocessing
import os
import signal
import tempfile
import unittest
import uuid

try:
    import django
except ImportError:
    raise unittest.SkipTest("Django is not installed") from None

from django.conf import settings

folder = tempfile.mkdtemp()
settings.configure(
    INSTALLED_APPS=[], DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.path.join(folder, "app.db")}},
    FIRN={"default": {"scheme": "snowflake", "store": "sqlite:%s/firn.db" % folder},
          "events": {"scheme": "uuid7"}, "texts": {"scheme": "tsid", "store": "memory:"},
          "numbers": {"scheme": "tsid", "store": "memory:", "output": "int"}, "wrong": {"scheme": "snowfall"}})
django.setup()

from django.core.exceptions import ImproperlyConfigured  # noqa: E402
from django.db import IntegrityError, connection, models, transaction  # noqa: E402
from django.db.migrations.state import ModelState  # noqa: E402
from django.db.migrations.writer import MigrationWriter  # noqa: E402

import firn.django  # noqa: E402


class Order(models.Model):
    id = firn.django.IdField(primary_key=True)

    class Meta:
        app_label = "shop"


class Event(models.Model):
    id = firn.django.UUIDField(primary_key=True, using="events")

    class Meta:
        app_label = "shop"


class Nothing(models.Model):
    id = firn.django.IdField(primary_key=True, using="nothing")

    class Meta:
        app_label = "shop"


class Ticket(models.Model):
    number = firn.django.IdField(null=True, using="numbers")
    event = firn.django.UUIDField(unique=True, using="events")

    class Meta:
        app_label = "shop"


class Queries:
    """The queries of a block of code."""
    def __enter__(self):
        self.seen = []
        self.wrapper = connection.execute_wrapper(self)
        self.wrapper.__enter__()
        return self.seen

    def __exit__(self, *reason):
        return self.wrapper.__exit__(*reason)

    def __call__(self, execute, sql, *rest):
        self.seen.append(sql.split()[0])
        return execute(sql, *rest)


def _worker(queue):
    queue.put([firn.django.generator().next() for _ in range(100)])


class Fields(unittest.TestCase):
    def setUp(self):
        for model in (Order, Event, Ticket):
            model.objects.all().delete()

    @classmethod
    def setUpClass(cls):
        with connection.schema_editor() as editor:
            for model in (Order, Event, Ticket):
                editor.create_model(model)

    def test_rows_get_ids(self):
        self.assertIsNone(Order().id)
        orders = [Order.objects.create() for _ in range(5)]
        ids = [order.id for order in orders]
        self.assertEqual(ids, sorted(set(ids)))
        self.assertEqual(list(Order.objects.order_by("id").values_list("id", flat=True)), ids)
        made = Order.objects.bulk_create([Order() for _ in range(50)])
        self.assertEqual(len({order.id for order in made} - {None}), 50)
        self.assertEqual({order._state.adding for order in made}, {False})
        self.assertEqual(Order.objects.count(), 55)
        event = Event.objects.create()
        self.assertEqual(event.id.version, 7)
        self.assertIs(type(Event.objects.get(id=event.id).id), uuid.UUID)

    def test_a_range_of_ids_is_a_range_of_times(self):
        old = Order.objects.create(id=firn.django.generator().at("2020-05-05T12:00:00Z")[0])
        least, greatest = firn.range("snowflake", "2020-05-05", "2020-05-06")
        self.assertEqual(list(Order.objects.filter(id__range=(least, greatest))), [old])

    def test_a_new_row_is_one_query(self):
        with Queries() as seen:
            order = Order()
            order.save()
        self.assertEqual(seen, ["INSERT"])

    def test_a_copied_row_gets_its_own_key(self):
        order = Order.objects.create()
        first, order.pk, order._state.adding = order.pk, None, True
        order.save()
        self.assertGreater(order.pk, first)

    def test_columns_that_are_not_keys(self):
        made = Ticket.objects.bulk_create([Ticket() for _ in range(50)]) + [Ticket.objects.create()]
        for name, kind in (("number", int), ("event", uuid.UUID)):
            values = [getattr(ticket, name) for ticket in made]
            self.assertEqual({type(value) for value in values}, {kind})
            self.assertEqual(len(set(values)), 51)
            self.assertEqual(set(Ticket.objects.values_list(name, flat=True)), set(values))
        Ticket.objects.update(number=None)
        ticket = Ticket.objects.first()
        ticket.save(update_fields=["event"])
        self.assertIsNone(Ticket.objects.get(pk=ticket.pk).number)
        ticket.save()
        self.assertIsNotNone(ticket.number)
        self.assertEqual(Ticket.objects.get(pk=ticket.pk).number, ticket.number)
        Ticket().full_clean()

    def test_the_value_of_a_program_stays(self):
        self.assertEqual(Ticket.objects.create(number=0).number, 0)
        own = uuid.uuid4()
        self.assertEqual(Ticket.objects.create(event=own).event, own)
        self.assertEqual(Ticket.objects.bulk_create([Ticket(number=7)])[0].number, 7)
        self.assertEqual(Order.objects.create(id=5).id, 5)

    def test_a_key_that_a_row_has(self):
        order, created = Order.objects.update_or_create(id=5)
        self.assertTrue(created)
        with self.assertRaises(IntegrityError), transaction.atomic():
            Order(id=5).save()
        self.assertEqual(Order.objects.update_or_create(id=5), (order, False))
        self.assertEqual(Order.objects.count(), 1)

    def test_a_default_is_refused(self):
        for default in (0, lambda: 5, firn.django.generator):
            with self.assertRaisesRegex(ImproperlyConfigured, "would give many rows one ID: remove the default"):
                firn.django.IdField(default=default)
        firn.django.IdField(null=True, default=None)
        asked = firn.django.IdField().clone()  # as makemigrations does with a one-off default
        asked.default = 0
        with self.assertRaisesRegex(ImproperlyConfigured, r"IdField\(default=0\) would give many rows one ID"):
            MigrationWriter.serialize(asked)

    def test_migrations_do_not_contain_a_default(self):
        for field, using, more in ((Order._meta.get_field("id"), None, {"primary_key"}),
                                   (Event._meta.get_field("id"), "events", {"primary_key"}),
                                   (Ticket._meta.get_field("number"), "numbers", {"null"}),
                                   (Ticket._meta.get_field("event"), "events", {"unique"})):
            _, path, args, options = field.deconstruct()
            self.assertEqual(options.get("using"), using)
            self.assertEqual(set(options) - {"using", "serialize"}, more | {"editable"})
            text, _ = MigrationWriter.serialize(field)
            self.assertTrue(text.startswith("firn.django."))
            self.assertEqual(field.clone().deconstruct()[1:], (path, args, options))
        self.assertEqual(ModelState.from_model(Order), ModelState.from_model(Order).clone())

    def test_a_missing_setting_is_explained(self):
        with self.assertRaisesRegex(ImproperlyConfigured, 'settings.FIRN has no "nothing": add'):
            Nothing(id=None).save()

    def test_a_scheme_that_does_not_fit_is_refused(self):
        for field, using, held, issued in ((firn.django.UUIDField, "default", "UUID", "int"),
                                           (firn.django.UUIDField, "texts", "UUID", "str"),
                                           (firn.django.IdField, "events", "int", "UUID"),
                                           (firn.django.IdField, "texts", "int", "str")):
            made = type("Wrong" + held + issued, (models.Model,), {
                "id": field(primary_key=True, using=using), "__module__": __name__,
                "Meta": type("Meta", (), {"app_label": "shop"})})
            says = 'FIRN["%s"] issues IDs of type %s, and %s holds %s: name another' % (using, issued, field.__name__, held)
            self.assertIn(says, [error for error in made.check() if error.id == "firn.E002"][0].msg)
            with self.assertRaises(ImproperlyConfigured) as raised:
                made().save()
            self.assertIn(says, str(raised.exception))
        for model in (Order, Event, Ticket):
            self.assertEqual([error for error in model.check() if error.id.startswith("firn.")], [])
        self.assertIn('has no "nothing": add', [error for error in Nothing.check() if error.id == "firn.E001"][0].msg)
        for field, scheme in ((firn.django.UUIDField, "uuid7"), (firn.django.IdField, "snowflake")):
            self.assertIn('add {"nothing": {"scheme": "%s"' % scheme, field(using="nothing")._check_scheme()[0].msg)
        self.assertIn("no scheme 'snowfall'", firn.django.IdField(using="wrong")._check_scheme()[0].msg)

    def test_a_worker_forked_while_a_thread_opens_a_generator(self):
        with firn.django._lock:
            pid = os.fork()
            if pid == 0:
                signal.alarm(60)
                firn.django._generators.clear()
                firn.django.generator("events").next()
                os._exit(0)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)

    def test_workers_forked_after_the_first_id(self):
        Order.objects.create()
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        workers = [context.Process(target=_worker, args=(queue,)) for _ in range(4)]
        for worker in workers:
            worker.start()
        ids = [firn.django.generator().next() for _ in range(100)] + [id for _ in workers for id in queue.get(timeout=300)]
        for worker in workers:
            worker.join()
        self.assertEqual(len(set(ids)), 500)


if __name__ == "__main__":
    unittest.main()
