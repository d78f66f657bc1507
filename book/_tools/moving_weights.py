"""Write the weights of a committed model as a script that the moving figure of digits reads.

    python book/_tools/moving_weights.py

Weights and biases are rounded to 255 levels of one byte: the script has 25 kB.
"""

import base64
import json
from pathlib import Path

import numpy as np

import rbmlib as rl

MODEL = "pcd_20"
TARGET = Path(__file__).resolve().parent.parent / "_ext" / "static" / "moving" / f"{MODEL}.js"


def packed(values) -> tuple[str, float]:
    """Base64 of one signed byte a number, and what a byte's unit is worth."""
    values = np.asarray(values, dtype=float)
    scale = float(f"{abs(values).max() / 127:.6g}")
    return base64.b64encode(np.rint(values / scale).astype(np.int8).tobytes()).decode(), scale


def unpacked(text: str, scale: float) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype=np.int8) * scale


def script() -> str:
    rbm = rl.load_rbm(MODEL)
    base = rl.base_rate(rl.datasets.load_mnist().train)
    found = {"n_hidden": rbm.n_hidden}
    for name, short, values in (
        ("weights", "weights", rbm.weights.ravel()),
        ("visible_bias", "visible", rbm.visible_bias),
        ("base", "base", base),
    ):
        found[name], found[f"{short}_scale"] = packed(values)
    found["hidden_bias"] = [round(float(a), 4) for a in rbm.hidden_bias]
    return f"window.movingModel = {json.dumps(found)};\n"


if __name__ == "__main__":
    TARGET.write_text(script(), encoding="utf-8")
    print(f"{TARGET.name}: {TARGET.stat().st_size / 1000:.0f} kB")
