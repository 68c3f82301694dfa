"""Whole models exported as FMUs, and a small importer of co-simulation, FMI 2.0 and 3.0, to call them."""
import ctypes
import functools
import math
import tempfile
from ctypes import (CFUNCTYPE, byref, c_bool, c_char_p, c_double, c_int, c_size_t, c_uint, c_uint8,
                    c_void_p)
from pathlib import Path
from xml.etree import ElementTree

from concord_runs import EXAMPLES, execute, write_model
from exported_fmus import FOLDERS, Callbacks, Logger, unpack
from fmu_runs import FmuTest

LogMessage = CFUNCTYPE(None, c_void_p, c_int, c_char_p, c_char_p)
OK, WARNING, DISCARD, ERROR = range(4)


def export_whole(model, path, *options, version=2):
    """Exports and unpacks; returns the folder and what stands on stderr."""
    run = execute("export-fmu", model, "-o", path, "--fmi", version, *options)
    if run.returncode != 0:
        raise AssertionError(run.stderr)
    return unpack(path), run.stderr


def doubles(values):
    return (c_double * len(values))(*values)


class WholeFmu:
    """One instance; calls return statuses, values are by name, messages are kept: (status, text)."""

    def __init__(self, folder, token=None, name=b"it", event_mode=False, early_return=False):
        self.root = ElementTree.parse(folder / "modelDescription.xml").getroot()
        self.version = int(self.root.get("fmiVersion")[0])
        self.variables = {v.get("name"): v for v in self.root.find("ModelVariables")}
        self.references = {name: int(v.get("valueReference")) for name, v in self.variables.items()}
        interface = self.root.find("CoSimulation")
        file = interface.get("modelIdentifier") + ".so"
        self.library = ctypes.CDLL(str(folder / "binaries" / FOLDERS[self.version] / file))
        self.messages = []
        token = (token or self.root.get("guid") or self.root.get("instantiationToken")).encode()
        resources = str(folder / "resources")
        make = getattr(self.library, "fmi2Instantiate" if self.version == 2 else
                       "fmi3InstantiateCoSimulation")
        make.restype = c_void_p
        if self.version == 2:
            log = Logger(lambda env, who, status, category, form, text: self._hear(status, text))
            self.log = Callbacks(logger=log)
            self.instance = make(name, 1, token, f"file://{resources}".encode(), byref(self.log), 0, 0)
        else:
            self.log = LogMessage(lambda env, status, category, text: self._hear(status, text))
            self.instance = make(name, token, f"{resources}/".encode(), c_bool(False), c_bool(False),
                                 c_bool(event_mode), c_bool(early_return), None, c_size_t(0), None,
                                 self.log, None)

    def _hear(self, status, text):
        self.messages.append((status, text.decode()))

    def __call__(self, function, *arguments):
        return getattr(self.library, f"fmi{self.version}{function}")(c_void_p(self.instance), *arguments)

    def begin(self, start=0.0, stop=None, tolerance=None, **values):
        """To the beginning of initialisation; the status of what was the last to go."""
        if values and self.set(**values) != OK:
            return ERROR
        of_stop = (0 if stop is None else 1, c_double(stop or 0.0))
        of_tolerance = (0 if tolerance is None else 1, c_double(tolerance or 0.0))
        if self.version == 3:
            return self("EnterInitializationMode", c_bool(of_tolerance[0]), of_tolerance[1], c_double(start),
                        c_bool(of_stop[0]), of_stop[1])
        return self("SetupExperiment", *of_tolerance, c_double(start), *of_stop) or \
            self("EnterInitializationMode")

    def start(self, *arguments, **values):
        return self.begin(*arguments, **values) or self("ExitInitializationMode")

    def _count(self, names):
        return (c_uint * len(names))(*[self.references[name] for name in names]), c_size_t(len(names))

    def _type(self):
        return "Real" if self.version == 2 else "Float64"

    def _again(self, names):
        return (c_size_t(len(names)),) if self.version == 3 else ()

    def set(self, values=None, **more):
        values = {**(values or {}), **{name.replace("__", "."): value for name, value in more.items()}}
        return self("Set" + self._type(), *self._count(values), doubles(list(values.values())),
                    *self._again(values))

    def try_get(self, *names):
        values = doubles([0.0] * len(names))
        return self("Get" + self._type(), *self._count(names), values, *self._again(names)), list(values)

    def get(self, *names):
        status, values = self.try_get(*names)
        assert status == OK, self.messages
        return values

    def step(self, time, size):
        if self.version == 2:
            return self("DoStep", c_double(time), c_double(size), 1)
        self.told = [c_bool(), c_bool(), c_bool()]
        self.last_time = c_double()
        return self("DoStep", c_double(time), c_double(size), c_bool(True), *map(byref, self.told),
                    byref(self.last_time))

    def _derivative(self, function, unknowns, knowns, seed, size):
        result = doubles([math.nan] * size)
        status = self(function, *self._count(unknowns), *self._count(knowns), doubles(seed),
                      *self._again(seed), result, *self._again(result))
        return status, list(result)

    def try_derivative(self, unknowns, knowns, seed):
        return self._derivative("GetDirectionalDerivative", unknowns, knowns, seed, len(unknowns))

    def derivative(self, unknowns, knowns, seed):
        status, result = self.try_derivative(unknowns, knowns, seed)
        assert status == OK, self.messages
        return result

    def adjoint(self, unknowns, knowns, seed):
        status, result = self._derivative("GetAdjointDerivative", unknowns, knowns, seed, len(knowns))
        assert status == OK, self.messages
        return result

    def update(self):
        """The status of an update of discrete states, and the next time that it tells."""
        told, time = [c_bool() for _ in range(5)], c_double()
        status = self("UpdateDiscreteStates", *map(byref, told), byref(time))
        return status, time.value if told[-1].value else None

    def ended(self):
        """FMI 2: whether it has asked for the end, and how far it came."""
        end, time = c_int(), c_double()
        assert self("GetBooleanStatus", 3, byref(end)) == OK
        assert self("GetRealStatus", 2, byref(time)) == OK
        return bool(end.value), time.value

    def state(self):
        state = c_void_p()
        status = self(f"GetFMU{self._s()}tate", byref(state))
        return state if status == OK else None

    def _s(self):
        return "s" if self.version == 2 else "S"

    def go_back(self, state):
        return self(f"SetFMU{self._s()}tate", state)

    def forget(self, state):
        return self(f"FreeFMU{self._s()}tate", byref(state))

    def bytes_of(self, state):
        size = c_size_t()
        assert self(f"SerializedFMU{self._s()}tateSize", state, byref(size)) == OK
        content = (c_uint8 * size.value)()
        assert self(f"SerializeFMU{self._s()}tate", state, content, size) == OK
        return bytes(content)

    def state_of(self, content):
        state = c_void_p()
        status = self(f"De{'S' if self.version == 2 else 's'}erializeFMU{self._s()}tate",
                      (c_uint8 * len(content))(*content), c_size_t(len(content)), byref(state))
        return state if status == OK else None

    def free(self):
        self("FreeInstance")


