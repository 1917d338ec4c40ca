# SPDX-License-Identifier: MIT
"""The fields of firn.django in a real Django with SQLite."""
import multiprocessing
import os
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
          "events": {"scheme": "uuid7"}})
django.setup()

from django.core.exceptions import ImproperlyConfigured  # noqa: E402
from django.db import connection, models  # noqa: E402
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


def _worker(queue):
    queue.put([Order().id for _ in range(100)])


class Fields(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with connection.schema_editor() as editor:
            editor.create_model(Order)
            editor.create_model(Event)

    def test_rows_get_ids(self):
        orders = [Order.objects.create() for _ in range(5)]
        ids = [order.id for order in orders]
        self.assertEqual(ids, sorted(set(ids)))
        self.assertEqual(list(Order.objects.order_by("id").values_list("id", flat=True)), ids)
        Order.objects.bulk_create([Order() for _ in range(50)])
        self.assertEqual(Order.objects.count(), 55)
        event = Event.objects.create()
        self.assertEqual(event.id.version, 7)
        self.assertIs(type(Event.objects.get(id=event.id).id), uuid.UUID)

    def test_a_range_of_ids_is_a_range_of_times(self):
        old = Order.objects.create(id=firn.django.generator().at("2020-05-05T12:00:00Z")[0])
        least, greatest = firn.range("snowflake", "2020-05-05", "2020-05-06")
        self.assertEqual(list(Order.objects.filter(id__range=(least, greatest))), [old])
        old.delete()

    def test_migrations_do_not_contain_the_default(self):
        for field, option in ((Order._meta.get_field("id"), None), (Event._meta.get_field("id"), "events")):
            _, path, _, options = field.deconstruct()
            self.assertEqual(options.get("using"), option)
            self.assertNotIn("default", options)
            text, _ = MigrationWriter.serialize(field)
            self.assertIn("firn.django.", text)
            self.assertTrue(path.startswith("firn.django."))

    def test_a_missing_setting_is_explained(self):
        with self.assertRaisesRegex(ImproperlyConfigured, 'settings.FIRN has no "nothing": add'):
            Nothing()

    def test_workers_forked_after_the_first_id(self):
        Order()
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        workers = [context.Process(target=_worker, args=(queue,)) for _ in range(4)]
        for worker in workers:
            worker.start()
        ids = [Order().id for _ in range(100)] + [id for _ in workers for id in queue.get(timeout=300)]
        for worker in workers:
            worker.join()
        self.assertEqual(len(set(ids)), 500)


if __name__ == "__main__":
    unittest.main()
