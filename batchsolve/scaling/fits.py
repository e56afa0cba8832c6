"""Curves of speed-up over the number of workers, fitted by least squares.

Amdahl's law has a serial share s: S(P) = 1 / (s + (1 - s) / P) (G. M. Amdahl, AFIPS 1967). The
Universal Scalability Law has contention α and coherency β: S(P) = P / (1 + α (P - 1) + β P (P - 1))
(N. J. Gunther, *Guerrilla Capacity Planning*, 2007). With β = 0 it is Amdahl's law with s = α.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
STEPS = 60  # more than Gauss-Newton takes from a start so near


@dataclass(frozen=True)
class Fit:
    """A fitted curve.

    Attributes
    ----------
    law : str
    parameters : dict of str to float
    error : float
        Root mean square of the residuals of the speed-up.
    """

    law: str
    parameters: dict[str, float]
    error: float

    def speedup(self, workers: npt.ArrayLike) -> Floats:
        """Return the speed-up that the curve has at these numbers of workers."""
        return _curve(np.array(list(self.parameters.values())), np.asarray(workers, np.float64))


def fit_amdahl(workers: npt.ArrayLike, speedup: npt.ArrayLike) -> Fit | None:
    """Fit Amdahl's law; return None without a measurement of two workers or more.

    Examples
    --------
    >>> fit = fit_amdahl([1, 2, 4, 8], [1, 1 / 0.55, 1 / 0.325, 1 / 0.2125])
    >>> round(fit.parameters["serial share"], 6)
    0.1
    """
    return _fit("Amdahl", ("serial share",), workers, speedup)


def fit_universal(workers: npt.ArrayLike, speedup: npt.ArrayLike) -> Fit | None:
    """Fit the Universal Scalability Law; return None with fewer than two numbers beyond one worker.

    Examples
    --------
    >>> workers = np.array([1, 2, 4, 8, 16])
    >>> measured = workers / (1 + 0.05 * (workers - 1) + 0.002 * workers * (workers - 1))
    >>> fit = fit_universal(workers, measured)
    >>> {name: round(value, 6) for name, value in fit.parameters.items()}
    {'contention': 0.05, 'coherency': 0.002}
    """
    return _fit("Universal Scalability", ("contention", "coherency"), workers, speedup)


def _curve(parameters: Floats, workers: Floats) -> Floats:
    return workers / (1 + _terms(parameters.size, workers) @ parameters)


def _terms(n: int, workers: Floats) -> Floats:
    return np.stack([workers - 1, workers * (workers - 1)][:n], axis=-1)


def _fit(
    law: str, names: tuple[str, ...], workers: npt.ArrayLike, speedup: npt.ArrayLike
) -> Fit | None:
    p, s = np.asarray(workers, np.float64), np.asarray(speedup, np.float64)
    if np.unique(p[p > 1]).size < len(names):
        return None
    terms = _terms(len(names), p)
    # P / S - 1 is linear in the parameters: that is where to begin
    start = np.maximum(np.linalg.lstsq(terms, p / s - 1, rcond=None)[0], 0.0)

    def residuals(parameters: Floats) -> Floats:
        return _curve(parameters, p) - s

    def slopes(parameters: Floats) -> Floats:
        return -p[:, None] * terms / (1 + terms @ parameters)[:, None] ** 2

    best = _gauss_newton(start, residuals, slopes)
    error = float(np.sqrt(np.mean(residuals(best) ** 2)))
    return Fit(law, dict(zip(names, best.tolist(), strict=True)), error)


def _gauss_newton(
    start: Floats,
    residuals: Callable[[Floats], Floats],
    slopes: Callable[[Floats], Floats],
) -> Floats:
    """Reduce the sum of squares by steps that are halved until they help; none below 0."""
    best = start
    for _ in range(STEPS):
        step = np.linalg.lstsq(slopes(best), -residuals(best), rcond=None)[0]
        for halving in range(20):
            tried = np.maximum(best + step / 2**halving, 0.0)
            if np.sum(residuals(tried) ** 2) < np.sum(residuals(best) ** 2):
                best = tried
                break
        else:
            return best
    return best
