# SPDX-License-Identifier: MIT
"""The charts of the report, as SVG for light and for dark pages. Colour and shape say where a key puts new rows: the same
in every chart, and different for every kind of colour vision (Okabe and Ito)."""
import io
import re

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plot  # noqa: E402
from matplotlib.lines import Line2D  # noqa: E402
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter  # noqa: E402

import figures  # noqa: E402
from figures import CLASSES, ENGINES, NAMES, ORDER  # noqa: E402

WIDTH = 7.3  # inches of 72 points: 700 pixels
# Colours of the drawing, and what they become: light, dark.
INK, SOFT, GRID = "#010101", "#020202", "#030303"
END64, ENDWIDE, MOVED, ANYWHERE = "#040404", "#050505", "#060606", "#070707"
THEMES = {
    "light": {INK: "#1f2328", SOFT: "#59636e", GRID: "#dfe3e8", END64: "#0072b2", ENDWIDE: "#009e73", MOVED: "#aa4499", ANYWHERE: "#d55e00"},
    "dark": {INK: "#e6edf3", SOFT: "#9aa4af", GRID: "#343b44", END64: "#56b4e9", ENDWIDE: "#2fc79a", MOVED: "#d98cc4", ANYWHERE: "#f28e2b"},
}
STYLE = dict(zip(CLASSES, ((END64, "o"), (ENDWIDE, "s"), (MOVED, "D"), (ANYWHERE, "^"))))
ENGINE_NAMES = [NAMES[engine] for engine in ENGINES]
LOOK = {key: STYLE[name] for name, keys in CLASSES.items() for key in keys}
FONT = '-apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif'

plot.rcParams.update({
    "svg.fonttype": "none", "svg.hashsalt": "firn", "font.size": 8, "axes.titlesize": 8.5, "text.color": INK, "axes.labelcolor": SOFT, "axes.edgecolor": GRID,
    "xtick.color": SOFT, "ytick.color": INK, "axes.spines.top": False, "axes.spines.right": False, "axes.spines.left": False, "axes.grid": True,
    "grid.color": GRID, "grid.linewidth": 0.7, "axes.axisbelow": True, "xtick.major.size": 0, "ytick.major.size": 0, "legend.frameon": False,
})


def short(value, _=None):
    """An axis label: 250, 1.5k, 2M."""
    for limit, end in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= limit:
            return "%g%s" % (value / limit, end)
    return "%g" % value


def heading(figure, title, note, height):
    figure.text(0.008, 1 - 0.12 / height, title, fontsize=10.5, fontweight="bold", va="top")
    figure.text(0.008, 1 - 0.345 / height, note, fontsize=8, color=SOFT, va="top")


def class_legend(figure):
    marks = [Line2D([], [], color=STYLE[name][0], marker=STYLE[name][1], linestyle="none", markersize=5.5, label=label)
             for name, label in zip(CLASSES, ("new rows at the end, 64 bits", "at the end, wider", "uuid4, later uuid7", "anywhere"))]
    figure.legend(handles=marks, loc="lower left", bbox_to_anchor=(-0.002, 0), ncol=4, handletextpad=0.2, columnspacing=1.4, labelcolor=SOFT, borderaxespad=0.2)


def panels(title, note, height, names, left, top, bottom, gap):
    """A figure of three panels side by side, each with its name; top and bottom in inches."""
    figure, every = plot.subplots(1, 3, figsize=(WIDTH, height), sharey=True)
    heading(figure, title, note, height)
    figure.subplots_adjust(left=left, right=0.985, top=1 - top / height, bottom=bottom / height, wspace=gap)
    for axes, name in zip(every, names):
        axes.set_title(name, loc="left", fontweight="bold")
    return figure, every


def key_panels(title, note, names=ENGINE_NAMES):
    """Panels with a line for each key."""
    height = 1.42 + 0.185 * len(ORDER)
    figure, every = panels(title, note, height, names, 0.168, 0.86, 0.52, 0.15)
    for axes in every:
        axes.set_ylim(len(ORDER) - 0.4, -0.6)
        axes.set_yticks(range(len(ORDER)))
        axes.grid(axis="y", visible=False)
    every[0].set_yticklabels([key if key != "serial" else "bigserial, auto_inc." for key in ORDER])
    return figure, every, height


def ratio_panels(title, note, height, top, bottom, axis):
    """Panels of the engines whose vertical axis is a ratio, with a line at 1."""
    figure, every = panels(title, note, height, ENGINE_NAMES, 0.062, top, bottom, 0.09)
    for axes in every:
        axes.axhline(1, color=SOFT, linewidth=0.9)
        axes.set_xlabel(axis)
        axes.grid(axis="x", visible=False)
        axes.tick_params(axis="y", colors=SOFT)
    every[0].yaxis.set_major_formatter(FuncFormatter(lambda value, _: "%g×" % value))
    return figure, every


