"""Solutions that owe nothing to Concord: x' = f(t, x, d) with discrete values d that events change.

Two one-step methods of high order (extrapolation of the midpoint rule, order 16; Radau IIA
collocation, order 9, for stiff models), steps chosen near rounding, events found by section. The
solution keeps its steps' begins; a value between them is one step more from there, so that values
are as good anywhere as at the steps' ends. States are columns: many instants are done at once.
"""
import pickle

import numpy as np
from collocation import radau

_STAGES = 8
_COUNTS = 2 * np.arange(1, _STAGES + 1)
_C, _A = radau(5)
_COLUMNS = 1000  # done at once


def extrapolated(f, t, x, h):
    """x(t + h) by Gragg's midpoint rule in 2 to 16 parts, extrapolated (Hairer, Norsett and Wanner
    1993, II.9), and the difference of the last two orders."""
    table = []
    first = f(t, x)
    for j, count in enumerate(_COUNTS):
        s = h / count
        before, now = x, x + s * first
        for i in range(1, count):
            before, now = now, before + 2 * s * f(t + i * s, now)
        row = [now]
        for k in range(1, j + 1):
            ratio = (count / _COUNTS[j - k])**2
            row.append(row[-1] + (row[-1] - table[-1][k - 1]) / (ratio - 1))
        table.append(row)
    return table[-1][-1], np.abs(table[-1][-1] - table[-1][-2])


def _jacobians(f, t, x):
    """df/dx in every column by complex steps: (m, n, n)."""
    n, m = x.shape
    points = np.repeat(x.astype(complex), n, axis=1) + 1e-40j * np.tile(np.eye(n), (1, m))
    return (f(np.repeat(t, n), points).imag / 1e-40).reshape(n, m, n).transpose(1, 0, 2)


def collocated(f, t, x, h):
    """x(t + h) by Radau IIA of five stages; NaN where Newton's iteration finds nothing."""
    (n, m), s = x.shape, len(_C)
    times = (t[:, None] + h[:, None] * _C).ravel()
    stages = np.repeat(x[:, :, None], s, axis=2)  # n, m, s
    best = np.inf
    for _ in range(50):
        flat = stages.reshape(n, m * s)
        slopes = f(times, flat).reshape(n, m, s)
        rest = stages - x[:, :, None] - h[:, None] * (slopes @ _A.T)
        jacobians = _jacobians(f, times, flat).reshape(m, s, n, n)
        big = -np.einsum("m,ij,mjkl->mikjl", h, _A, jacobians).reshape(m, s * n, s * n)
        big[:, range(s * n), range(s * n)] += 1
        change = np.linalg.solve(big, rest.transpose(1, 2, 0).reshape(m, s * n, 1))
        change = change.reshape(m, s, n).transpose(2, 0, 1)
        stages = stages - change
        size = np.abs(stages).max(axis=2, keepdims=True) + 1e-300
        now = np.max(np.abs(change) / size)
        if not np.isfinite(now):
            break
        if now < 1e-15 or (now < 1e-11 and now > 0.3 * best):
            return stages[:, :, -1]
        best = min(best, now)
    return np.full_like(x, np.nan)


def _doubled(f, t, x, h):
    """Two collocated steps of half the size, and how far one of the whole is from them."""
    middle = collocated(f, t, x, h / 2)
    end = collocated(f, t + h / 2, middle, h / 2)
    return end, np.abs(end - collocated(f, t, x, h))


class Piece:
    """What lies between two events: the begins of its steps, and its discrete values."""

    def __init__(self, begin, x, d):
        self.times, self.states, self.d, self.end = [begin], [x], d, begin


