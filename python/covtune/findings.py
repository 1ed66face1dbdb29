"""Facts that results report beside their numbers."""
from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import Any, Sequence

from . import _tables as t
from ._arrays import html_table
from ._library import lib


@dataclass(frozen=True)
class Finding:
    """A fact that a result reports beside its numbers. Programs read `code` and `values`, people `text`."""

    code: str
    severity: str
    """"info", "warning" or "error"."""
    text: str
    values: dict[str, float] = field(default_factory=dict)
    topic: str = ""
    """What it concerns: "data", "sensors", "validation", ..."""
    subjects: tuple[str, ...] = ()
    """Names of what it is about: noise models, parameters, sequences."""

    def to_dict(self) -> dict[str, Any]:
        """Texts and numbers, for JSON."""
        return {"code": self.code, "severity": self.severity, "topic": self.topic, "text": self.text,
                "values": dict(self.values), "subjects": list(self.subjects)}

    def __str__(self) -> str:
        return self.text


def finding_of(f: t.ct_finding) -> Finding:
    """From the library's own."""
    info = lib.ct_finding_get_info(f.code).contents
    size = lib.ct_finding_text(ctypes.byref(f), None, 0) + 1
    buffer = ctypes.create_string_buffer(size)
    lib.ct_finding_text(ctypes.byref(f), buffer, size)
    values: dict[str, float] = {}
    for i in range(t.CT_FINDING_VALUES_MAX):
        if not info.value[i]:
            break
        values[info.value[i].decode()] = f.value[i]
    subjects = tuple((f.subject[i].name or b"").decode("utf-8", "replace") for i in range(f.subjects))
    return Finding(info.name.decode(), lib.ct_severity_name(info.severity).decode(),
                   buffer.value.decode("utf-8", "replace"), values, lib.ct_topic_name(info.topic).decode(), subjects)


def findings_of(found: t.ct_findings) -> list[Finding]:
    """All of a list of the library's own."""
    return [finding_of(found.item[i]) for i in range(found.count)]


def findings_html(findings: Sequence[Finding]) -> str:
    """For notebooks; empty without findings."""
    return html_table(("", "finding"), [(f.severity, f.text) for f in findings]) if findings else ""
