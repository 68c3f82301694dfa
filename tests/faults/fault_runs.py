"""Models with a subsystem that fails as a case says, native or an FMU, and what becomes of their runs."""
import os
import re
import subprocess
import tempfile
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path

import h5py

from patience import HANGS

PROGRAM = os.environ.get("CONCORD_PROGRAM", "")
LIBRARY = os.environ.get("FAULTY_SUBSYSTEM", "")
FMU_BINARIES = {2: os.environ.get("FAULTY_FMU", ""), 3: os.environ.get("FAULTY_FMU3", "")}

METHODS = ("jfm", "missiles", "ifosmondi", "jacobi", "gauss_seidel", "hierarchical", "extripol",
           "kuebler_schiehlen", "monolithic")
PLACES = ("first", "last", "all")

MATE = ("{equations: {inputs: {load: 0}, states: {x: 0.2}, derivatives: {x: load - x*x}, "
        "outputs: {x: x}}}")

DESCRIPTION_2 = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="faulty" guid="faulty" numberOfEventIndicators="0">
  <ModelExchange modelIdentifier="faulty" canGetAndSetFMUstate="true" canSerializeFMUstate="SERIALIZES"
    providesDirectionalDerivative="true" completedIntegratorStepNotNeeded="false"/>
  <CoSimulation modelIdentifier="faulty" canHandleVariableCommunicationStepSize="true"
    canInterpolateInputs="true" maxOutputDerivativeOrder="1" canGetAndSetFMUstate="true" canSerializeFMUstate="SERIALIZES"
    canBeInstantiatedOnlyOncePerProcess="true" providesDirectionalDerivative="true"/>
  <ModelVariables>
    <ScalarVariable name="load" valueReference="0" causality="input"><Real start="0"/></ScalarVariable>
    <ScalarVariable name="x" valueReference="1" causality="output"><Real/></ScalarVariable>
    <ScalarVariable name="v" valueReference="2"><Real/></ScalarVariable>
    <ScalarVariable name="der(x)" valueReference="3"><Real derivative="2"/></ScalarVariable>
    <ScalarVariable name="der(v)" valueReference="4"><Real derivative="3"/></ScalarVariable>
    <ScalarVariable name="time" valueReference="5" causality="parameter" variability="fixed"><Real start="0.5"/></ScalarVariable>
    <ScalarVariable name="rank" valueReference="6" causality="parameter" variability="fixed"><Integer start="-1"/></ScalarVariable>
    <ScalarVariable name="fault" valueReference="7" causality="parameter" variability="fixed"><String start="none"/></ScalarVariable>
    <ScalarVariable name="call" valueReference="8" causality="parameter" variability="fixed"><String start="none"/></ScalarVariable>
  </ModelVariables>
  <ModelStructure>
    <Outputs><Unknown index="2" dependencies="2"/></Outputs>
    <Derivatives><Unknown index="4" dependencies="3"/><Unknown index="5" dependencies="1 2"/></Derivatives>
    <InitialUnknowns><Unknown index="2"/></InitialUnknowns>
  </ModelStructure>
</fmiModelDescription>
"""

DESCRIPTION_3 = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="3.0" modelName="faulty" instantiationToken="faulty">
  <ModelExchange modelIdentifier="faulty" canGetAndSetFMUState="true" canSerializeFMUState="SERIALIZES"
    providesDirectionalDerivatives="true" needsCompletedIntegratorStep="true"/>
  <CoSimulation modelIdentifier="faulty" canGetAndSetFMUState="true" canSerializeFMUState="SERIALIZES"
    maxOutputDerivativeOrder="1" providesDirectionalDerivatives="true" {steps}/>
  <ModelVariables>
    <Float64 name="load" valueReference="0" causality="input" start="0" intermediateUpdate="true"/>
    <Float64 name="x" valueReference="1" causality="output"/>
    <Float64 name="v" valueReference="2"/>
    <Float64 name="der(x)" valueReference="3" derivative="1"/>
    <Float64 name="der(v)" valueReference="4" derivative="2"/>
    <Float64 name="time" valueReference="5" causality="parameter" variability="fixed" start="0.5"/>
    <Int32 name="rank" valueReference="6" causality="parameter" variability="fixed" start="-1"/>
    <String name="fault" valueReference="7" causality="parameter" variability="fixed"><Start value="none"/></String>
    <String name="call" valueReference="8" causality="parameter" variability="fixed"><Start value="none"/></String>
    <Float64 name="indicator" valueReference="9"/>
    <Float64 name="t" valueReference="10" causality="independent"/>
  </ModelVariables>
  <ModelStructure>
    <Output valueReference="1" dependencies="1"/>
    <ContinuousStateDerivative valueReference="3" dependencies="2"/>
    <ContinuousStateDerivative valueReference="4" dependencies="0 1"/>
    <EventIndicator valueReference="9"/>
  </ModelStructure>
</fmiModelDescription>
"""
# What shapes the calls of co-simulation with FMI 3.0: intermediate update is used where micro-steps
# are not possible.
STEPS_3 = 'canHandleVariableCommunicationStepSize="true" hasEventMode="true"'
UPDATING = "fmi3IntermediateUpdate"


@dataclass(frozen=True)
class Fault:
    """`kind`: native; cs, me (FMI 2.0); cs3, me3 (FMI 3.0). `place`: the ranks that fail, of `ranks`; alone is `all` of 1."""
    kind: str
    fault: str
    call: str
    method: str = "jfm"
    place: str = "last"
    ranks: int = 2
    time: float = 0.5
    options: tuple = ()


