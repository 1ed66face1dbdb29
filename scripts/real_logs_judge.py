"""Judgement of noise that was learned from recorded logs. Used by scripts/real-logs; needs the standard library only.

What the default must show on unseen sequences:

    rival     on every row its mean errors, translation and rotation, are at most 1.03 times those of the rival: the
              noise of lowest mean loss among hand, closed form and likelihood
    gain      on at least four sets its loss is below that of hand-set noise by more than two standard errors
    failures  no sequence fails that does not fail with hand-set noise
    nees      between 0.5 and 2 on all sets but one, and never further from 1 than before the scale
"""
import json
import math
import os

RATIO = 1.03           # of the default's errors to the rival's
NEES = (0.5, 2.0)      # where sigmas are honest
NEES_SETS = 1          # sets that may be outside
GAIN = 2.0             # standard errors below hand-set noise
GAIN_SETS = 4          # sets with such a gain
NEES_SLACK = 0.01      # of |log NEES|, against the NEES before the scale
DRAW_RATIO = 1.15      # of errors learned without truth to those of hand-set noise
CONVERGED = ("error", "step", "gradient", "rounding")


# ---- what is kept of an evaluation and of a run ----

def measures(sequence, body):
    """Numbers of one sequence of `eval --json`; errors of one body if it is named."""
    rmse = sequence["by_name"][body]["rmse"] if body else sequence["rmse"]
    failed = sequence["stop"] not in CONVERGED or rmse["translation"] is None or bool(sequence.get("diverged"))
    return {"name": sequence["name"], "m": rmse["translation"], "rad": rmse["rotation"], "nees": sequence["nees"],
            "loss": sequence["loss"], "chi2": sequence["chi_squared_per_degree"], "failed": failed,
            "stop": sequence["stop"]}


def learned(run):
    """Sigmas, candidate and scale of a run, for the record."""
    with open(os.path.join(run, "summary.json")) as file:
        summary = json.load(file)
    keep = ("stop", "prior", "loss", "candidates", "scale", "consistency", "seconds")
    out = {k: summary[k] for k in keep if k in summary}
    out["sigmas"] = {n: [math.sqrt(v) for v in g["variance"]] for n, g in summary["noise"].items() if "variance" in g}
    out["findings"] = [f["code"] for f in summary.get("findings", [])]
    return out


def scaled(numbers, factor):
    return [scaled(n, factor) if isinstance(n, list) else n * factor for n in numbers]


def write_unscaled(run):
    """The learned noise without its common factor, as a file; None if the factor is 1. Widths of kernels follow, so
    that estimates stay the same."""
    with open(os.path.join(run, "summary.json")) as file:
        factor = (json.load(file).get("scale") or {}).get("applied") or 1
    if factor == 1:
        return None
    with open(os.path.join(run, "noise.json")) as file:
        noise = json.load(file)
    for group in noise["groups"].values():
        if not group.get("learned"):
            continue
        for key in ("variance", "covariance"):
            if key in group:
                group[key] = scaled(group[key], 1 / factor)
        group.pop("sigma", None)
        if group.get("robust", {}).get("width"):
            group["robust"]["width"] *= math.sqrt(factor)
    path = os.path.join(run, "unscaled.json")
    with open(path, "w") as file:
        json.dump(noise, file)
    return path


# ---- statistics ----

def mean(values):
    values = [v for v in values if v is not None]
    return sum(values) / len(values) if values else None


def key_of(s):
    return s.get("split", 0), s["name"]


def paired(sequences, against, key):
    other = {key_of(s): s[key] for s in against}
    pairs = [(s[key], other.get(key_of(s))) for s in sequences]
    return [(a, b) for a, b in pairs if a is not None and b is not None]


def log_ratio(sequences, against):
    """Mean over sequences of log(loss / loss of the other), its standard error, and their number."""
    ratios = [math.log(a / b) for a, b in paired(sequences, against, "loss") if a > 0 and b > 0]
    if not ratios:
        return None
    center = sum(ratios) / len(ratios)
    error = None
    if len(ratios) > 1:
        error = math.sqrt(sum((r - center) ** 2 for r in ratios) / (len(ratios) - 1) / len(ratios))
    return {"mean": center, "error": error, "count": len(ratios)}


def error_ratio(sequences, against, key):
    """Ratio of the mean errors of the sequences that both have."""
    pairs = paired(sequences, against, key)
    below = sum(b for _, b in pairs)
    return sum(a for a, _ in pairs) / below if pairs and below > 0 else None