def scale(axes, log, most=None):
    if log:
        axes.set_xscale("log")
        low, high = axes.get_xlim()
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low < 40 else (1, 3) if high / low < 400 else (1,)))
        axes.xaxis.set_minor_locator(LogLocator(subs=()))
        axes.xaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_xlim(0, most)
        axes.locator_params(axis="x", nbins=4)
    axes.xaxis.set_major_formatter(FuncFormatter(short))


def dot(axes, at, found, key, hollow=False, size=5.5):
    """A median with its interval."""
    color, marker = LOOK[key]
    median, low, high, _ = found
    if high - low > 0.02 * median:
        axes.plot([low, high], [at, at], color=color, linewidth=1.6, alpha=0.55, solid_capstyle="round")
    axes.plot([median], [at], color=color, marker=marker, markersize=size, markerfacecolor="none" if hollow else color, markeredgewidth=1.2, linestyle="none",
              clip_on=False, zorder=3)


def dots(data, title, note, metrics, ratio="8", log=False, most=None):
    """One panel for each engine; the second metric, if there is one, is hollow, joined by a line."""
    figure, every, _ = key_panels(title, note)
    for axes, engine in zip(every, ENGINES):
        for at, key in enumerate(ORDER):
            found = [data.value(engine, key, metric, ratio=ratio) for metric in metrics]
            if len(found) == 2 and all(found):
                axes.plot([found[0][0], found[1][0]], [at, at], color=LOOK[key][0], linewidth=0.9, alpha=0.5)
            for hollow, one in enumerate(found):
                if one:
                    dot(axes, at, one, key, bool(hollow))
            for machine in data.machines[1:]:
                other = data.value(engine, key, metrics[0], ratio=ratio, machine=machine)
                if other:
                    axes.plot([other[0]], [at + 0.25], color=SOFT, marker="|", markersize=6, linestyle="none")
        scale(axes, log, most)
    class_legend(figure)
    return figure


LINES = ("snowflake", "uuid7", "uuid4-then-uuid7", "uuid1", "uuid4")
DASH = {"uuid1": (0, (3, 1.5))}  # the second one of its colour, and hollow


def lines(data, title, note, metric, places, place_names, axis, word):
    """Five keys, relative to the engine's own numbers, over sizes or writers."""
    figure, every = ratio_panels(title, note, 3.35, 0.92, 0.72, axis)
    for axes, engine in zip(every, ENGINES):
        for key in LINES:
            color, marker = LOOK[key]
            found = [(at, data.ratio(engine, key, "serial", metric, **{word: place})) for at, place in enumerate(places)]
            found = [(at, one) for at, one in found if one]
            axes.fill_between([at for at, _ in found], [one[1] for _, one in found], [one[2] for _, one in found], color=color, alpha=0.13, linewidth=0)
            axes.plot([at for at, _ in found], [one[0] for _, one in found], color=color, marker=marker, markersize=5, linewidth=1.5, label=key,
                      linestyle=DASH.get(key, "-"), markerfacecolor="none" if key in DASH else color, clip_on=False, zorder=3)
        axes.set_xticks(range(len(places)))
        axes.set_xticklabels(place_names)
        axes.set_xlim(-0.2, len(places) - 0.8)
        axes.set_ylim(bottom=0)
    handles, labels = every[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower left", bbox_to_anchor=(-0.002, 0), ncol=5, handlelength=2.8, handletextpad=0.4, columnspacing=1.6, labelcolor=SOFT, borderaxespad=0.2)
    return figure


def sizes(data, title, note):
    """Bars: table, index of the key, index of the time."""
    figure, every, height = key_panels(title, note)
    parts = (("table_bytes_row", 1.0), ("index_bytes_row", 0.6), ("second_index_bytes_row", 0.3))
    for axes, engine in zip(every, ENGINES):
        for at, key in enumerate(ORDER):
            left = 0
            for metric, alpha in parts:
                found = data.value(engine, key, metric, ratio="8")
                if found:
                    axes.barh(at, found[0], left=left, height=0.66, color=LOOK[key][0], alpha=alpha, linewidth=0)
                    left += found[0]
        scale(axes, False)
    figure.text(0.008, 0.06 / height, "from left to right: table, index of the key (none where the table is that index), index of created_ms", fontsize=8, color=SOFT)
    return figure


def shards(data, title, note):
    """A panel for each way to a shard: the share of the fullest of 8."""
    figure, every, _ = key_panels(title, note, ("hash of the key", "key modulo 8", "leading 3 bits"))
    found = {(row["key"], row["writers"], row["by"]): float(row["fullest"]) for row in data.shards}
    for axes, way in zip(every, ("hash", "modulo", "leading")):
        axes.axvline(12.5, color=SOFT, linewidth=0.9)
        for at, key in enumerate(ORDER):
            one, many = 100 * found[key, "1", way], 100 * found[key, "16", way]
            axes.plot([one, many], [at, at], color=LOOK[key][0], linewidth=0.9, alpha=0.5)
            dot(axes, at, (many, many, many, 1), key, True)
            dot(axes, at, (one, one, one, 1), key, size=3.5)
        axes.set_xlim(0, 104)
        axes.set_xticks((12.5, 50, 100))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: "%g%%" % value))
    class_legend(figure)
    return figure


