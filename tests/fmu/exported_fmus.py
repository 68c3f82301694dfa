"""Subsystems of equations exported as FMUs, and a small importer of FMI 2.0 to call them."""
import ctypes
import platform
import subprocess
import tempfile
import zipfile
from ctypes import (CFUNCTYPE, POINTER, Structure, byref, c_char_p, c_double, c_int, c_size_t,
                    c_uint, c_void_p)
from pathlib import Path
from xml.etree import ElementTree

from concord_runs import execute

FOLDERS = {"x86_64": {2: "linux64", 3: "x86_64-linux"},
           "aarch64": {2: "linux-aarch64", 3: "aarch64-linux"}}[platform.machine()]


def export(model, subsystem, path, *options):
    """Exports; returns what stands on stderr."""
    run = execute("export-fmu", model, subsystem, "-o", path, *options)
    if run.returncode != 0:
        raise AssertionError(run.stderr)
    return run.stderr


def unpack(path):
    """A new folder beside the FMU with its files."""
    folder = Path(tempfile.mkdtemp(prefix=path.stem, dir=path.parent))
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder)
    return folder


def compile_sources(folder, *flags, extra=(), target="compiled.so"):
    """The completed compiler on all sources of the unpacked FMU."""
    command = ["cc", "-std=c99", *flags, "-I", str(folder / "sources"),
               *map(str, extra or sorted((folder / "sources").glob("*.c"))),
               "-lm", "-o", str(folder / target)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


Logger = CFUNCTYPE(None, c_void_p, c_char_p, c_int, c_char_p, c_char_p, c_char_p)


class Callbacks(Structure):
    _fields_ = [("logger", Logger), ("allocate", c_void_p), ("free", c_void_p),
                ("finished", c_void_p), ("environment", c_void_p)]


class EventInfo(Structure):
    _fields_ = [("needed", c_int), ("terminate", c_int), ("nominals_changed", c_int),
                ("states_changed", c_int), ("time_defined", c_int), ("time", c_double)]


class Fmu2:
    """One instance of an unpacked FMU of FMI 2.0; calls return statuses, values are by name."""

    def __init__(self, folder, cosimulation=True, guid=None):
        self.root = ElementTree.parse(folder / "modelDescription.xml").getroot()
        name = self.root.get("modelName")
        self.library = ctypes.CDLL(str(folder / "binaries" / FOLDERS[2] / f"{name}.so"))
        self.library.fmi2Instantiate.restype = c_void_p
        self.references = {v.get("name"): int(v.get("valueReference"))
                           for v in self.root.find("ModelVariables")}
        self.messages = []
        log = Logger(lambda env, who, status, category, form, text:
                     self.messages.append((status, text.decode())))
        self.callbacks = Callbacks(logger=log)
        guid = guid or self.root.get("guid")
        self.component = self.library.fmi2Instantiate(b"it", c_int(int(cosimulation)),
                                                      guid.encode(), b"", byref(self.callbacks),
                                                      0, 0)

    def __call__(self, function, *arguments):
        return getattr(self.library, "fmi2" + function)(c_void_p(self.component), *arguments)

    def start(self, time=0.0, tolerance=1e-10):
        assert self("SetupExperiment", 1, c_double(tolerance), c_double(time), 0,
                    c_double(0)) == 0
        assert self("EnterInitializationMode") == 0
        assert self("ExitInitializationMode") == 0

    def _references(self, names):
        return (c_uint * len(names))(*[self.references[name] for name in names])

    def set(self, **values):
        return self("SetReal", self._references(list(values)), c_size_t(len(values)),
                    (c_double * len(values))(*values.values()))

    def get(self, *names):
        values = (c_double * len(names))()
        assert self("GetReal", self._references(names), c_size_t(len(names)), values) == 0
        return list(values)

    def derivative(self, unknowns, known):
        """d unknowns / d known."""
        result = (c_double * len(unknowns))()
        assert self("GetDirectionalDerivative", self._references(unknowns),
                    c_size_t(len(unknowns)), self._references([known]), c_size_t(1),
                    byref(c_double(1)), result) == 0
        return list(result)

    def input_derivative(self, name, order, value):
        return self("SetRealInputDerivatives", self._references([name]), c_size_t(1),
                    byref(c_int(order)), byref(c_double(value)))

    def output_derivative(self, name):
        result = c_double()
        assert self("GetRealOutputDerivatives", self._references([name]), c_size_t(1),
                    byref(c_int(1)), byref(result)) == 0
        return result.value

    def step(self, time, size):
        return self("DoStep", c_double(time), c_double(size), 1)

    def new_discrete_states(self):
        info = EventInfo()
        assert self("NewDiscreteStates", byref(info)) == 0
        return info

    def events(self, most=10):
        """To the end of the event iteration and into continuous-time mode; all that was told."""
        told = [self.new_discrete_states()]
        while told[-1].needed:
            assert len(told) < most
            told.append(self.new_discrete_states())
        assert self("EnterContinuousTimeMode") == 0
        return told

    def indicators(self, count):
        values = (c_double * count)()
        assert self("GetEventIndicators", values, c_size_t(count)) == 0
        return list(values)

    def go_to(self, time, *states):
        assert self("SetTime", c_double(time)) == 0
        if states:
            values = (c_double * len(states))(*states)
            assert self("SetContinuousStates", values, c_size_t(len(states))) == 0

    def save(self):
        """The state as bytes, by way of a saved one."""
        state, size = c_void_p(), c_size_t()
        assert self("GetFMUstate", byref(state)) == 0
        assert self("SerializedFMUstateSize", state, byref(size)) == 0
        saved = ctypes.create_string_buffer(size.value)
        assert self("SerializeFMUstate", state, saved, size) == 0
        assert self("FreeFMUstate", byref(state)) == 0
        return saved

    def restore(self, saved):
        state = c_void_p()
        assert self("DeSerializeFMUstate", saved, c_size_t(len(saved)), byref(state)) == 0
        assert self("SetFMUstate", state) == 0
        assert self("FreeFMUstate", byref(state)) == 0

    def free(self):
        self("FreeInstance")
