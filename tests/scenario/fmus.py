"""Actions on FMUs: their inputs, outputs and tunable parameters, against equations within the same scenario."""
import unittest

import numpy as np
from concord_runs import TIGHT, execute, export
from scenario_models import CAR, ScenarioTest

ACTIONS = ("{at: 1, set: {car.pedal: 0.5}}", "{at: 3, for: 2, freeze: car.v}", "{at: 6, set: {car.k: 0.4}}",
           "{at: 7, for: 1, override: {car.k: 0.1}}", "{when: car.v > 2.5, offset: {filter.u: 0.5}}")
OPTIONS = (*TIGHT, "-cosim_step", 0.25, "-cosim_output_interval", 0.25)


class Fmus(ScenarioTest):
    def with_fmu(self, version):
        export(self.model(CAR), "car", self.folder / "car.fmu", version)
        begin, end = CAR.index("    equations:"), CAR.index("  sensor:")
        return CAR[:begin] + "    fmu: car.fmu\n    parameters: {k: 0.2}\n" + CAR[end:]

    def test_as_equations(self):
        expected = self.acted(ACTIONS, *OPTIONS)
        self.assertGreater(np.ptp(expected.outputs["car.v"]), 1)
        for version in ("2", "3"):
            model = self.with_fmu(version)
            # Without event mode slopes right behind a change are those of before, which is what the filter gets.
            for interface, ranks, error in (("me", 1, 1e-8), ("cs", 2, 0.01)):
                with self.subTest(version=version, interface=interface):
                    run = self.acted(ACTIONS, *OPTIONS, "-subsystem_fmu_interface", interface, model=model, ranks=ranks)
                    np.testing.assert_allclose(run.outputs["car.v"], expected.outputs["car.v"], 0, 1e-8)
                    np.testing.assert_allclose(run.outputs["filter.x"], expected.outputs["filter.x"], 0, error)

    def test_isolated(self):
        model = self.with_fmu("2")
        plain = self.acted(ACTIONS, *OPTIONS, model=model)
        isolated = self.acted(ACTIONS, *OPTIONS, model=model.replace("fmu: car.fmu", "fmu: car.fmu\n    isolated: true"))
        np.testing.assert_array_equal(isolated.outputs.values, plain.outputs.values)

    def test_an_fmu_alone(self):
        self.with_fmu("2")
        actions = self.scenario("{at: 1, for: 3, ramp: {car.pedal: 1}}", "{at: 6, set: {car.k: 0.4}}")
        run = execute("run", self.folder / "car.fmu", "-cosim_scenario", actions, "-cosim_output", self.folder / "a.h5",
                      "--output-file", self.folder / "a.csv", "--output-interval", 0.5)
        self.assertEqual(run.returncode, 0, run.stderr)
        rows = np.genfromtxt(self.folder / "a.csv", delimiter=",", names=True)
        expected = self.acted(("{at: 1, for: 3, ramp: {car.pedal: 1}}", "{at: 6, set: {car.k: 0.4}}"), *TIGHT)
        late = rows["time"] > 15
        for time, v in zip(rows["time"][late], rows["v"][late]):
            self.assertAlmostEqual(v, np.interp(time, expected.time, expected.outputs["car.v"]), 3)


if __name__ == "__main__":
    unittest.main()