@dataclass
class Ended:
    code: int
    seconds: float
    errors: list
    output: str
    status: str = ""
    rows: int = 0
    last: float = -1.0

    def complaints(self, fault):
        """What is not as it should be."""
        named = fault.fault == "none" or (len(self.errors) == 1 and "'a'" in self.errors[0]
                                          or "'b'" in "".join(self.errors))
        times = [float(text) for text in re.findall(r" t = ([-+.e0-9]+) s", "".join(self.errors))]
        late = fault.time > 0 and fault.call not in AT_THE_START + AT_THE_END
        if self.code == -1:
            yield "hangs"
        if self.code != (2 if fault.call in JUDGED_INPUT and fault.fault.startswith("throw") else 1):
            yield f"exit code {self.code}"
        if len(self.errors) != 1:
            yield f"{len(self.errors)} error lines"
        if not named:
            yield "no subsystem is named"
        if re.search(r"(subsystem '\w+': )\1", "".join(self.errors)):
            yield "the subsystem is named twice"
        if late and (not times or min(times) < 0.48):
            yield f"times {times}"
        if late and times and abs(self.last - min(times)) > 0.0101:
            yield f"rows up to {self.last}"


# Calls that have no communication point before them, or all.
AT_THE_START = ("constructor", "interface", "fmi2Instantiate", "fmi3InstantiateCoSimulation",
                "fmi3InstantiateModelExchange", "fmi2SetupExperiment",
                *(f"fmi{v}{phase}InitializationMode" for v in (2, 3) for phase in ("Enter", "Exit")))
AT_THE_END = ("destructor", "fmi2Terminate", "fmi2FreeInstance", "fmi2FreeFMUstate",
              "fmi3Terminate", "fmi3FreeInstance", "fmi3FreeFMUState")
# A constructor that throws refuses its parameters.
JUDGED_INPUT = ("constructor", "interface")


def build_fmu(folder, version=2, call="", serializes=False):
    path = Path(folder) / "faulty.fmu"
    steps = 'providesIntermediateUpdate="true"' if call == UPDATING else STEPS_3
    with zipfile.ZipFile(path, "w") as archive:
        text = DESCRIPTION_2 if version == 2 else DESCRIPTION_3.format(steps=steps)
        archive.writestr("modelDescription.xml",
                         text.replace("SERIALIZES", str(serializes).lower()))
        platform = "linux64" if version == 2 else "x86_64-linux"
        archive.write(FMU_BINARIES[version], f"binaries/{platform}/faulty.so")


def model(fault):
    """Two subsystems that feed each other, one a rank; `monolithic` has both on each rank."""
    replicated = fault.method == "monolithic"
    rank = {"first": 0, "last": fault.ranks - 1, "all": -1}[fault.place] if replicated else -1
    parameters = (f"{{fault: {fault.fault}, call: {fault.call}, time: {fault.time}, "
                  f"rank: {rank}}}")
    faulty = (f"{{native: {{library: {LIBRARY}, type: faulty}}, parameters: {parameters}}}"
              if fault.kind == "native" else f"{{fmu: faulty.fmu, parameters: {parameters}}}")
    first = faulty if replicated or fault.place != "last" else MATE
    last = faulty if not replicated and fault.place != "first" else MATE
    return ("name: faults\nexperiment: {start: 0, stop: 1}\nsubsystems:\n"
            f"  a: {first}\n  b: {last}\nconnections:\n  - a.x -> b.load\n  - b.x -> a.load\n")


def run(fault):
    with tempfile.TemporaryDirectory(prefix="concord_faults_") as folder:
        (Path(folder) / "model.yaml").write_text(model(fault))
        if fault.kind != "native":
            build_fmu(folder, 3 if fault.kind.endswith("3") else 2, fault.call)
        command = [PROGRAM, "run", "model.yaml", "-cosim_step", "0.01", "-cosim_type",
                   fault.method, *fault.options]
        if fault.kind != "native":
            command += ["-subsystem_fmu_interface", fault.kind[:2]]
        if fault.ranks > 1:
            command = ["mpirun", "--oversubscribe", "-n", str(fault.ranks), *command]
        environment = dict(os.environ)
        if "Instantiate" in fault.call:
            environment["FAULT_IN_INSTANTIATE"] = fault.fault
        return watch(command, folder, environment)


def watch(command, folder, environment):
    began = time.monotonic()
    process = subprocess.Popen(command, cwd=folder, env=environment, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               start_new_session=True)
    try:
        out, err = process.communicate(timeout=HANGS)
        code = process.returncode
    except subprocess.TimeoutExpired:
        subprocess.run(["pkill", "-9", "-s", str(process.pid)], check=False)
        out, err = process.communicate()
        code = -1
    errors = [line for line in err.splitlines() if line.startswith("concord: error: ")]
    ended = Ended(code, time.monotonic() - began, errors, out + err)
    path = Path(folder) / "faults.h5"
    path = path if path.exists() else Path(folder) / "model.h5"
    if path.exists():
        with h5py.File(path) as file:
            ended.status, times = file.attrs["status"], file["time"][:]
        ended.rows, ended.last = len(times), times[-1] if len(times) else -1.0
    return ended
