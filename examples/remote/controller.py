"""A controller in a process of its own: /usr/bin/python3 controller.py [tcp://127.0.0.1:5555]"""
import sys


class Controller:
    """Proportional and integral, sampled at communication points; puts out what it found one step ago."""

    inputs = {"y": 0.0}
    outputs = ("u",)

    def __init__(self):
        self.sum = 0.0
        self.u = 0.0

    def step(self, t, h, u):
        error = 1 - u(t).y
        self.sum += h * error
        self.u = 8 * error + 4 * self.sum

    def outputs_at(self, t):
        return self.u


if __name__ == "__main__":
    import concord

    concord.serve(Controller, *(sys.argv[1:] or ["tcp://127.0.0.1:5555"]))
