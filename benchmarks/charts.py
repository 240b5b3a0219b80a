"""Charts of the measurements, each in a light and in a dark version.

They show how costs grow with the size. So both axes are logarithmic, and a cost in proportion to the size is a straight
line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import attrs
import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator
from sizes import DOCS

_LABELS: Final = {
    "gcpx": "gcpx",
    "nothing": "provider that does nothing",
    "dynamic": "dynamic provider with httpx",
    "script": "script with Google's client",
    "httpx": "httpx and json alone",
}


@attrs.frozen
class Theme:
    """The colours of a version: text, lines of the grid, and those of the contenders in the order of `_LABELS`."""

    name: str
    text: str
    grid: str
    lines: tuple[str, ...]


_THEMES: Final = (
    Theme("light", "#1f2328", "#d1d9e0", ("#0969da", "#818b98", "#bc4c00", "#8250df", "#1a7f37")),
    Theme("dark", "#f0f6fc", "#3d444d", ("#4493f8", "#9198a1", "#f0883e", "#ab7df8", "#3fb950")),
)
_WIDE: Final = 100
"""From this range of an axis on, the powers of ten are enough for its labels."""
_THOUSAND: Final = 1000
_MARKERS: Final = "os^Dv"


@attrs.frozen
class Series:
    """A line: its label, and its points by size."""

    label: str
    points: dict[int, float]


@attrs.frozen
class Panel:
    """One diagram of a chart."""

    title: str
    unit: str
    series: Sequence[Series]


def draw(results: dict[str, Any]) -> list[Path]:
    """Draw every chart of the results into the folder of images; returns the files."""
    charts: dict[str, tuple[str, list[Panel]]] = {
        "stacks-time": ("templates", [_stack_panel(results, verb, "seconds") for verb in _verbs(results)]),
        "stacks-calls": ("templates", [_stack_panel(results, verb, "calls") for verb in _verbs(results)[1:]]),
        "many": ("templates at a time", [_many_panel(results["many"], verb) for verb in _MANY_VERBS]),
        "fleets": ("members", _fleet_panels(results)),
        "lists": ("instances", [_sizes_panel(results["lists"], "list all instances of a project")]),
        "tokens": ("tokens", [_sizes_panel(results["tokens"], "verify push tokens")]),
    }
    (DOCS / "images").mkdir(exist_ok=True)
    return [
        _drawn(name, axis, panels, theme)
        for name, (axis, panels) in charts.items()
        if panels  # verbs have none if they were tried at one size
        for theme in _THEMES
    ]


def _verbs(results: dict[str, Any]) -> list[str]:
    """Return the verbs that were measured at several sizes."""
    sizes = Counter((row["contender"], row["verb"]) for row in results["stacks"])
    return list(dict.fromkeys(verb for (_, verb), number in sizes.items() if number > 1))


def _stack_panel(results: dict[str, Any], verb: str, figure: str) -> Panel:
    rows = [row for row in results["stacks"] if row["verb"] == verb and row[figure]]
    names = [name for name in _LABELS if any(row["contender"] == name for row in rows)]
    series = [
        Series(_LABELS[name], {row["size"]: row[figure] for row in rows if row["contender"] == name}) for name in names
    ]
    return Panel(verb, figure, series)


def _fleet_panels(results: dict[str, Any]) -> list[Panel]:
    def panel(title: str, unit: str, value: Callable[[dict[str, Any]], float]) -> Panel:
        rows = results["fleets"]
        shown = list(dict.fromkeys(row["name"] for row in rows if row["name"] in _FLEET_LINES))
        return Panel(
            title,
            unit,
            [Series(name, {row["size"]: value(row) for row in rows if row["name"] == name}) for name in shown],
        )

    return [
        panel("requests to Google", "calls", lambda row: row["calls"]),
        panel("the plugin's work", "seconds of CPU", lambda row: row["cpu"]),
    ]


_FLEET_LINES: Final = ("create", "refresh", "change a label", "replace the others, 25 % at a time")


_MANY_VERBS: Final = ("create", "refresh", "delete")


def _many_panel(rows: list[dict[str, Any]], verb: str) -> Panel:
    rows = [row for row in rows if row["verb"] == verb]
    names = list(dict.fromkeys(row["contender"] for row in rows))
    series = [
        Series(_LABELS[name], {row["parallel"]: row["cost"]["calls"] for row in rows if row["contender"] == name})
        for name in names
    ]
    return Panel(f"{verb} 1,000 templates", "calls", series)


def _sizes_panel(rows: list[dict[str, Any]], title: str) -> Panel:
    names = list(dict.fromkeys(row["contender"] for row in rows))
    series = [
        Series(_LABELS.get(name, name), {row["size"]: row["seconds"] for row in rows if row["contender"] == name})
        for name in names
    ]
    return Panel(title, "seconds", series)


def _drawn(name: str, axis: str, panels: list[Panel], theme: Theme) -> Path:
    """Draw a chart for a theme; returns the file."""
    settings = {
        "svg.fonttype": "none",
        "svg.hashsalt": name,  # the same measurements give the same file
        "font.family": "sans-serif",
        "font.sans-serif": ["Helvetica", "Arial", "DejaVu Sans"],
        "text.color": theme.text,
        "axes.labelcolor": theme.text,
        "axes.edgecolor": theme.grid,
        "xtick.color": theme.text,
        "ytick.color": theme.text,
    }
    with mpl.rc_context(settings):
        figure = Figure(figsize=(3.4 * max(2, len(panels)), 3.6), layout="constrained")
        axes = figure.subplots(1, len(panels), squeeze=False)[0]
        for ax, panel in zip(axes, panels, strict=True):
            _fill(ax, axis, panel, theme)
        # The last panel has every line: only the preview lacks one.
        lines = axes[-1].get_legend_handles_labels()
        figure.legend(*lines, loc="outside lower center", ncols=2 * max(1, len(panels) // 2), frameon=False)
        path = DOCS / "images" / f"benchmark-{name}-{theme.name}.svg"
        figure.savefig(path, transparent=True, metadata={"Date": None})
    return path


def _fill(ax: Axes, axis: str, panel: Panel, theme: Theme) -> None:
    colours = (*theme.lines, *theme.lines)
    for series, colour, marker in zip(panel.series, colours, _MARKERS * 2, strict=False):
        sizes = sorted(series.points)
        values = [series.points[size] for size in sizes]
        ax.plot(sizes, values, color=colour, marker=marker, markersize=4, linewidth=1.6, label=series.label)
    ax.set(xscale="log", yscale="log", xlabel=axis, ylabel=panel.unit)
    ax.set_xticks(sorted({size for series in panel.series for size in series.points}))
    ax.minorticks_off()
    ax.set_title(panel.title, fontsize="medium")
    ax.grid(color=theme.grid, linewidth=0.5)
    ax.spines[["top", "right"]].set_visible(False)
    low, high = ax.get_ylim()
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0,) if high > _WIDE * low else (1.0, 2.0, 5.0)))
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}" if value < _THOUSAND else f"{value / _THOUSAND:g}k")
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:.10f}".rstrip("0"))
