"""Pictures of datasets and results, with matplotlib. Each function draws on `ax` (None: a new figure) and returns the
axes; `ax.figure.savefig("picture.pdf")` writes PNG, PDF or SVG."""
from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any, Sequence as Items

import numpy as np

from ._library import ArgumentError, count, instance, lib, real

if TYPE_CHECKING:
    from .data import Dataset
    from .diagnosis import Diagnosis, Evidence
    from .estimate import Estimate
    from .learning import LearnResult
    from .noise import Noise
    from ._tune import TuneResult

__all__ = ["evidence", "heldout", "history", "nees", "residuals", "sigmas", "trajectory", "whiteness"]

_BLUE, _ORANGE, _GREEN, _GREY, _RED = "#1f6fb4", "#d9730d", "#2f8f4e", "#888888", "#b8312f"
_ELLIPSES = 30  # about so many on a trajectory, unless told otherwise
_CORNERS = 64  # of an ellipse


def _axes(ax: Any, **size: Any) -> Any:
    if ax is not None:
        if not hasattr(ax, "plot") or not hasattr(ax, "figure"):
            raise ArgumentError(f"ax must be axes of matplotlib, found {type(ax).__name__}")
        return ax
    try:
        import matplotlib.pyplot as plt  # type: ignore[import]
    except ImportError as why:
        raise ImportError(f"pictures need matplotlib, which cannot be imported: {why}. On Debian: apt install "
                          "python3-matplotlib") from None
    return plt.subplots(layout="constrained", **size)[1]


def _quiet(ax: Any) -> None:
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(True, linewidth=0.4, alpha=0.5)
    ax.set_axisbelow(True)


# ---- trajectories ----------------------------------------------------------------------------------------------------


def _ellipse(center: np.ndarray, covariance: np.ndarray, scale: float) -> np.ndarray:
    """Corners of the ellipse (x - c)' P^-1 (x - c) = scale^2."""
    values, vectors = np.linalg.eigh(covariance)
    angle = np.linspace(0, 2 * np.pi, _CORNERS)
    circle = np.stack([np.cos(angle), np.sin(angle)])
    return (center[:, None] + scale * vectors @ (np.sqrt(np.maximum(values, 0))[:, None] * circle)).T


