# SPDX-License-Identifier: MIT
"""packaging/monitoring with a real Prometheus: it scrapes a server, every rule and every panel of the dashboard finds
series, and alerts fire when the store is locked and when the server is gone."""
import json
import os
import re
import shutil
import sqlite3
import subprocess
import threading
import urllib.parse
import urllib.request

import serving
import tap

FOLDER = "packaging/monitoring"
TMPDIR = os.environ["TMPDIR"]
SECTIONS = "\n[generator orders]\nscheme = snowflake\n[segment invoices]\nstart = 1000\n"
RESERVE = (
    "[generator kept]\nscheme = snowflake\nns = kept\nreach = 1h\nreserve = 1h\nreserve_path = %s/reserve.db\n"
    "[segment tickets]\nreserve = 1h\nunsafe = 1\nreserve_path = %s/reserve.db\n"
)


class Prometheus:
    """Prometheus with the configuration of packaging/monitoring, which scrapes `server` every second. `soon`: alerts do
    not wait."""

    def __init__(self, folder, server, soon=False):
        os.makedirs(folder)
        self.port = serving.free_port()
        for name in ("prometheus.yml", "alerts.yml"):
            with open(f"{FOLDER}/{name}") as file:
                text = file.read()
            text = text.replace("[10.0.0.1:7380, 10.0.0.2:7380, 10.0.0.3:7380]", f"[127.0.0.1:{server.http}]")
            text = text.replace("_interval: 15s", "_interval: 1s")
            text = re.sub(r"\bfor: \w+", "for: 1s", text) if soon else text
            with open(f"{folder}/{name}", "w") as file:
                file.write(text)
        words = ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data"]
        self.process = serving.start([*words, f"--web.listen-address=127.0.0.1:{self.port}"], f"{folder}/log")

    def ask(self, path, **query):
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(url, timeout=serving.PATIENCE_S) as reply:
            return json.load(reply)["data"]

    def answers(self):
        try:
            return self.ask("query", query="firn_ready")["result"] != []
        except OSError:
            return False

    def firing(self):
        return {alert["labels"]["alertname"] for alert in self.ask("alerts")["alerts"] if alert["state"] == "firing"}

    def end(self):
        self.process.terminate()
        self.process.wait(serving.PATIENCE_S)


def panels():
    """Title and expressions of each panel, with the variables of Grafana replaced."""
    with open(f"{FOLDER}/dashboard.json") as file:
        for panel in json.load(file)["panels"]:
            yield panel["title"], [
                (target["expr"].replace("$instance", ".*").replace("$__rate_interval", "10s"), target["legendFormat"])
                for target in panel["targets"]
            ]


def begin_server(folder, program):
    it = serving.Server(folder, program, SECTIONS + RESERVE % (folder, folder), unsafe="on", wait="200ms").start()
    serving.wait_for("readiness", lambda: it.get("/readyz")[0] == 200)
    return it


def load(it, ending):
    """Requests IDs and integers until `ending` is set; refusals do not count as failures here."""
    with it.client() as client:
        while not ending.wait(0.005):
            for words in (("FIRN.NEW", "orders", "COUNT", 20), ("INCR", "invoices")):
                client.send(serving.command(*words))
                client.read()


def lock(it):
    """Nothing can reserve until the connection that it returns is closed."""
    held = sqlite3.connect(f"{it.folder}/firn.db", isolation_level=None, timeout=30)
    held.execute("BEGIN EXCLUSIVE")
    return held


