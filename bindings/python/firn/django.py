# SPDX-License-Identifier: MIT
"""Primary keys for Django.

settings.py:
    FIRN = {"default": {"scheme": "snowflake", "store": "postgres://app@db/app"}}
models.py:
    from firn.django import IdField, UUIDField

    class Order(models.Model):
        id = IdField(primary_key=True)

Each process opens a generator at its first ID; a worker that is forked later gets its own IDs."""
import threading

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import models

import firn

_lock = threading.Lock()
_generators = {}


def generator(using="default"):
    """The generator of settings.FIRN[using], opened once in a process."""
    gen = _generators.get(using)
    if gen is None:
        with _lock:
            gen = _generators.get(using)
            if gen is None:
                try:
                    options = dict(settings.FIRN[using])
                except (AttributeError, KeyError):
                    raise ImproperlyConfigured(
                        'settings.FIRN has no "%s": add {"%s": {"scheme": "snowflake", "store": "postgres://..."}}'
                        % (using, using)) from None
                gen = _generators[using] = firn.open(**options)
    return gen


class _Default:
    """The default of a field: the next ID. Compares equal, so that migrations see no change."""

    def __init__(self, using):
        self.using = using

    def __call__(self):
        return generator(self.using).next()

    def __eq__(self, other):
        return isinstance(other, _Default) and other.using == self.using

    def __hash__(self):
        return hash(self.using)


class _Field:
    def __init__(self, *args, using="default", **options):
        self.using = using
        options["default"] = _Default(using)
        options.setdefault("editable", False)
        super().__init__(*args, **options)

    def deconstruct(self):
        name, path, args, options = super().deconstruct()
        del options["default"]
        if self.using != "default":
            options["using"] = self.using
        return name, path, args, options


class IdField(_Field, models.BigIntegerField):
    """A bigint that is the next ID of a 64-bit scheme."""


class UUIDField(_Field, models.UUIDField):
    """A uuid that is the next ID of a scheme such as uuid7."""
