"""A car whose speed a sensor measures and a filter takes, and runs of it within scenarios."""
from concord_runs import ModelTest, execute, simulate

PARTS = """
experiment: {stop: 20}
subsystems:
  car:
    equations:
      parameters: {k: 0.2}
      inputs: {pedal: 0.2}
      states: {v: 1}
      derivatives: {v: 2*pedal - k*v}
      outputs: {v: v}
      units: {v: m/s}
  sensor: {equations: {inputs: {u: 0}, outputs: {y: u}, units: {u: m/s, y: km/h}}}
  filter: {equations: {inputs: {u: 0.5}, states: {x: 0}, derivatives: {x: u - x}, outputs: {x: x}}}
"""
CAR = PARTS + "connections: [car.v -> sensor.u, sensor.y -> filter.u]\n"


class ScenarioTest(ModelTest):
    def scenario(self, *actions):
        path = self.folder / "scenario.yaml"
        path.write_text("actions:\n" + "".join(f"  - {action}\n" for action in actions), encoding="utf-8")
        return path

    def acted(self, actions, *options, model=CAR, **how):
        """Results of the model within a scenario."""
        return simulate(self.model(model), "-cosim_scenario", self.scenario(*actions), *options, **how)

    def execute(self, command, actions, *options, model=CAR, **how):
        return execute(command, self.model(model), "-cosim_scenario", self.scenario(*actions), *options, **how)