def rules_and_page():
    for words in (["check", "rules", "alerts.yml"], ["test", "rules", "alerts_test.yml"]):
        done = subprocess.run(["promtool", *words], cwd=FOLDER, capture_output=True, text=True, timeout=120)
        tap.check(f"promtool {' '.join(words)}", done.returncode == 0, done.stdout + done.stderr)
    with open(f"{FOLDER}/alerts.yml") as file:
        rules = file.read()
    with open(f"{FOLDER}/alerts_test.yml") as file:
        tested = set(re.findall(r"alertname: (\w+)", file.read()))
    with open("docs/guides/runbook.md") as file:
        told = re.findall(r"^## (Firn\w+)", file.read(), re.M)
    names = re.findall(r"alert: (\w+)", rules)
    tap.same("each alert is tested", sorted(names), sorted(tested))
    tap.same("and has a section in the runbook, in the same order", names, told)
    linked = re.findall(r"runbook: docs/guides/runbook\.md#(\w+)", rules)
    tap.same("to which it links", [name.lower() for name in names], linked)


def scraped():
    it = begin_server(f"{TMPDIR}/scraped", os.path.dirname(os.environ["FIRN"]) + "/firn-serve")
    ending = threading.Event()
    thread = threading.Thread(target=load, args=(it, ending), daemon=True)
    thread.start()
    prometheus = Prometheus(f"{TMPDIR}/prometheus", it, soon=True)
    try:
        serving.wait_for("the first scrape", prometheus.answers)
        found = {row["metric"]["__name__"] for row in prometheus.ask("query", query='{__name__=~"firn_.*"}')["result"]}
        with open(f"{FOLDER}/alerts.yml") as rules, open(f"{FOLDER}/dashboard.json") as board:
            used = set(re.findall(r"\bfirn_\w+", rules.read() + board.read()))
        tap.same("every metric of rules and dashboard exists", [], sorted(used - found - {"firn_failing"}))

        def empty():
            asked = ((title, expr) for title, exprs in panels() for expr, _ in exprs)
            return [title for title, expr in asked if not prometheus.ask("query", query=expr)["result"]]

        serving.wait_for("a rate of everything", lambda: not empty())
        tap.same("every panel of the dashboard shows something", [], empty())
        rules = [rule for group in prometheus.ask("rules")["groups"] for rule in group["rules"]]
        tap.same("Prometheus evaluates every rule", {"ok"}, {rule["health"] for rule in rules})
        tap.same("no alert fires while all is well", set(), prometheus.firing())

        held = lock(it)
        expected = {"FirnStoreUnreachable", "FirnFailing", "FirnNotReady"}
        serving.wait_for("alerts of the store", lambda: prometheus.firing() >= expected)
        tap.check("a store that does not answer raises alerts: " + ", ".join(sorted(expected)), True)
        held.close()
        serving.wait_for("the end of these alerts", lambda: not prometheus.firing() & expected)
        tap.check("and that it answers again", True)
        ending.set()
        thread.join(serving.PATIENCE_S)
        it.end()
        serving.wait_for("FirnDown", lambda: "FirnDown" in prometheus.firing())
        tap.check("a server that is gone raises an alert", True)
    finally:
        ending.set()
        prometheus.end()
        it.end()


def waits_are_timed():
    """Requests that wait and fail count once, with their wait."""
    it = begin_server(f"{TMPDIR}/timed", os.path.dirname(os.environ["FIRN"]) + "/firn-serve")
    name = 'firn_request_duration_seconds_%s{listener="resp"'
    with it.client() as client:
        held = lock(it)
        serving.wait_for("the end of the window", lambda: it.get("/readyz")[0] == 503)
        before = it.metrics()
        for _ in range(3):
            client.send(serving.command("FIRN.NEW", "orders"))
            tap.check("a request is refused", isinstance(client.read(), serving.Refused))
        after = it.metrics()
        held.close()
    grown = {which: int(after[name % which + label]) - int(before[name % which + label])
             for which, label in (("count", "}"), ("bucket", ',le="0.131072"}'))}
    tap.same("they count once, as slow ones", {"count": 3, "bucket": 0}, grown)
    it.end()


if __name__ == "__main__":
    if shutil.which("prometheus") and shutil.which("promtool"):
        tap.run([rules_and_page, waits_are_timed, scraped])
    elif os.environ.get("CI") == "true":
        tap.check("prometheus is installed", False)
    else:
        tap.skip("alerts and dashboard", "prometheus is missing")
    tap.run([])
