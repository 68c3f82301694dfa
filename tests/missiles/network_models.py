"""Models on which the estimators have something to do."""

_DIRECT = {"nonlinear": "q + 0.3*u*u", "linear": "q + 0.3*u"}


def five(valve="nonlinear"):
    """Five subsystems: explicit time dependence in a nonlinear oscillator, an output linear in its
    input, one nonlinear in it (or, by choice, linear too), an integrator (A = 0), and a stiff
    sensor."""
    return f"""name: five subsystems
experiment: {{start: 0, stop: 4}}
subsystems:
  drive:
    equations:
      inputs: {{brake: 0}}
      states: {{a: 0.4, b: 0}}
      derivatives: {{a: b, b: 0.5*cos(2*t) - 4*sin(a) - 0.3*b - brake}}
      outputs: {{a: a, b: b}}
  gear:
    equations:
      inputs: {{u: 0}}
      states: {{p: 0.1}}
      derivatives: {{p: u - p - 0.2*p*p}}
      outputs: {{y: p + 0.5*u}}
  valve:
    equations:
      inputs: {{u: 0}}
      states: {{q: 0.3}}
      derivatives: {{q: u - 2*q}}
      outputs: {{y: {_DIRECT[valve]}}}
  tank:
    equations:
      inputs: {{fill: 0, drain: 0}}
      states: {{level: 0.5}}
      derivatives: {{level: fill - drain}}
      outputs: {{level: level}}
  sensor:
    equations:
      inputs: {{u: 0}}
      states: {{z: 0.5, w: 0.5}}
      derivatives: {{z: 2000*(u - z), w: z - w}}
      outputs: {{w: w, z: z}}
connections:
  - drive.a -> gear.u
  - drive.b -> valve.u
  - gear.y -> tank.fill
  - valve.y -> tank.drain
  - tank.level -> sensor.u
  - sensor.w -> drive.brake
"""


def food_chain():
    """Grass, hares and foxes; the grass grows with the seasons."""
    return """name: food chain
experiment: {start: 0, stop: 40}
subsystems:
  grass:
    equations:
      inputs: {hares: 0.5}
      states: {amount: 0.8}
      derivatives: {amount: amount*(0.6 + 0.15*sin(t/2) - 0.5*amount - 0.4*hares)}
      outputs: {amount: amount}
  hares:
    equations:
      inputs: {grass: 0.8, foxes: 0.4}
      states: {amount: 0.5}
      derivatives: {amount: amount*(0.45*grass - 0.4*foxes - 0.05)}
      outputs: {amount: amount}
  foxes:
    equations:
      inputs: {hares: 0.5}
      states: {amount: 0.4}
      derivatives: {amount: amount*(0.45*hares - 0.2)}
      outputs: {amount: amount}
connections:
  - hares.amount -> grass.hares
  - grass.amount -> hares.grass
  - foxes.amount -> hares.foxes
  - hares.amount -> foxes.hares
"""


def rod(cells, conductivity="1"):
    """A heated rod of many cells, coupled to a small controller; `conductivity` is an expression in
    a cell's temperature T and its neighbours' difference is taken between cells."""
    n = cells
    names = [f"T{i}" for i in range(n)]
    lines = []
    for i, name in enumerate(names):
        left = names[i - 1] if i else "heater"
        right = names[i + 1] if i + 1 < n else "0.2"
        factor = conductivity.replace("T", name)
        lines.append(f"        {name}: ({factor})*{0.05 * n * n}*({left} - 2*{name} + {right})")
    states = ", ".join(f"{name}: 0.2" for name in names)
    slopes = "\n".join(lines)
    return f"""name: rod of {n} cells
experiment: {{start: 0, stop: 1}}
subsystems:
  rod:
    equations:
      inputs: {{heater: 0.2}}
      states: {{{states}}}
      derivatives:
{slopes}
      outputs: {{middle: T{n // 2}, near: T{n // 10}}}
  heater:
    equations:
      inputs: {{T: 0.2, far: 0.2}}
      states: {{power: 0.2}}
      derivatives: {{power: 3*(1 + 0.3*sin(3*t) - T) - 0.5*far*power}}
      outputs: {{power: power}}
connections:
  - rod.near -> heater.T
  - rod.middle -> heater.far
  - heater.power -> rod.heater
"""
