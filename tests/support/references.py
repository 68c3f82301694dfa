"""Solutions of the examples that owe nothing to Concord.

Two kinds: the exact solutions of the coupled systems (matrix exponential, Taylor series), and what
each coupling method must give, macro-step by macro-step, with subsystems integrated exactly (phi
functions for the two masses, closed forms for Lotka-Volterra) and the coupling solved exactly.
"""
import math

import numpy as np


def times(step, stop):
    """Communication points t0 + n h, the last one exactly at the stop."""
    count = max(1, math.ceil(stop / step - 1e-6))
    grid = step * np.arange(count + 1)
    grid[-1] = stop
    return grid


def expm(a):
    """Matrix exponential: Taylor series, scaled and squared."""
    norm = np.linalg.norm(a, 1)
    halvings = max(0, math.ceil(math.log2(max(norm, 1e-300))) + 3)
    scaled = a / 2.0**halvings
    term = result = np.eye(len(a))
    for n in range(1, 20):
        term = term @ scaled / n
        result = result + term
    for _ in range(halvings):
        result = result @ result
    return result


# ---- coefficients of the holds, as functions of (u_N, u'_N, u_{N+1}, u'_{N+1}) ----

def zoh(u0, d0, u1, d1, h):
    return u1, 0 * u1, 0 * u1, 0 * u1


def foh(u0, d0, u1, d1, h):
    return u0, (u1 - u0) / h, 0 * u1, 0 * u1


def hermite(u0, d0, u1, d1, h):
    mean = (u1 - u0) / h
    return u0, d0, (3 * mean - 2 * d0 - d1) / h, (d0 + d1 - 2 * mean) / h**2


# ---- linear networks: x' = A x + B u, y = C x + D u, u = P y ----

class LinearNetwork:
    """All subsystems as one block-diagonal quadruple (A, B, C, D), coupled by u = P y."""

    def __init__(self, a, b, c, d, p, x0):
        self.a, self.b, self.c, self.d, self.p, self.x0 = (np.array(m, float)
                                                           for m in (a, b, c, d, p, x0))

    def consistent(self, x):
        """u with u = P (C x + D u); of the values, and of the slopes when x is x'."""
        loop = np.eye(len(self.p)) - self.p @ self.d
        return np.linalg.solve(loop, self.p @ self.c @ x)

    def closed(self):
        """The matrix of the whole system, x' = M x."""
        loop = np.eye(len(self.p)) - self.p @ self.d
        return self.a + self.b @ np.linalg.solve(loop, self.p @ self.c)

    def exact_states(self, grid):
        """x(t) by eigen-decomposition."""
        values, vectors = np.linalg.eig(self.closed())
        weights = np.linalg.solve(vectors, self.x0.astype(complex))
        return np.real(vectors @ (weights[:, None] * np.exp(np.outer(values, grid)))).T

    def outputs(self, x):
        return np.array([self.c @ row + self.d @ self.consistent(row) for row in x])

    def input_gains(self, h):
        """e^{Ah} and G_p: x_end = e^{Ah} x + sum_p G_p a_p for inputs sum_p a_p tau^p."""
        n, m = self.b.shape
        big = np.zeros((n + 4 * m, n + 4 * m))
        big[:n, :n] = self.a * h
        big[:n, n:n + m] = self.b * h
        for p in range(3):
            rows = slice(n + p * m, n + (p + 1) * m)
            big[rows, n + (p + 1) * m:n + (p + 2) * m] = np.eye(m)
        exponential = expm(big)
        gains = [math.factorial(p) * h**p * exponential[:n, n + p * m:n + (p + 1) * m]
                 for p in range(4)]
        return exponential[:n, :n], gains

    def implicit(self, hold, step, stop):
        """States at the communication points of the implicit method with this hold."""
        grid = times(step, stop)
        m = len(self.p)
        e, gains = self.input_gains(step)
        # One linear map (x, u, u') -> (u1, u1'), from the affine dependence on the end values.
        slopes = hold is hermite
        identity, zero = np.eye(m), np.zeros((m, m))

        def end(x_part, u0, d0, u1, d1):
            """(x_end, P y, P y') as matrices acting on whatever the columns stand for."""
            coefficients = hold(u0, d0, u1, d1, step)
            x = e @ x_part + sum(g @ a for g, a in zip(gains, coefficients))
            u_end = sum(a * step**p for p, a in enumerate(coefficients))
            d_end = sum(p * a * step**(p - 1) for p, a in enumerate(coefficients) if p)
            y = self.c @ x + self.d @ u_end
            dy = self.c @ (self.a @ x + self.b @ u_end) + self.d @ d_end
            return x, self.p @ y, self.p @ dy

        n = len(self.x0)
        no_x = np.zeros((n, m))
        by_u1 = end(no_x, zero, zero, identity, zero)
        by_d1 = end(no_x, zero, zero, zero, identity)
        if slopes:
            jacobian = np.eye(2 * m) - np.block([[by_u1[1], by_d1[1]], [by_u1[2], by_d1[2]]])
        else:
            jacobian = np.eye(m) - by_u1[1]
        solve = np.linalg.inv(jacobian)

        x = self.x0
        u = self.consistent(x)
        d = self.consistent(self.a @ x + self.b @ u)
        rows = [x]
        for _ in grid[1:]:
            _, y, dy = end(x[:, None], u[:, None], d[:, None], 0 * u[:, None], 0 * u[:, None])
            unknown = solve @ (np.concatenate([y, dy]) if slopes else y)
            u1 = unknown[:m, 0]
            d1 = unknown[m:, 0] if slopes else 0 * u1
            x = end(x[:, None], u[:, None], d[:, None], u1[:, None], d1[:, None])[0][:, 0]
            u, d = u1, d1
            rows.append(x)
        return grid, np.array(rows)

    def jacobi(self, step, stop):
        """The explicit method with inputs constant at what the outputs of the held inputs were."""
        grid = times(step, stop)
        e, gains = self.input_gains(step)
        x, u = self.x0, self.consistent(self.x0)
        rows = [x]
        for _ in grid[1:]:
            x = e @ x + gains[0] @ u
            u = self.p @ (self.c @ x + self.d @ u)
            rows.append(x)
        return grid, np.array(rows)


