"""Builds the wheel with the project's own CMake (PEP 517). It needs nothing but Python's standard library."""
import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def _version():
    return re.search(r"project\(covtune VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def _tag():
    return "py3-none-" + re.sub(r"[-.]", "_", sysconfig.get_platform())


def _metadata():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return "\n".join([
        "Metadata-Version: 2.1", "Name: covtune", f"Version: {_version()}",
        "Summary: Learns the noise covariances of a state estimator from logs", "License: BSD-3-Clause",
        "Requires-Python: >=3.9", "Requires-Dist: numpy", "Description-Content-Type: text/markdown", "", readme])


def _build():
    """The package's folder. COVTUNE_BUILD names a build folder that exists already."""
    given = os.environ.get("COVTUNE_BUILD")
    folder = Path(given) if given else ROOT / "build" / "wheel"
    if not given:
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        subprocess.run(["cmake", "-S", str(ROOT), "-B", str(folder), *generator, "-DCMAKE_BUILD_TYPE=Release",
                        "-DCOVTUNE_TESTS=OFF"], check=True, stdout=sys.stderr)
    subprocess.run(["cmake", "--build", str(folder), "--target", "python_package", "--parallel"], check=True,
                   stdout=sys.stderr)
    return folder / "python" / "covtune"


def _info():
    return f"covtune-{_version()}.dist-info"


def _wheel_file():
    return f"Wheel-Version: 1.0\nGenerator: covtune\nRoot-Is-Purelib: false\nTag: {_tag()}\n"


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    folder = Path(metadata_directory, _info())
    folder.mkdir()
    (folder / "METADATA").write_text(_metadata(), encoding="utf-8")
    (folder / "WHEEL").write_text(_wheel_file())
    return folder.name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    package, name = _build(), f"covtune-{_version()}-{_tag()}.whl"
    files = {f"covtune/{p.name}": p.read_bytes() for p in sorted(package.iterdir()) if p.is_file()}
    files[f"{_info()}/METADATA"] = _metadata().encode()
    files[f"{_info()}/WHEEL"] = _wheel_file().encode()
    if (ROOT / "LICENSE").exists():
        files[f"{_info()}/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    record = []
    with zipfile.ZipFile(Path(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as out:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0))
            entry.external_attr = (0o755 if path.endswith(".so") else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            out.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(data)}")
        record.append(f"{_info()}/RECORD,,")
        out.writestr(f"{_info()}/RECORD", "\n".join(record) + "\n")
    return name


def build_sdist(sdist_directory, config_settings=None):
    raise SystemExit("covtune is built from its repository; there is no source distribution")
