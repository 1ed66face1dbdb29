"""The package as users install it: in clean virtual environments with the system's NumPy, without a network.

    python3 install.py [--whole]

`pip install .` of the repository, the tutorial's cells run there; a wheel that is installed elsewhere finds its library;
uninstalling leaves nothing. COVTUNE_BUILD names a build folder that is used; --whole builds from scratch in its place, as
pip does for a user.
"""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def without_paths():
    """The environment without what would show a covtune that is not installed."""
    return {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "COVTUNE_LIBRARY")}


def run(*words, **options):
    environment = without_paths()
    environment.update(PIP_NO_INDEX="1", PIP_DISABLE_PIP_VERSION_CHECK="1", MPLBACKEND="Agg",
                       **options.pop("more", {}))
    out = subprocess.run([str(w) for w in words], capture_output=True, text=True, env=environment, **options)
    if out.returncode:
        raise SystemExit(f"{' '.join(map(str, words))}: exit {out.returncode}\n{out.stdout}\n{out.stderr}")
    return out.stdout


def environment(folder, name):
    """The interpreter of a new virtual environment that sees the system's packages."""
    run(sys.executable, "-m", "venv", "--system-site-packages", folder / name)
    return folder / name / "bin" / "python3"


def files(python):
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('platlib'))").strip())
    return {str(p.relative_to(site)) for p in site.rglob("*")} if site.exists() else set()


CELLS = """
import sys, covtune
sys.path.insert(0, {tests!r})
import test_documents
case = test_documents.Documents()
print(case.run_cells(test_documents.ROOT / "docs" / "python.md"), covtune.__file__, covtune.__version__)
"""


def install(python, what, folder, more):
    before = files(python)
    run(python, "-m", "pip", "install", what, cwd=folder, more=more)
    cells, place, version = run(python, "-c", CELLS.format(tests=str(ROOT / "python" / "tests")), cwd=folder).split()
    assert Path(place).is_relative_to(python.parent.parent), place
    where = run(python, "-c", "import covtune._library as l; print(l.lib._name)", cwd=folder).strip()
    assert Path(where).is_relative_to(python.parent.parent), where
    print(f"{what}: version {version}, {cells} cells ran, library {Path(where).name} of the environment")
    run(python, "-m", "pip", "uninstall", "-y", "covtune")
    left = sorted(files(python) - before)
    assert not left, f"uninstalling leaves {left[:5]}"
    failed = subprocess.run([str(python), "-c", "import covtune"], capture_output=True, cwd=folder,
                            env=without_paths()).returncode
    assert failed, "covtune is still there"
    print("uninstalled: nothing is left")


def main():
    whole = "--whole" in sys.argv
    more = {} if whole else {"COVTUNE_BUILD": os.environ["COVTUNE_BUILD"]}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if whole:
            os.environ.pop("COVTUNE_BUILD", None)
        install(environment(folder, "first"), str(ROOT), folder, more)
        made = run(sys.executable, "-c", "import sys; sys.path.insert(0, sys.argv[1]); import build_backend as b; "
                   "print(b.build_wheel(sys.argv[2]))", ROOT / "python", folder, more=more).split()[-1]
        elsewhere = folder / "elsewhere"
        elsewhere.mkdir()
        shutil.move(folder / made, elsewhere / made)
        install(environment(folder, "second"), str(elsewhere / made), elsewhere, {})


if __name__ == "__main__":
    main()