def two_mass():
    """examples/two_mass: states left.x, left.v, right.x, right.v; inputs f, x_left, v_left."""
    m1, m2, c1, c2, c3, d1, d2, d3 = 5, 80, 1e4, 1e4, 1e5, 10, 10, 40
    a = [[0, 1, 0, 0], [-c1 / m1, -d1 / m1, 0, 0],
         [0, 0, 0, 1], [0, 0, -(c2 + c3) / m2, -(d2 + d3) / m2]]
    b = [[0, 0, 0], [1 / m1, 0, 0], [0, 0, 0], [0, c2 / m2, d2 / m2]]
    c = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, c2, d2], [0, 0, 1, 0], [0, 0, 0, 1]]
    d = np.zeros((5, 3))
    d[2, 1:] = -c2, -d2
    p = np.zeros((3, 5))
    p[0, 2] = p[1, 0] = p[2, 1] = 1
    return LinearNetwork(a, b, c, d, p, [1, 0, 3, 0])


def algebraic_loop():
    """examples/algebraic_loop without the energy: states body.x, body.v; inputs f, v, a."""
    m, c, m_f, d_f = 1, 12, 2, 0.6
    a = [[0, 1], [-c / m, 0]]
    b = [[0, 0, 0], [1 / m, 0, 0]]
    c_out = [[1, 0], [0, 1], [-c / m, 0], [0, 0]]  # body.x, body.v, body.a, fluid.f
    d = np.zeros((4, 3))
    d[2, 0] = 1 / m
    d[3, 1:] = -d_f, -m_f
    p = np.zeros((3, 4))
    p[0, 3] = p[1, 1] = p[2, 2] = 1
    return LinearNetwork(a, b, c_out, d, p, [1, 0])


# ---- Lotka-Volterra ----

class LotkaVolterra:
    """prey x' = 2/3 x - 4/3 x u, predator w' = w v - w; u = w, v = x."""
    birth, predation, growth, death = 2 / 3, 4 / 3, 1.0, 1.0

    @classmethod
    def invariant(cls, states):
        x, w = states[..., 0], states[..., 1]
        return cls.growth * x - cls.death * np.log(x) + cls.predation * w - cls.birth * np.log(w)

    @classmethod
    def exact_states(cls, grid, order=24):
        """Taylor series of order 24 in pieces of at most 0.05: exact to rounding."""
        state = np.array([1.0, 1.0])
        rows = [state]
        for h in np.diff(grid):
            pieces = max(1, math.ceil(h / 0.05 - 1e-9))
            for _ in range(pieces):
                state = cls._taylor(state, h / pieces, order)
            rows.append(state)
        return np.array(rows)

    @classmethod
    def _taylor(cls, state, h, order):
        x, w = np.zeros(order + 1), np.zeros(order + 1)
        x[0], w[0] = state
        for n in range(order):
            product = x[:n + 1] @ w[n::-1]
            x[n + 1] = (cls.birth * x[n] - cls.predation * product) / (n + 1)
            w[n + 1] = (cls.growth * product - cls.death * w[n]) / (n + 1)
        powers = h**np.arange(order + 1)
        return np.array([x @ powers, w @ powers])

    @classmethod
    def advance(cls, state, coefficients, h):
        """Both subsystems over one macro-step, in closed form, for inputs sum_p a_p tau^p."""
        area = sum(a * h**(p + 1) / (p + 1) for p, a in enumerate(coefficients))
        return state * np.exp([cls.birth * h - cls.predation * area[0],
                               cls.growth * area[1] - cls.death * h])

    @classmethod
    def slopes(cls, state, inputs):
        return state * np.array([cls.birth - cls.predation * inputs[0],
                                 cls.growth * inputs[1] - cls.death])

    @classmethod
    def implicit(cls, hold, step, stop):
        """States at the communication points of the implicit method with this hold."""
        grid = times(step, stop)
        state = np.array([1.0, 1.0])
        u = state[::-1]
        d = cls.slopes(state, u)[::-1]
        rows = [state]
        for h in np.diff(grid):
            u1, d1 = u, d
            for _ in range(200):
                end = cls.advance(state, hold(u, d, u1, d1, h), h)
                before = np.concatenate([u1, d1])
                u1, d1 = end[::-1], cls.slopes(end, u1)[::-1]
                if np.max(np.abs(before - np.concatenate([u1, d1]))) < 1e-15:
                    break
            state, u, d = end, u1, d1
            rows.append(state)
        return grid, np.array(rows)

    @classmethod
    def jacobi(cls, step, stop):
        grid = times(step, stop)
        state = np.array([1.0, 1.0])
        rows = [state]
        for h in np.diff(grid):
            zero = np.zeros(2)
            state = cls.advance(state, (state[::-1], zero, zero, zero), h)
            rows.append(state)
        return grid, np.array(rows)


def error_percent(values, exact):
    """Relative L2 error over the communication points, in %."""
    return 100 * np.linalg.norm(values - exact) / np.linalg.norm(exact)


def observed_orders(steps, errors):
    return np.diff(np.log(errors)) / np.diff(np.log(steps))
