# SPDX-License-Identifier: MIT
"""The Django service of docs/guides/deploying.md under gunicorn: its blocks, as printed, in a new project."""
import collections
import concurrent.futures
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

import firn

PAGE = os.path.join(os.path.dirname(__file__), "../../../docs/guides/deploying.md")
PATIENCE_S = 60
VIEWS = """
import json, os
from django.http import HttpResponse
from django.urls import path
from shop.models import Order
def order(request):
    return HttpResponse(json.dumps([os.getpid(), Order.objects.create(total=5).id]))
urlpatterns = [path("", order)]
"""


class Service(unittest.TestCase):
    def setUp(self):
        with open(PAGE) as page:
            section = re.search(r"^## A Django service$(.*?)^## ", page.read(), re.M | re.S)[1]
        settings, models = re.findall(r"```python\n(.*?)```", section, re.S)
        command = re.search(r"```console\n\$ (.*)\n```", section)[1].split()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "shop.settings", "PYTHONDONTWRITEBYTECODE": "1"}
        self.manage("startproject", "shop", ".", environment=os.environ)
        with open(f"{self.folder}/shop/settings.py", "a") as out:
            out.write("INSTALLED_APPS = ['shop']\nMIDDLEWARE = []\nDATABASES['default']['OPTIONS'] = {'timeout': 60}\n")
            self.assertIn("postgres://app@db/app", settings)
            out.write(settings.replace("postgres://app@db/app", f"sqlite:{self.folder}/firn.db?unsafe=1"))
        for name, text in (("models", models), ("urls", VIEWS)):
            with open(f"{self.folder}/shop/{name}.py", "w") as out:
                out.write(text)
        self.manage("migrate", "--run-syncdb", environment=self.environment)
        self.assertIn("--preload", command)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.server = subprocess.Popen(["/usr/bin/gunicorn", *command[1:], "--bind", f"127.0.0.1:{self.port}", "--log-level", "warning"],
                                       cwd=self.folder, env=self.environment)
        self.addCleanup(self.server.kill)
        self.wait(self.order)

    def manage(self, *words, environment):
        subprocess.run([sys.executable, "-m", "django", *words], cwd=self.folder, env=environment, check=True, stdout=subprocess.DEVNULL)

    def wait(self, what):
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                return what()
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)

    def order(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/", timeout=PATIENCE_S) as reply:
            return json.loads(reply.read())

    def orders(self, count):
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            return list(pool.map(lambda _: self.wait(self.order), range(count)))

    def test_workers_share_no_id(self):
        taken = self.orders(80)
        nodes = collections.defaultdict(set)
        for pid, id in taken:
            fields = firn.show(id, "snowflake").fields
            nodes[pid].add((fields["datacenter"], fields["worker"]))
        self.assertGreater(len(nodes), 1, "the requests went to one worker only")
        self.assertEqual(len(set.union(*nodes.values())), sum(map(len, nodes.values())), f"two workers have one node: {nodes}")
        os.kill(taken[0][0], signal.SIGKILL)
        taken += self.orders(40)
        self.server.send_signal(signal.SIGHUP)
        taken += self.orders(40)
        self.assertEqual(len({id for _, id in taken}), 160)
        self.server.terminate()
        self.assertEqual(self.server.wait(PATIENCE_S), 0)


if __name__ == "__main__":
    unittest.main()