def trajectory(estimates: "Estimate | Items[Estimate]", ax: Any = None, *, ellipses: bool = True,
               probability: float = 0.95, every: int | None = None, plane: str = "xy", labels: Any = None) -> Any:
    """Estimated positions with the truth and covariance ellipses, from above. `estimates`: of one sequence, one or
    several (`Sequence.estimate`), with `labels`; `probability` inside an ellipse, of the position in the plane;
    `every`: poses from one ellipse to the next; `plane` of poses in space: "xy", "xz" or "yz"."""
    from .estimate import Estimate

    items = [estimates] if isinstance(estimates, Estimate) else list(estimates)
    names: list[Any] = [None] * len(items) if labels is None else [labels] if isinstance(labels, str) else list(labels)
    if plane not in ("xy", "xz", "yz") or not items or len(names) != len(items):
        raise ArgumentError("one or more estimates, as many labels, and a plane of xy, xz, yz are wanted")
    axes = ["xyz".index(letter) for letter in plane]
    ax = _axes(ax, figsize=(6.4, 5.4))
    truth = instance(items[0], Estimate, "an estimate").truth
    if truth is not None:
        ax.plot(truth[:, axes[0]], truth[:, axes[1]], color="black", linewidth=1.2, linestyle="--", label="truth")
    scale = math.sqrt(-2 * math.log(1 - real(probability, "probability", 1e-6, 1 - 1e-12)))  # of two coordinates
    for i, item in enumerate(items):
        color, P = (_BLUE, _ORANGE, _GREEN, _RED, _GREY)[i % 5], item.position_covariances()
        at = item.positions[:, axes] if not item.planar or plane == "xy" else item.positions
        ax.plot(at[:, 0], at[:, 1], color=color, linewidth=1.2, label=names[i] or ("estimate" if i == 0 else item.name))
        step = max(1, len(at) // _ELLIPSES) if every is None else count(every, "every", 1)
        if ellipses and P is not None:
            for k in range(0, len(at), step):
                corners = _ellipse(at[k], P[k][np.ix_(axes, axes)] if not item.planar else P[k], scale)
                ax.fill(corners[:, 0], corners[:, 1], facecolor=color, edgecolor=color, alpha=0.25, linewidth=0.6,
                        label=f"{100 * probability:g} % ellipses" if i == 0 and k == 0 else None)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set(xlabel=f"{plane[0]}, m", ylabel=f"{plane[1]}, m", title=items[0].name)
    ax.legend(frameon=False, fontsize="small")
    _quiet(ax)
    return ax


# ---- results ---------------------------------------------------------------------------------------------------------


def sigmas(result: "LearnResult | TuneResult", ax: Any = None, *, reference: "Noise | None" = None,
           width: float = 1.96) -> Any:
    """Learned sigmas with error bars of `width` standard errors, the start values, bounds that are active, and those of
    a `reference` table. Of a TuneResult: its parameters."""
    rows = _rows(result)
    if not rows:
        raise ArgumentError("the result has no learned rows")
    place, factor = np.arange(len(rows))[::-1], real(width, "width", 0)
    ax = _axes(ax, figsize=(6.4, 1.4 + 0.28 * len(rows)))
    value = np.array([row["value"] for row in rows])
    relative = np.array([row["relative"] for row in rows])
    known = np.isfinite(relative)
    bars = np.where(known, relative, 0) * factor
    ax.errorbar(value, place, xerr=[value * (1 - np.exp(-bars)), value * (np.exp(bars) - 1)], fmt="o", color=_BLUE,
                markersize=5, capsize=3, linewidth=1.2, label=f"learned, {factor:g} standard errors")
    ax.plot([row["start"] for row in rows], place, "x", color=_GREY, label="start")
    for text, keep, marker in (("no error bar", ~known, "o"), ("at a bound", [r["bound"] != 0 for r in rows], "D")):
        keep = np.asarray(keep)
        if keep.any():
            ax.plot(value[keep], place[keep], marker, markerfacecolor="white", markeredgecolor=_RED, label=text)
    if reference is not None:
        other = [_reference(reference, row) for row in rows]
        ax.plot(other, place, "|", color=_ORANGE, markersize=14, markeredgewidth=2, label="reference")
    ax.set_xscale("log")
    ax.set_yticks(place, [row["label"] for row in rows])
    ax.set_xlabel("sigma" if rows[0]["sigma"] else "value")
    ax.set_ylim(-0.7, len(rows) - 0.3)
    ax.legend(frameon=False, fontsize="small", loc="lower left", bbox_to_anchor=(0, 1), ncols=3)
    _quiet(ax)
    return ax


def _rows(result: Any) -> list[dict[str, Any]]:
    from ._tune import TuneResult
    from .learning import LearnResult

    if isinstance(result, TuneResult):
        return [{"label": p.name, "value": p.value, "start": p.start, "relative": p.standard_error,
                 "bound": p.at_bound, "sigma": False} for p in result.parameters]
    return [{"label": r.label + (f", {r.unit}" if r.unit else ""), "value": r.sigma, "start": r.sigma_start,
             "relative": r.sigma_error / r.sigma, "bound": r.at_bound, "sigma": True, "model": r.model,
             "row": _place(result.noise[r.model].rows, r.name)}
            for r in instance(result, LearnResult, "the result").rows]


def _place(rows: tuple[str, ...], name: str) -> int:
    return rows.index(name) if name in rows else 0


def _reference(noise: "Noise", row: dict[str, Any]) -> float:
    name = row.get("model", "")
    if name not in noise:
        name = name.split("@")[0].split("#")[0]
    if not name or name not in noise:
        return math.nan
    model = noise[name]
    return float(model.sigma[min(row["row"], model.dim - 1)])


def heldout(result: "LearnResult | TuneResult", ax: Any = None) -> Any:
    """The held-out losses of the candidates of cross-validation over that of the chosen one, with standard errors, and
    why each was chosen or not."""
    from ._tune import TuneResult
    from .learning import LearnResult

    lines: list[tuple[str, float, float, str, bool]]
    if isinstance(result, TuneResult):
        lines = [("start values" if math.isnan(c.prior) else f"prior {c.prior:g}", c.log_ratio, c.log_ratio_error,
                  c.verdict.replace("_", " "), c.chosen) for c in result.candidates]
        text = "held-out loss over that of the start values"
    else:
        lines = [(h.candidate, h.log_ratio, h.log_ratio_error, h.meaning, h.chosen)
                 for h in instance(result, LearnResult, "the result").heldout]
        text = "held-out loss over that of the chosen candidate"
    if not lines:
        raise ArgumentError("there was no cross-validation: the result has no candidates")
    ax = _axes(ax, figsize=(7.2, 1.3 + 0.36 * len(lines)))
    place = np.arange(len(lines))[::-1]
    for y, (_, mean, error, verdict, chosen) in zip(place, lines):
        color, bar = (_BLUE, _GREY)[not chosen], error if math.isfinite(error) else 0.0
        low, high = (math.exp(mean - bar), math.exp(mean + bar)) if math.isfinite(mean) else (math.nan, math.nan)
        ax.plot([low, high], [y, y], color=color, linewidth=1.6)
        ax.plot([math.exp(mean) if math.isfinite(mean) else math.nan], [y], "o", color=color)
        ax.annotate(verdict, (1, y), xycoords=("axes fraction", "data"), xytext=(6, 0), textcoords="offset points",
                    va="center", fontsize="small", color=color, annotation_clip=False)
    ax.axvline(1, color="black", linewidth=0.8, linestyle="--")
    ratios = [math.exp(abs(line[1])) for line in lines if math.isfinite(line[1])]
    if max(ratios, default=1) > 2:
        ax.set_xscale("log")
    ax.set_yticks(place, [line[0] for line in lines])
    ax.set(xlabel=text, ylim=(-0.6, len(lines) - 0.4))
    _quiet(ax)
    return ax


def history(result: "LearnResult", ax: Any = None) -> Any:
    """The training loss at every evaluation of the method, and the best so far."""
    from .learning import LearnResult

    found = instance(result, LearnResult, "the result").history
    train = np.array([h["train"] for h in found if h["phase"] in ("start", "learn")], dtype=float)
    train = train[np.isfinite(train)]
    if not len(train):
        raise ArgumentError("the result has no history of losses")
    ax = _axes(ax, figsize=(6.4, 3.6))
    ax.plot(np.arange(len(train)), train, ".", color=_GREY, label="evaluation")
    ax.step(np.arange(len(train)), np.minimum.accumulate(train), where="post", color=_BLUE, label="best so far")
    if train.min() > 0 and train.max() > 20 * train.min():
        ax.set_yscale("log")
    ax.set(xlabel="evaluation", ylabel="training loss")
    ax.legend(frameon=False, fontsize="small")
    _quiet(ax)
    return ax


# ---- residuals -------------------------------------------------------------------------------------------------------


def _samples(dataset: "Dataset", model: str, noise: Any, part: str, at: str) -> tuple[list[np.ndarray], list[str]]:
    from .data import Dataset

    table = instance(dataset, Dataset, "dataset").noise if noise is None else noise
    rows = [r for r in dataset.residuals(model, noise=noise, part=part, at=at) if len(r)]
    if not rows:
        raise ArgumentError(f"{model}: there are no residuals; without truth they are at=\"estimate\"")
    named = table[model].rows
    return rows, [f"{model}.{named[i] if named else i}" for i in range(rows[0].shape[1])]


def residuals(dataset: "Dataset", model: str, ax: Any = None, *, noise: "Noise | None" = None, part: str = "train",
              at: str = "truth", bins: int = 40) -> Any:
    """Histograms of the whitened residuals of a noise model, a line a row, beside the standard normal density.
    Residuals are at the truth, samples of the noise; at="estimate" where there is none."""
    rows, names = _samples(dataset, model, noise, part, at)
    every = np.concatenate(rows)
    limit = float(np.clip(np.quantile(np.abs(every), 0.999) * 1.1, 4, 12))
    ax, grid = _axes(ax, figsize=(6.4, 3.8)), np.linspace(-limit, limit, 400)
    for i, name in enumerate(names):
        ax.hist(every[:, i], bins=np.linspace(-limit, limit, count(bins, "bins", 2, 10000) + 1), density=True,
                histtype="step", linewidth=1.3, color=f"C{i}",
                label=f"{name}: sd {every[:, i].std():.3g}, beyond {100 * np.mean(np.abs(every[:, i]) > limit):.2g} %")
    ax.plot(grid, np.exp(-grid * grid / 2) / math.sqrt(2 * math.pi), color="black", linewidth=1, linestyle="--",
            label="standard normal")
    ax.set_ylim(0, 1.5 * ax.get_ylim()[1])  # room for the legend
    ax.set(xlabel=f"residual at the {at}, sigmas", ylabel="density", title=f"{model}: {len(every)} residuals")
    ax.legend(frameon=False, fontsize="small")
    _quiet(ax)
    return ax


def autocorrelation(x: np.ndarray, lags: int) -> np.ndarray:
    """Of one series at lags 0 .. lags."""
    y = x - x.mean()
    total = float(y @ y)
    return np.array([float(y[k:] @ y[:len(y) - k]) / total if total > 0 else 0.0 for k in range(lags + 1)])


def whiteness(dataset: "Dataset", model: str, ax: Any = None, *, noise: "Noise | None" = None, part: str = "train",
              at: str = "truth", lags: int = 30) -> Any:
    """Autocorrelation of the residuals of a noise model, in their order, mean over sequences, with the band in which
    that of white noise lies with 95 % probability."""
    rows, names = _samples(dataset, model, noise, part, at)
    most = count(lags, "lags", 1)
    rows = [r for r in rows if len(r) > most + 1]
    if not rows:
        raise ArgumentError(f"{model}: no sequence has more than {most + 1} residuals; choose fewer lags")
    ax, total = _axes(ax, figsize=(6.4, 3.6)), sum(len(r) for r in rows)
    for i, name in enumerate(names):
        mean: Any = sum(len(r) * autocorrelation(r[:, i], most) for r in rows) / total
        ax.plot(np.arange(1, most + 1), mean[1:], marker=".", linewidth=1, color=f"C{i}", label=name)
    band = 1.96 / math.sqrt(total)
    ax.axhspan(-band, band, color=_GREY, alpha=0.2, label="95 % of white noise")
    ax.axhline(0, color="black", linewidth=0.8)
    ax.set(xlabel="lag, measurements", ylabel="autocorrelation", title=f"{model}, at the {at}")
    ax.legend(frameon=False, fontsize="small")
    _quiet(ax)
    return ax


def nees(estimates: "Estimate | Items[Estimate]", ax: Any = None, *, probability: float = 0.95) -> Any:
    """Normalised estimation error squared of every pose, with the interval in which one of a right model lies. The mean
    per coordinate is in the legend: 1 if claimed and real errors agree."""
    from .estimate import Estimate

    items = [estimates] if isinstance(estimates, Estimate) else list(estimates)
    told = [(e, e.nees, e.degrees) for e in items
            if instance(e, Estimate, "an estimate").nees is not None and e.degrees is not None and any(e.degrees > 0)]
    if not told:
        raise ArgumentError("the estimates have no NEES: it needs truth and covariances")
    ax, side = _axes(ax, figsize=(6.4, 3.6)), (1 - real(probability, "probability", 0.01, 0.9999)) / 2
    for i, (e, square, degree) in enumerate(told):
        keep = degree > 0
        timed = np.isfinite(e.times[keep]).all()
        x = e.times[keep] if timed else np.flatnonzero(keep)
        mean = float(np.asarray(square)[keep].sum() / degree[keep].sum())
        ax.plot(x, np.asarray(square)[keep], ".", markersize=3, color=f"C{i % 10}",
                label=f"{e.name}: {mean:.3g} per coordinate")
    degrees = int(np.median(told[0][2][told[0][2] > 0]))
    low, high = (lib.ct_chi_squared_quantile(p, float(degrees)) for p in (side, 1 - side))
    ax.axhspan(low, high, color=_GREY, alpha=0.2, label=f"{100 * probability:g} % of chi-square, {degrees} degrees")
    ax.axhline(degrees, color="black", linewidth=0.8, linestyle="--")
    ax.set_yscale("log")
    ax.set_ylim(bottom=low / 30)  # poses that a prior holds are far below
    ax.set(xlabel="time, s" if timed else "pose", ylabel="NEES")
    ax.legend(frameon=False, fontsize="small")
    _quiet(ax)
    return ax


def evidence(found: "Evidence | Diagnosis", ax: Any = None) -> Any:
    """The evidence of a finding of the doctor: points and what was fitted. Of a diagnosis the first one."""
    from .diagnosis import Diagnosis, Evidence

    if isinstance(found, Diagnosis):
        if not found.evidence:
            raise ArgumentError("the diagnosis has no evidence to draw")
        found = found.evidence[0]
    instance(found, Evidence, "the evidence")
    ax = _axes(ax, figsize=(6.4, 3.8))
    ax.plot(found.x, found.y, ".", markersize=3, color=_GREY)
    ax.plot(found.line_x, found.line_y, color=_BLUE, linewidth=1.6)
    ax.set(xlabel=found.x_label, ylabel=found.y_label)
    ax.set_title("\n".join(textwrap.wrap(found.finding.text, 80)), fontsize="small")
    _quiet(ax)
    return ax