def drift(data, title, note):
    figure, every = ratio_panels(title, note, 2.5, 0.88, 0.45, "turn of the fixed cell")
    for axes, engine in zip(every, ENGINES):
        found = sorted(data.drift.get((data.machine, engine, "load_rows_s"), []))
        if found:
            middle = figures.interval([one for _, one in found])[0]
            axes.plot([turn for turn, _ in found], [one / middle for _, one in found], color=END64, marker="o", markersize=2.6, linewidth=0.9)
        axes.set_ylim(0, 1.6)
    return figure


def every_chart(data):
    """Names and figures, in the order of the report."""
    yield "size", lines(data, "Speed by size of the data", "rows per second in transactions of 500 rows, relative to bigserial and auto_increment; bands: 95 %",
                        "load_rows_s", ("0.5", "2", "8"), ("½", "2", "8"), "size of the data by the buffer", "ratio")
    yield "insert", dots(data, "Rows per second", "transactions of 500 rows, one writer, data of 8 times the buffer; lines: 95 %", ["load_rows_s"])
    yield "p99", dots(data, "The slowest insert in a hundred", "ms, one row a transaction, one writer, 8 times the buffer; lines: 95 %", ["insert_p99_ms"], log=True)
    yield "written", dots(data, "Bytes written for a row", "log and pages, logarithmic; one writer, 8 times the buffer", ["written_bytes_row"], log=True)
    yield "log", dots(data, "Bytes of log for a row", "filled: many rows between two checkpoints; hollow: 1000 rows after one; logarithmic; 8 times the buffer",
                      ["log_bytes_row", "log_bytes_row_single"], log=True)
    yield "misses", dots(data, "Pages read for a row that is inserted", "because they were not in the buffer; one writer, 8 times the buffer", ["misses_row"])
    yield "bytes", sizes(data, "Bytes of a row", "one writer, 8 times the buffer")
    yield "density", dots(data, "How full the leaves of the key's index are", "share of a page; one writer, 8 times the buffer", ["leaf_density"], most=1)
    yield "reads", dots(data, "Time to find a row by its ID", "microseconds in the engine; filled: an old row; hollow: one of the newest hundredth; 8 times the buffer",
                        ["read_old_us", "read_recent_us"])
    yield "pages", dots(data, "Time of a page of 50 rows in order of the ID", "microseconds with the client, logarithmic; 8 times the buffer; lines: 95 %", ["page_us"], log=True)
    yield "writers", lines(data, "Speed by number of writers", "rows per second, one row a transaction, relative to bigserial and auto_increment; 2 times the buffer; bands: 95 %",
                           "insert_rows_s", ("1", "4", "16"), ("1", "4", "16"), "writers", "writers")
    yield "shards", shards(data, "The fullest of 8 shards", "share of 10,000 new rows; the line is an even share; small: 1 writer, hollow: 16 writers")
    yield "drift", drift(data, "The fixed cell over the run", "rows per second, relative to its median")


def themed(svg, colors):
    """The drawing in the colours of a theme, and smaller: no metadata, two decimals."""
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.S)
    svg = re.sub(r"^<\?xml.*?(?=<svg)", "", svg, flags=re.S)
    svg = re.sub(r"-?\d+\.\d{3,}", lambda number: "%.2f" % float(number.group(0)), svg)
    svg = re.sub(r"'DejaVu Sans'[^;\"]*", FONT.replace('"', "'"), svg)
    return re.sub("#0[0-9]0[0-9]0[0-9]", lambda color: colors.get(color.group(0), color.group(0)), svg)


def drawn(data):
    """The files: names and text."""
    files = {}
    for name, figure in every_chart(data):
        out = io.StringIO()
        figure.patch.set_alpha(0)
        for axes in figure.axes:
            axes.patch.set_alpha(0)
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
        plot.close(figure)
        for theme, colors in THEMES.items():
            files["%s-%s.svg" % (name, theme)] = themed(out.getvalue(), colors)
    return files
