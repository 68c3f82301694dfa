"""Weakly coupled oscillators with relays that switch where their own oscillator passes 0."""

_RELAY = """
      when:
        - {{condition: x > {quiet}, set: {{side: 1}}}}
        - {{condition: x < -{quiet}, set: {{side: -1}}}}"""
_OSCILLATOR = """
    equations:
      parameters: {{w: 1}}
      inputs: {{left: 0, right: 0}}
      states: {{x: 0.5, v: 0}}
      discrete: {{side: 1}}{relay}
      derivatives: {{x: v, v: w^2*(0.01*(left + right) - 1.02*x - 0.1*side)}}
      outputs: {{x: x}}"""
_RELAYS = """name: relays
experiment: {{stop: {stop}}}
templates:
  switching:{switching}
  plain:{plain}
subsystems:
  relay: {{template: switching, start: {{x: 0.8}}}}
  cell:
    template: {others}
    repeat: {{i: [1, {n} - 1]}}
    parameters: {{w: 1 + 0.3*sin(i)}}
    start: {{x: sin(7*i), v: cos(7*i)}}
connections:
  - cell[1].x -> relay.right
  - relay.x -> cell[1].left
  - {{connect: "cell[i].x -> cell[i+1].left", repeat: {{i: [1, {n} - 2]}}}}
  - {{connect: "cell[i+1].x -> cell[i].right", repeat: {{i: [1, {n} - 2]}}}}
"""


def relays(n, stop, everybody=True, quiet=False):
    """n of them, of which one or each has a relay; `quiet`: none of these ever switches."""
    relay = _RELAY.format(quiet=1e6 if quiet else 0)
    return _RELAYS.format(n=n, stop=stop, others="switching" if everybody else "plain",
                          switching=_OSCILLATOR.format(relay=relay), plain=_OSCILLATOR.format(relay=""))