def summarise(sequences, hand):
    return {"m": mean(s["m"] for s in sequences), "rad": mean(s["rad"] for s in sequences),
            "nees": mean(s["nees"] for s in sequences), "loss": mean(s["loss"] for s in sequences),
            "failed": sum(s["failed"] for s in sequences), "sequences": len(sequences),
            "log_ratio": log_ratio(sequences, hand)}


# ---- one row ----

def find_rival(methods):
    """The noise of lowest mean loss that the default has to match."""
    rivals = {m: methods[m]["loss"] for m in ("hand", "closed form", "likelihood") if m in methods}
    rivals = {m: loss for m, loss in rivals.items() if loss is not None}
    return min(rivals, key=rivals.get) if rivals else None


def judge_default(row):
    """Compares the default with the rival. Row's `flags` name what does not hold."""
    default, flags = row["methods"]["default"], row["flags"]
    rival = row["rival"] = find_rival(row["methods"])
    if default["sequences"] < row["methods"]["hand"]["sequences"]:
        flags.append("learning failed")
    if rival is None or not default["sequences"]:
        return
    of = {m: row["each"][m] for m in ("hand", "default", rival)}
    row["ratio"] = {key: error_ratio(of["default"], of[rival], key) for key in ("m", "rad")}
    flags += ["%s %.3f of the rival's" % ({"m": "translation", "rad": "rotation"}[key], ratio)
              for key, ratio in row["ratio"].items() if ratio is not None and ratio > RATIO]
    fine = {key_of(s) for s in of["hand"] if not s["failed"]}
    failed = [s["name"] for s in of["default"] if s["failed"] and key_of(s) in fine]
    flags += ["failed: " + ", ".join(failed)] if failed else []
    row["nees_unscaled"] = mean(s["nees"] for s in row["unscaled"])
    nees, before = default["nees"], row["nees_unscaled"]
    if nees is None or nees <= 0:
        return
    row["nees_holds"] = NEES[0] <= nees <= NEES[1]
    flags += [] if row["nees_holds"] else ["NEES %.3g" % nees]
    if before and abs(math.log(nees)) > abs(math.log(before)) + NEES_SLACK:
        flags.append("NEES %.3g before the scale, %.3g after" % (before, nees))
    gain = default["log_ratio"]
    row["gain"] = bool(gain and gain["error"] is not None and gain["mean"] < -GAIN * gain["error"])


def judge_row(set, name, results, segments):
    """results: {method: {"sequences": [..], "unscaled": [..], ..}}"""
    hand = results["hand"]["sequences"]
    row = {"set": set, "name": name, "segments": segments, "flags": [], "ratio": {}, "rival": None, "gain": False,
           "nees_holds": None, "each": {m: r["sequences"] for m, r in results.items()},
           "seconds": {m: r["seconds"] for m, r in results.items()},
           "methods": {m: summarise(r["sequences"], hand) for m, r in results.items()}}
    if "default" in results:
        row["unscaled"], row["learned"] = results["default"]["unscaled"], results["default"]["learned"]
        judge_default(row)
    return row


# ---- all rows ----

def verdict(rows):
    """Counts and what does not hold: {"holds": .., "lines": [..]}"""
    rows = [r for r in rows if "default" in r["methods"]]
    if not rows:
        return {"holds": True, "lines": []}
    sets = sorted({r["set"] for r in rows})
    gained = [s for s in sets if all(r["gain"] for r in rows if r["set"] == s)]
    some = [s for s in sets if any(r["gain"] for r in rows if r["set"] == s)]
    dishonest = [s for s in sets if any(r["nees_holds"] is False for r in rows if r["set"] == s)]
    beyond = [r for r in rows if any(v is not None and v > RATIO for v in r["ratio"].values())]
    worse = [r for r in rows if any("after" in f for f in r["flags"])]
    failed = [r for r in rows if any(f.startswith(("failed", "learning")) for f in r["flags"])]
    enough, held = min(GAIN_SETS, len(sets)), "%d of %d rows"
    checks = [
        ("errors at most %.2f of the rival's" % RATIO, held % (len(rows) - len(beyond), len(rows)), not beyond),
        ("loss below hand-set by two standard errors", "%d rows; every row of %d sets (%s), some row of %d" % (
            sum(r["gain"] for r in rows), len(gained), ", ".join(gained) or "-", len(some)), len(some) >= enough),
        ("no failures beyond hand-set", held % (len(rows) - len(failed), len(rows)), not failed),
        ("NEES in %g to %g" % NEES, "%d of %d rows; outside: %s" % (
            sum(r["nees_holds"] is True for r in rows), len(rows), ", ".join(dishonest) or "-"),
         len(dishonest) <= NEES_SETS),
        ("NEES not worse than before the scale", held % (len(rows) - len(worse), len(rows)), not worse),
    ]
    lines = ["%-44s %-5s %s" % (what, "holds" if ok else "FAILS", count) for what, count, ok in checks]
    lines += ["  %s: %s" % (r["name"], "; ".join(r["flags"])) for r in rows if r["flags"]]
    return {"holds": all(ok for _, _, ok in checks), "lines": lines,
            "checks": [{"what": w, "count": c, "holds": ok} for w, c, ok in checks]}


