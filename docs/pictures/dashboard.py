#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Makes dashboard.png (make pictures): the panels of packaging/monitoring/dashboard.json as Prometheus answers them, over
two minutes of a real server whose store is locked in between. Grafana draws the same series. Use:
docs/pictures/dashboard.py FIRN-SERVE. Needs prometheus and python3-matplotlib."""
import os
import sys
import tempfile
import threading
import time

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plot  # noqa: E402

FOLDER = os.path.dirname(os.path.abspath(__file__))
os.chdir(os.path.join(FOLDER, "..", ".."))
sys.path.insert(0, "test/serve")
os.environ.setdefault("TMPDIR", "/tmp")
import monitoring  # noqa: E402
import serving  # noqa: E402

BEFORE_S, LOCKED_S, AFTER_S = 50, 25, 45
PAPER, INK, GRID = "#181b1f", "#d8d9da", "#33363b"


def legend(text, labels):
    for name, value in labels.items():
        text = text.replace("{{%s}}" % name, value.split("?")[0])
    return text.replace(" on 127.0.0.1:", " on :").replace("127.0.0.1:", ":").rsplit("/tmp/", 1)[0]


def draw(prometheus, since):
    figure, all_axes = plot.subplots(5, 3, figsize=(15, 13.75), facecolor=PAPER)
    for axes, (title, exprs) in zip(all_axes.flat, monitoring.panels()):
        axes.set_facecolor(PAPER)
        axes.set_title(title, color=INK, fontsize=11, loc="left")
        axes.tick_params(colors=INK, labelsize=8)
        axes.grid(color=GRID, linewidth=0.6)
        for side in axes.spines.values():
            side.set_color(GRID)
        for expr, name in exprs:
            for row in prometheus.ask("query_range", query=expr, start=since, end=time.time(), step=1)["result"]:
                points = [(float(at) - since, float(value)) for at, value in row["values"]]
                axes.plot(*zip(*points), linewidth=1.4, label=legend(name, row["metric"]))
        axes.set_xlim(0, BEFORE_S + LOCKED_S + AFTER_S)
        axes.ticklabel_format(axis="y", style="plain", useOffset=False)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize=7, facecolor=PAPER, edgecolor=GRID, labelcolor=INK, loc="best")
    for axes in all_axes[-1]:
        axes.set_xlabel("seconds", color=INK, fontsize=9)
    figure.tight_layout()
    figure.savefig(os.path.join(FOLDER, "dashboard.png"), dpi=80, facecolor=PAPER)


def main():
    with tempfile.TemporaryDirectory() as folder:
        it = monitoring.begin_server(f"{folder}/server", sys.argv[1])
        prometheus = monitoring.Prometheus(f"{folder}/prometheus", it)
        ending = threading.Event()
        thread = threading.Thread(target=monitoring.load, args=(it, ending), daemon=True)
        thread.start()
        try:
            serving.wait_for("the first scrape", prometheus.answers)
            since = time.time()
            time.sleep(BEFORE_S)
            held = monitoring.lock(it)
            time.sleep(LOCKED_S)
            held.close()
            time.sleep(AFTER_S)
            draw(prometheus, since)
        finally:
            ending.set()
            thread.join(60)
            prometheus.end()
            it.end()


main()