MAPPED = """
name: mapped
experiment: {start: 0, stop: 4}
parameters: {gain: 2}
maps:
  torque: {file: data/map.csv, inputs: [speed, pedal], value: torque}
subsystems:
  road: {table: {file: ROAD, after: hold}}
  mass:
    equations:
      parameters: {k: 20*gain, m: 1}
      inputs: {z: 0, push: 0.5}
      states: {x: 0, v: 0}
      discrete: {hits: 0}
      derivatives: {x: v, v: '(k*(z - x) - v + torque(min(abs(v), 9), push))/m'}
      when: [{condition: x > 1, set: {hits: pre(hits) + 1}}]
      outputs: {x: x, v: 3*v, hits: hits}
  rod:
    equations:
      inputs: {left: 0}
      states: {"T[20]": 0}
      derivatives:
        "T[1]": 9*(left - 2*T[1] + T[2])
        "T[i in 2:19]": 9*(T[i-1] - 2*T[i] + T[i+1])
        "T[20]": 9*(T[19] - T[20])
      outputs: {mean: sum(T)/20}
connections: [road.height -> mass.z, {connect: mass.x -> rod.left, delay: 0.3}]
"""
RAMP = """
name: ramp
experiment: {start: 0, stop: 2}
subsystems:
  a:
    equations:
      inputs: {u: 1}
      states: {x: 0}
      derivatives: {x: u}
      outputs: {x: x, y: x + u}
  b:
    equations: {inputs: {w: 0}, states: {z: 0}, derivatives: {z: w - z}, outputs: {z: z}}
connections: [a.x -> b.w]
"""


KEPT = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with


@functools.cache
def example(model, version, *options):
    """The unpacked folder of an example, exported once, and what stood on stderr."""
    return export_whole(model, Path(tempfile.mkdtemp(dir=KEPT.name)) / "whole.fmu", *options,
                        version=version)


class WholeTest(FmuTest):
    def setUp(self):
        super().setUp()
        self.living = []

    def tearDown(self):
        for fmu in self.living:
            fmu.free()

    def instance(self, folder, **how):
        fmu = WholeFmu(folder, **how)
        self.assertTrue(fmu.instance, fmu.messages)
        self.living.append(fmu)
        return fmu

    def exported(self, model, *options, version=2, says=""):
        """The unpacked folder."""
        if EXAMPLES in model.parents:
            folder, told = example(model, version, *options)
        else:
            folder, told = export_whole(model, self.folder / "whole.fmu", *options, version=version)
        self.assertIn(says, told)
        if not says:
            self.assertEqual(told, "")
        return folder

    def of(self, model, *options, version=2):
        return self.instance(self.exported(model, *options, version=version))

    def mapped(self):
        (self.folder / "data").mkdir()
        (self.folder / "data" / "map.csv").write_text(
            "speed,pedal,torque\n0,0,0\n0,1,10\n10,0,-1\n10,1,5\n", encoding="utf-8")
        road = self.folder / "my road.csv"
        road.write_text("time,height\n0,0\n1,0.5\n2,0.2\n3,0.7\n", encoding="utf-8")
        return write_model(self.folder, "mapped", MAPPED.replace("ROAD", f'"{road}"'))

    def says(self, fmu, *texts):
        """The one thing that it has told."""
        self.assertEqual(len(fmu.messages), 1, fmu.messages)
        status, message = fmu.messages.pop()
        for text in texts:
            self.assertIn(text, message)
        return status


def ramp_model(folder):
    return write_model(folder, "ramp", RAMP)