# ---- text ----

def number(value, form="%.4f"):
    return "-" if value is None else form % value


def gain_text(row, method):
    gain = row["methods"][method]["log_ratio"]
    if method == "hand" or not gain:
        return ""
    return "%+.3f +- %s%s" % (gain["mean"], number(gain["error"], "%.3f"), "*" if row["segments"] else "")


def ratio_text(row, method):
    if method != "default" or not row["rival"]:
        return ""
    return "%s / %s of %s" % (*[number(row["ratio"].get(key), "%.3f") for key in ("m", "rad")], row["rival"])


def table_head():
    return "%-25s %-12s %8s %8s %8s %2s  %-21s %s" % (
        "set", "noise", "m/coord", "rad", "nees", "f", "log ratio of the loss", "errors over the rival's")


def table_lines(row, methods):
    lines = []
    for m in methods:
        v = row["methods"][m]
        lines.append(("%-25s %-12s %8s %8s %8s %2d  %-21s %s" % (
            row["name"] if m == "hand" else "", m, number(v["m"]), number(v["rad"]), number(v["nees"], "%.3g"),
            v["failed"], gain_text(row, m), ratio_text(row, m))).rstrip())
    return "\n".join(lines)


def markdown(rows, methods):
    lines = ["| set | noise | m/coord | rad | NEES | failed | log ratio of the loss | errors over the rival's |",
             "|---|---|---:|---:|---:|---:|---|---|"]
    for row in rows:
        for m in methods:
            v = row["methods"][m]
            cells = [row["name"] if m == "hand" else "", m, number(v["m"]), number(v["rad"]), number(v["nees"], "%.3g"),
                     "%d of %d" % (v["failed"], v["sequences"]), gain_text(row, m).replace("+-", "±"),
                     ratio_text(row, m)]
            lines.append("| %s |" % " | ".join(cells))
    return "\n".join(lines) + "\n"


# ---- learning without truth ----

def judge_draws(set, name, hand, drawn):
    draws = []
    for sequences in drawn:
        complete = len(sequences) == len(hand)
        ratio = {key: error_ratio(sequences, hand, key) for key in ("m", "rad")}
        holds = complete and all(v is None or v <= DRAW_RATIO for v in ratio.values())
        draws.append({"ratio": ratio, "nees": mean(s["nees"] for s in sequences), "complete": complete, "holds": holds})
    return {"set": set, "name": name, "hand": summarise(hand, hand), "draws": draws}


def draws_head():
    return "%-25s %-10s %10s %10s %8s" % ("set", "start", "m / hand", "rad / hand", "nees")


def draws_lines(row):
    lines = []
    for d, draw in enumerate(row["draws"]):
        lines.append("%-25s %-10s %10s %10s %8s%s" % (
            row["name"] if d == 0 else "", "draw %d" % (d + 1), number(draw["ratio"]["m"], "%.3f"),
            number(draw["ratio"]["rad"], "%.3f"), number(draw["nees"], "%.3g"), "" if draw["holds"] else "  FAILS"))
    return "\n".join(lines)


def draws_verdict(rows):
    draws = [d for r in rows for d in r["draws"]]
    held = sum(d["holds"] for d in draws)
    text = "errors within %.0f %% of hand-set noise, without truth: %d of %d draws" % (
        100 * (DRAW_RATIO - 1), held, len(draws))
    return {"holds": held == len(draws), "lines": [text]}
