"""Run the library's tests and the stored notebooks as on other processors.

    python book/_tools/elsewhere.py ["no AVX" ...]

NumPy, OpenBLAS and numba are told which instructions to use. A processor whose instructions this
machine lacks is skipped, and named. Exit code 1 if a test failed on one of them.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

from numpy._core._multiarray_umath import __cpu_dispatch__ as dispatched
from numpy._core._multiarray_umath import __cpu_features__ as features

ROOT = Path(__file__).resolve().parents[2]
OLD = {
    "NPY_DISABLE_CPU_FEATURES": " ".join(name for name in dispatched if features[name]),
    "OPENBLAS_CORETYPE": "Nehalem",
    "NUMBA_CPU_NAME": "generic",
    "NUMBA_CPU_FEATURES": "",
    "NUMBA_CACHE_DIR": str(ROOT / "_build" / "generic"),
}
# What this machine needs for it, the environment, and threads of each process.
PROCESSORS = {
    "no AVX": ("SSE42", OLD, 1),
    "Haswell": ("AVX2", {"OPENBLAS_CORETYPE": "Haswell"}, 2),
    "SkylakeX": ("AVX512F", {"OPENBLAS_CORETYPE": "SkylakeX"}, 1),
}
ROWS = ("library", "notebooks")


def passes(row: str, environment: dict, threads: int) -> bool:
    jobs = max(1, (os.cpu_count() or 1) // threads)
    command = ["make", "--silent", f"test_{row}", f"JOBS={jobs}", f"SHARE={threads}"]
    return subprocess.run(command, cwd=ROOT, env=os.environ | environment).returncode == 0


def main(names: list[str]) -> int:
    lines, red = [], 0
    for name in names:
        needed, environment, threads = PROCESSORS[name]
        if not features.get(needed):
            lines.append(f"{name}: skipped, this processor lacks {needed}")
            continue
        for row in ROWS:
            began = time.monotonic()
            green = passes(row, environment, threads)
            red += not green
            minutes = (time.monotonic() - began) / 60
            colour = "green" if green else "RED"
            lines.append(f"{name}, threads {threads}: {row} {colour}, {minutes:.0f} minutes")
    print("\n".join(["", *lines]))
    return int(red > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(PROCESSORS)))
