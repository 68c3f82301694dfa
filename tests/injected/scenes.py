"""The runs whose calls fail."""
import os

from concord_runs import TWO_MASS
from injection import Scene

HYBRID = """name: hybrid
experiment: {stop: 2}
subsystems:
  room:
    equations:
      parameters: {rate: 0.5, outside: 10, power: 12}
      inputs: {heat: 1, u: 0}
      states: {T: 20}
      derivatives: {T: -rate*(T - outside) + power*heat + u}
      outputs: {T: T}
  thermostat:
    equations:
      inputs: {temperature: 20}
      discrete: {heat: 1}
      when:
        - {condition: temperature > 21, set: {heat: 0}}
        - {condition: temperature < 19, set: {heat: 1}}
      outputs: {heat: heat}
  controller:
    equations:
      inputs: {y: 20}
      discrete: {u: 0, sum: 0}
      when:
        - {every: 0.1, set: {sum: pre(sum) + 0.1*(20 - y), u: 0.5*(20 - y) + 0.2*pre(sum)}}
      outputs: {u: u}
connections:
  - room.T -> thermostat.temperature
  - room.T -> controller.y
  - thermostat.heat -> room.heat
  - controller.u -> room.u
"""

ISOLATED = """name: isolated
experiment: {{stop: 1}}
subsystems:
  far: {{native: {{library: "{library}", type: cart}}, start: {{force: 1}}, isolated: true}}
  near:
    equations: {{inputs: {{x: 0}}, states: {{s: 0}}, derivatives: {{s: x - s}}, outputs: {{s: s}}}}
connections: [far.x -> near.x]
"""


def scenes(folder):
    hybrid = folder / "hybrid.yaml"
    hybrid.write_text(HYBRID, encoding="utf-8")
    isolated = folder / "isolated.yaml"
    isolated.write_text(ISOLATED.format(library=os.environ["NATIVE_TEST_SUBSYSTEMS"]), encoding="utf-8")
    checkpoint = ("-cosim_checkpoint", "{folder}/run.chk", "-cosim_checkpoint_every", 1e-9, "-cosim_checkpoint_epoch")
    masses = ("-cosim_step", 0.02)
    return {scene.name: scene for scene in (
        Scene("results", TWO_MASS, masses),
        Scene("reports", TWO_MASS, (*masses, "-cosim_summary", "{folder}/summary.json", "-cosim_trace",
                                    "{folder}/trace.json", "-cosim_stop", 0.5)),
        Scene("checkpoints", TWO_MASS, (*masses, *checkpoint, 25)),
        Scene("events", hybrid, ("-cosim_step", 0.02, *checkpoint, 30)),
        Scene("restart", hybrid, ("-cosim_step", 0.02, *checkpoint, 30), begun=0.5),
        Scene("isolated", isolated, ("-cosim_step", 0.02, *checkpoint, 20)),
        Scene("two ranks", hybrid, ("-cosim_step", 0.02, *checkpoint, 30), ranks=2),
    )}