class Solution:
    """Outputs g(t, x, d), in the order of `names`, at any instant."""

    def __init__(self, names, pieces, f, g, stiff):
        self.names, self.pieces, self._f, self._g, self._stiff = list(names), pieces, f, g, stiff
        self.instants = np.array([piece.times[0] for piece in pieces[1:]])

    def at(self, times, left=False):
        """(m, n_out); at an event's instant its right limits, or the left ones."""
        times = np.asarray(times, float)
        which = np.searchsorted(self.instants, times, "left" if left else "right")
        result = np.empty((len(times), len(self.names)))
        for number in np.unique(which):
            rows = np.flatnonzero(which == number)
            for some in np.array_split(rows, len(rows) // _COLUMNS + 1):
                result[some] = self._inside(self.pieces[number], times[some])
        return result

    def _inside(self, piece, times):
        index = np.searchsorted(piece.times, times, "right") - 1
        index = np.maximum(index, 0)
        t = np.array(piece.times)[index]
        x = np.array(piece.states).T[:, index]

        def f(s, y):
            return self._f(s, y, piece.d)

        step = collocated if self._stiff else (lambda *a: extrapolated(*a)[0])
        x = np.where(times > t, step(f, t, x, times - t), x) if len(x) else x
        with np.errstate(over="ignore", under="ignore"):
            rows = self._g(times, x, piece.d)
        return np.array([np.broadcast_to(row, times.shape) for row in rows]).T

    def grid(self, count=2001):
        """Instants at which the solution is looked at: evenly, and where the reference's own steps
        begin, which lie closely where something happens."""
        own = np.concatenate([piece.times for piece in self.pieces])
        end = self.pieces[-1].end
        own = own[::max(1, len(own) // 20000)]
        return np.unique(np.concatenate([np.linspace(self.pieces[0].times[0], end, count), own]))


class Hybrid:
    """A model of states and discrete values.

    f(t, x, d), g(t, x, d): rows of arrays over columns of x; `guards`: (condition, action), where
    the condition is a function of t, x, d, true where positive, and action(t, x, d) gives the new x
    and d when it becomes true; `ticks`: (times, action); `largest`: step, or a function of t.
    """

    def __init__(self, f, g, x0, stop, names, d0=(), guards=(), ticks=(), stiff=False, start=0.0,
                 tolerance=1e-13, largest=np.inf, floor=None):
        self.rows = f
        self.g, self.x0, self.d0, self.names = g, np.array(x0, float), tuple(d0), names
        self.start, self.stop, self.guards = start, stop, guards
        self.ticks = sorted(((float(t), a) for ts, a in ticks for t in ts if t <= stop),
                            key=lambda tick: tick[0])
        self.stiff, self.tolerance, self.largest = stiff, tolerance, largest
        # Errors count relative to what a state is, but for this share of what it has been.
        self.floor = (1e-9 if stiff else 1.0) if floor is None else floor
        self.size = np.abs(self.x0)

    def f(self, t, x, d):
        with np.errstate(over="ignore", under="ignore"):
            rows = self.rows(t, x, d)
        kind = np.result_type(x, float)
        return np.array([np.broadcast_to(row, x.shape[1:]) for row in rows], kind).reshape(x.shape)

    def _truths(self, t, x, d):
        """Of every guard, at columns: (guards, m)."""
        return np.array([np.broadcast_to(g(t, x, d), t.shape) > 0 for g, _ in self.guards])

    def _step(self, d):
        def f(t, x):
            return self.f(t, x, d)
        method = _doubled if self.stiff else extrapolated
        return lambda t, x, h: method(f, np.atleast_1d(t), x, np.atleast_1d(h))

    def _many(self, d, t, x, sizes):
        """States after steps of different sizes from one instant."""
        def f(s, y):
            return self.f(s, y, d)
        columns = np.repeat(x[:, None], len(sizes), axis=1)
        t = np.full(len(sizes), t)
        if not len(x):
            return columns
        return collocated(f, t, columns, sizes) if self.stiff else \
            extrapolated(f, t, columns, sizes)[0]

    def solve(self, known=None):
        """The solution; `known`: a file that keeps its steps for the next time."""
        if known and known.exists():
            pieces = pickle.loads(known.read_bytes())
        else:
            pieces = self._pieces()
            if known:
                known.parent.mkdir(parents=True, exist_ok=True)
                known.write_bytes(pickle.dumps(pieces))
        return Solution(self.names, pieces, self.f, self.g, self.stiff)

    def _pieces(self):
        """A first pass tells roughly how large states become: what is nothing beside that needs no
        digits."""
        tolerance, self.tolerance = self.tolerance, 1e-4
        self.eventual = 0 * self.size
        self._pass()
        self.eventual, self.tolerance = 1e-10 * self.size, tolerance
        self.size = np.abs(self.x0)
        return self._pass()

    def _pass(self):
        t, x, d = self.start, self.x0, self.d0
        pieces, h = [Piece(t, x, d)], (self.stop - self.start) * 1e-3
        ticks = list(self.ticks)
        if ticks and ticks[0][0] <= self.start:
            x, d = self._happen(t, x, d, [a for s, a in ticks if s <= t])
            ticks = [tick for tick in ticks if tick[0] > t]
            pieces = [Piece(t, x, d)]
        truth = self._behind(t, x, d)
        while t < self.stop:
            end = ticks[0][0] if ticks else self.stop
            t, x, h, fired = self._to_event(pieces[-1], t, x, h, end, truth)
            actions = [self.guards[i][1] for i in fired]
            if ticks and t >= ticks[0][0]:
                actions += [a for s, a in ticks if s <= t]
                ticks = [tick for tick in ticks if tick[0] > t]
            pieces[-1].end = t
            if actions:
                x, d = self._happen(t, x, pieces[-1].d, actions, truth, fired)
                pieces.append(Piece(t, x, d))
                truth = self._behind(t, x, d)
                h = min(h, 1e-2 * (self.stop - self.start))
        return pieces

    def _behind(self, t, x, d):
        """What holds right behind t."""
        if not self.guards:
            return np.zeros(0, bool)
        little = 1e-9 * (self.stop - self.start)
        ahead = self._many(d, t, x, np.array([little]))
        return self._truths(np.array([t + little]), ahead, d)[:, 0]

    def _happen(self, t, x, d, actions, truth=(), fired=()):
        """Actions, and what follows from them at the same instant."""
        done = set(fired)
        for _ in range(100):
            new_x, new_d = np.array(x, float), tuple(d)
            for action in actions:
                after_x, after_d = action(t, x, d)
                after_x = np.array(after_x, float)
                new_x = np.where(after_x != x, after_x, new_x)
                new_d = tuple(b if b != a else n for a, b, n in zip(d, after_d, new_d))
            x, d = new_x, new_d
            if not self.guards or not len(truth):
                return x, d
            now = self._truths(np.array([t]), x[:, None], d)[:, 0]
            follow = [i for i in np.flatnonzero(now & ~np.asarray(truth)) if i not in done]
            if not follow:
                return x, d
            done.update(follow)
            actions = [self.guards[i][1] for i in follow]
        raise RuntimeError("events without end")

    def _to_event(self, piece, t, x, h, end, truth):
        """Steps up to the next event or `end`: (t, x, h, guards that fire); updates `truth`."""
        step = self._step(piece.d)
        while t < end:
            h = min(h, self.largest(t) if callable(self.largest) else self.largest)
            last = t + 1.01 * h >= end
            trial = end - t if last else h
            with np.errstate(all="ignore"):
                after, error = step(t, x[:, None], trial)
            after, error = after[:, 0], error[:, 0]
            size = np.maximum(np.maximum(self.floor * self.size, np.abs(after)),
                              np.maximum(self.eventual, 1e-300))
            worst = np.max(error / size, initial=0.0) / self.tolerance
            if not np.isfinite(worst) or worst > 1:
                h = trial * (0.2 if not np.isfinite(worst) else max(0.2, 0.8 * worst**(-1 / 10)))
                if h < 1e-15 * max(abs(t), self.stop - self.start):
                    raise RuntimeError(f"no step is small enough at t = {t}")
                continue
            if self.guards:
                found, fired = self._first(piece.d, t, x, trial, truth)
                if fired:
                    x = self._many(piece.d, t, x, np.array([found]))[:, 0]
                    self.size = np.maximum(self.size, np.abs(x))
                    return t + found, x, h, fired
            self.size = np.maximum(self.size, np.abs(after))
            t, x = (end if last else t + trial), after
            piece.times.append(t)
            piece.states.append(x)
            growth = min(3.0, 0.8 * max(worst, 1e-10)**(-1 / 10))
            h = trial * growth if not last or growth < 1 else max(h, trial)
        return t, x, h, []

    def _first(self, d, t, x, h, truth):
        """The step's size up to the first guard that becomes true, and all that do so there."""
        shares = np.linspace(0, 1, 17)[1:] * h
        rows = self._truths(t + shares, self._many(d, t, x, shares), d)
        for column in range(len(shares)):
            fired = np.flatnonzero(rows[:, column] & ~truth)
            if len(fired):
                low, high = (shares[column - 1] if column else 0.0), shares[column]
                return self._section(d, t, x, low, high, fired)
            truth[:] = rows[:, column]
        return h, []

    def _section(self, d, t, x, low, high, fired):
        for _ in range(40):
            if high - low <= 4e-16 * max(abs(t), 1e-3 * high):
                break
            inner = np.linspace(low, high, 10)[1:]
            rows = self._truths(t + inner, self._many(d, t, x, inner), d)[fired]
            first = np.flatnonzero(rows.any(axis=0))[0]
            low, high = (inner[first - 1] if first else low), inner[first]
        behind = np.array([high, high + 1e-11 * (self.stop - self.start)])
        rows = self._truths(t + behind, self._many(d, t, x, behind), d)[fired]
        return high, [int(i) for i, hit in zip(fired, rows.any(axis=1)) if hit]


class ClosedForm:
    """Outputs as functions of time; `instants`: where they jump, `right` there, `left` before."""

    def __init__(self, names, stop, values, left=None, instants=(), start=0.0, at=()):
        """`values`(t) gives the outputs' rows, right limits at the instants; `left` the left ones;
        `at`: instants to look at beside an even grid."""
        self.names, self.start, self.stop, self.also = list(names), start, stop, at
        self._right, self._left = values, left or values
        self.instants = np.array(sorted(instants), float)

    def solve(self, known=None):
        del known
        return self

    def at(self, times, left=False):
        times = np.asarray(times, float)
        rows = (self._left if left else self._right)(times)
        return np.array([np.broadcast_to(row, times.shape) for row in rows]).T

    def grid(self, count=2001):
        return np.unique(np.concatenate([np.linspace(self.start, self.stop, count), self.also,
                                         self.instants]))


class Delayed:
    """x' = f(t, x, y(t - delay)), y a function of x, and y(0) before the start, by the method of
    steps: in the k-th interval of the delay's length, all before are integrated beside it."""

    def __init__(self, f, fed, g, x0, stop, names, delay):
        """`fed`(x): what is delayed; g(t, x, z): outputs, where z is what arrives."""
        self.names, self.stop, self.delay = list(names), stop, delay
        self._f, self._fed, self._g, self._n = f, fed, g, len(x0)
        self.first = np.atleast_1d(np.array([np.squeeze(v) for v in
                                             fed(np.array(x0, float)[:, None])]))
        self._solutions, self._starts = [], [np.array(x0, float)]
        self.instants = np.zeros(0)

    def solve(self, known=None):
        del known
        for k in range(int(np.ceil(self.stop / self.delay - 1e-12))):
            # Each interval's states begin with what the one before ends with.
            solution = Hybrid(self._rows(k), lambda t, x, d: x, np.concatenate(self._starts),
                              self.delay, range((k + 1) * self._n)).solve()
            self._solutions.append(solution)
            self._starts.append(solution.pieces[-1].states[-1][k * self._n:])
        return self

    def _rows(self, k):
        n = self._n

        def rows(s, x, _):
            result, late = [], [np.broadcast_to(v, s.shape) for v in self.first]
            for j in range(k + 1):
                own = x[j * n:(j + 1) * n]
                result += list(self._f(s + j * self.delay, own, late))
                late = self._fed(own)
            return result
        return rows

    def at(self, times, left=False):
        times = np.asarray(times, float)
        which = np.clip((times / self.delay).astype(int), 0, len(self._solutions) - 1)
        result = np.empty((len(times), len(self.names)))
        n = self._n
        for k in np.unique(which):
            rows = np.flatnonzero(which == k)
            x = self._solutions[k].at(times[rows] - k * self.delay).T
            late = self._fed(x[(k - 1) * n:k * n]) if k else \
                [np.broadcast_to(v, rows.shape) for v in self.first]
            values = self._g(times[rows], x[k * n:], late)
            result[rows] = np.array([np.broadcast_to(v, rows.shape) for v in values]).T
        return result

    def grid(self, count=2001):
        return np.linspace(0, self.stop, count)
