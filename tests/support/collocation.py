"""Radau IIA collocation of any order for x' = f(t, x, z), 0 = r(t, x, z) of index 1 to 3.

Five stages: order 9, stiffly accurate, so that x and z satisfy r = 0 at every end of a step (Hairer
and Wanner 1996, IV.5 and VI.1). Owes nothing to Concord: every loop and constraint is solved with
the states, in one Newton iteration with exact Jacobians, down to rounding.
"""
import numpy as np

from equation_models import Equations


def radau(stages):
    """Nodes c and matrix a of Radau IIA: zeros of d^(s-1)/dx^(s-1) [x^(s-1) (x - 1)^s]."""
    polynomial = np.polynomial.Polynomial.fromroots([0.0] * (stages - 1) + [1.0] * stages)
    derivative = polynomial.deriv(stages - 1)
    c = np.sort(derivative.roots().real)
    for _ in range(5):
        c = c - derivative(c) / derivative.deriv()(c)
    c[-1] = 1.0
    powers = np.vander(c, stages, increasing=True)
    orders = np.arange(1, stages + 1)
    a = (c[:, None]**orders / orders) @ np.linalg.inv(powers)
    return c, a


def determines(block):
    """Whether r's derivatives by z, in whatever units, determine z."""
    with np.errstate(all="ignore"):
        rows = block / np.abs(block).max(axis=1, keepdims=True)
        scaled = rows / np.abs(rows).max(axis=0)
    return np.isfinite(scaled).all() and np.linalg.matrix_rank(scaled) == len(block)


class NoSolution(RuntimeError):
    """Newton's iteration finds no root: the model has no solution there, or it needs shorter steps."""


