"""Whole models exported as FMUs, and a small importer of co-simulation, FMI 2.0 and 3.0, to call them."""
import ctypes
from ctypes import (CFUNCTYPE, byref, c_bool, c_char_p, c_double, c_int, c_size_t, c_uint, c_uint8,
                    c_void_p)
from xml.etree import ElementTree

from concord_runs import execute
from exported_fmus import FOLDERS, Callbacks, Logger, unpack

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

    def __init__(self, folder, token=None, name=b"it"):
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
                                 c_bool(False), c_bool(False), None, c_size_t(0), None, self.log, None)

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
