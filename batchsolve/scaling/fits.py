"""Curves of speed-up over the number of workers, fitted by least squares.

Amdahl's law has a serial share s: S(P) = 1 / (s + (1 - s) / P) (G. M. Amdahl, AFIPS 1967). The
Universal Scalability Law has contention α and coherency β: S(P) = P / (1 + α (P - 1) + β P (P - 1))
(N. J. Gunther, *Guerrilla Capacity Planning*, 2007). With β = 0 it is Amdahl's law with s = α.

A curve needs one more measurement than it has parameters; otherwise it would go through all of
them, however wrong. One worker does not count, because its speed-up is 1 by definition.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
LAWS = {  # law -> parameter -> its upper bound
    "Amdahl": {"serial share": 1.0},
    "Universal Scalability": {"contention": 1.0, "coherency": np.inf},
}
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Fit:
    """A fitted curve.

    Attributes
    ----------
    law : str
    parameters : dict of str to float
    intervals : dict of str to (float, float)
        Confidence intervals of about 95 %.
    error : float
        Root mean square of the residuals of the speed-up.
    """

    law: str
    parameters: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    error: float

    def speedup(self, workers: npt.ArrayLike) -> Floats:
        """Return the speed-up of the curve at these numbers of workers."""
        return _curve(np.array(list(self.parameters.values())), np.asarray(workers, np.float64))


def available() -> bool:
    """Return True if scipy is installed, which fits the curves."""
    return find_spec("scipy") is not None


def missing(law: str, workers: npt.ArrayLike) -> int:
    """Count the numbers of workers still to be measured before a law can be fitted.

    Examples
    --------
    >>> missing("Amdahl", [1, 2]), missing("Universal Scalability", [1, 2, 4, 8])
    (1, 0)
    """
    beyond_one = np.unique([p for p in np.asarray(workers) if p > 1]).size
    return max(0, len(LAWS[law]) + 1 - beyond_one)


def fit(law: str, workers: npt.ArrayLike, speedup: npt.ArrayLike) -> Fit | None:
    """Fit a law to the speed-up at some numbers of workers; return None if there are too few.

    Examples
    --------
    >>> found = fit("Amdahl", [1, 2, 4, 8], [1, 1 / 0.55, 1 / 0.325, 1 / 0.2125])
    >>> round(found.parameters["serial share"], 6)
    0.1
    """
    if missing(law, workers):
        return None
    from scipy.optimize import least_squares
    from scipy.stats import t

    p, s = np.asarray(workers, np.float64), np.asarray(speedup, np.float64)
    p, s = p[p > 1], s[p > 1]
    names, most = list(LAWS[law]), np.array(list(LAWS[law].values()))
    terms = _terms(len(names), p)
    # P / S - 1 is linear in the parameters: linear least squares give the starting point
    start = np.clip(np.linalg.lstsq(terms, p / s - 1, rcond=None)[0], 0.0, most)

    def residuals(parameters: Floats) -> Floats:
        return _curve(parameters, p) - s

    def slopes(parameters: Floats) -> Floats:
        return -p[:, None] * terms / (1 + terms @ parameters)[:, None] ** 2

    tolerance = {"ftol": 1e-15, "xtol": 1e-15, "gtol": 1e-15}
    best = least_squares(residuals, start, slopes, bounds=(0.0, most), x_scale="jac", **tolerance)
    squares, free = 2 * best.cost, p.size - len(names)
    spread = np.sqrt(np.diag(np.linalg.pinv(best.jac.T @ best.jac)) * squares / free)
    half = t.ppf((1 + CONFIDENCE) / 2, free) * spread
    low, high = np.clip(best.x - half, 0.0, most), np.clip(best.x + half, 0.0, most)
    return Fit(
        law,
        dict(zip(names, best.x.tolist(), strict=True)),
        dict(zip(names, zip(low.tolist(), high.tolist(), strict=True), strict=True)),
        float(np.sqrt(squares / p.size)),
    )


def _curve(parameters: Floats, workers: Floats) -> Floats:
    return workers / (1 + _terms(parameters.size, workers) @ parameters)


def _terms(n: int, workers: Floats) -> Floats:
    return np.stack([workers - 1, workers * (workers - 1)][:n], axis=-1)