class Collocation:
    def __init__(self, model, stages=5):
        self.equations = Equations(model)
        self.model = model
        self.c, self.a = radau(stages)
        powers = np.vander(self.c, stages, increasing=True)
        self.to_coefficients = np.linalg.inv(powers)

    def _newton(self, t, x0, h, x, z):
        """Stage values for a step of size h from x0, from the guess x, z."""
        n, s = x.shape
        m = len(z)
        size = np.maximum(np.abs(np.concatenate([x0, z[:, -1]])), 1e-6)
        best, nodes, of_states = np.inf, np.arange(s), np.arange(n * s)
        for _ in range(40):
            f, r, _ = self.equations.at(t, x, z)
            rest = np.concatenate([x - x0[:, None] - h * (f @ self.a.T), r])
            jacobian = self.equations.jacobians(t, x, z)
            big = np.zeros((n + m, s, n + m, s))
            big[:n] = np.einsum("ij,jkl->kilj", -h * self.a, jacobian[:, :n])
            big[n:, nodes, :, nodes] = jacobian[:, n:]
            total = (n + m) * s
            big = big.reshape(total, total)
            big[of_states, of_states] += 1
            try:
                change = np.linalg.solve(big, rest.reshape(total))
            except np.linalg.LinAlgError as error:
                raise NoSolution(str(error)) from error
            change = change.reshape(n + m, s)
            x, z = x - change[:n], z - change[n:]
            if not np.isfinite(change).all():
                raise NoSolution("not a number")
            size = np.maximum(size, np.abs(np.concatenate([x, z])).max(axis=1))
            changes = np.max(np.abs(change) / size[:, None], axis=1)
            now, of_all_states = changes.max(), changes[:n].max(initial=0.0)
            # Unknowns of higher index are only as sure as rounding over h^2 lets them be.
            if now < 1e-13 or (now >= 0.5 * best and of_all_states < 1e-9):
                return x, z
            best = min(best, now)
        raise NoSolution(f"Newton's changes stay at {now:.1e}")

    def start(self, t0):
        """z at the start, where r determines it (index 1); else only a guess."""
        x, z = self.equations.start, self.equations.guess
        for _ in range(50):
            r = self.equations.at(np.array([t0]), x[:, None], z[:, None])[1][:, 0]
            jacobian = self.equations.jacobians(np.array([t0]), x[:, None], z[:, None])[0]
            block = jacobian[len(x):, len(x):]
            if not len(z) or not determines(block):
                return z
            change = np.linalg.solve(block, r)
            z = z - change
            if np.max(np.abs(change) / np.maximum(1e-6, np.abs(z))) < 1e-14:
                break
        return z

    @staticmethod
    def _shares(pieces, halvings):
        """Ends of steps in an interval of length 1: equal ones, or growing ones after a start."""
        if not halvings:
            return np.linspace(0, 1, pieces + 1)
        ends = np.concatenate([[0], 0.5**np.arange(halvings, -1, -1)])
        parts = np.linspace(0, 1, 4 * pieces + 1)[1:]
        return np.concatenate([[0], (ends[:-1, None] + np.diff(ends)[:, None] * parts).ravel()])

    def solve(self, grid, pieces=1, fastest=0.0):
        """States (len(grid), n_st), outputs (len(grid), n_out) and unknowns at the points of grid.

        Each interval is done in `pieces` steps; the first, and those that start at an event, in
        steps that grow from half a time constant of `fastest` (1/s) on.
        """
        n, x = len(self.equations.start), self.equations.start
        z = self.start(grid[0])
        rows_x, rows_z = [x], [z]
        guess, last_h = None, 1.0
        fresh = {grid[0], *self.model.events}
        for begin, end in zip(grid[:-1], grid[1:]):
            halvings = 0
            if begin in fresh:
                guess = None
                halvings = max(0, int(np.ceil(np.log2(max(2 * fastest * (end - begin), 1e-9)))))
                started = begin
            in_layer = fastest * (begin - started) < 40
            parts = pieces * min(16, 1 + int(4 * fastest * (end - begin))) if in_layer else pieces
            times = begin + (end - begin) * self._shares(pieces if halvings else parts, halvings)
            times[-1] = end
            for t, after in zip(times[:-1], times[1:]):
                h = after - t
                nodes = t + h * self.c
                if self.model.events:
                    nodes = np.minimum(nodes, end - 1e-13 * max(abs(end), 1e-3))
                old = np.concatenate([x, z])
                first = np.repeat(old[:, None], len(self.c), axis=1)
                if guess is not None:  # the last step's polynomial, continued
                    first = guess @ np.vander(1 + self.c * h / last_h, len(self.c),
                                              increasing=True).T
                try:
                    stage_x, stage_z = self._newton(nodes, x, h, first[:n], first[n:])
                except NoSolution:
                    first = np.repeat(old[:, None], len(self.c), axis=1)
                    stage_x, stage_z = self._newton(nodes, x, h, first[:n], first[n:])
                guess = np.concatenate([stage_x, stage_z]) @ self.to_coefficients.T
                last_h = h
                x, z = stage_x[:, -1], stage_z[:, -1]
            rows_x.append(x)
            rows_z.append(z)
        states, unknowns = np.array(rows_x), np.array(rows_z).reshape(len(grid), -1)
        if self._hidden(grid[0]) and len(grid) > 1:
            unknowns[0] = self._backwards(grid[0], grid[1] - grid[0], n)
        outputs = self.equations.at(np.asarray(grid, float), states.T, unknowns.T)[2].T
        return states, outputs, unknowns

    def _hidden(self, t0):
        """Whether r alone does not determine z (index 2 or 3)."""
        x, z = self.equations.start, self.equations.guess
        block = self.equations.jacobians(np.array([t0]), x[:, None], z[:, None])[0]
        return len(z) and not determines(block[len(x):, len(x):])

    def _backwards(self, t0, h, n):
        """z at the start of an index 2 or 3 system: the first steps' polynomial, at its begin."""
        x = self.equations.start
        old = np.concatenate([x, self.equations.guess])
        first = np.repeat(old[:, None], len(self.c), axis=1)
        small = h / 4
        _, stage_z = self._newton(t0 + small * self.c, x, small, first[:n], first[n:])
        return (stage_z @ self.to_coefficients.T)[:, 0]


def reference(model, grid, fastest=0.0, pieces=1):
    """Outputs by name at the points of grid, and how far a solution with half the steps' size differs
    (the largest of each output's range)."""
    solver = Collocation(model)
    outputs = solver.solve(grid, pieces, fastest)[1]
    finer = solver.solve(grid, 2 * pieces, fastest)[1]
    size = np.maximum(np.abs(finer).max(axis=0), 1e-300)
    doubt = np.max(np.abs(finer - outputs) / size) if outputs.size else 0.0
    return dict(zip(model.output_names(), finer.T)), doubt
