"""Compiles the models with clocks in source/ to FMUs of FMI 3.0."""
import functools
import subprocess
import tempfile
import zipfile
from pathlib import Path

from fmu_factory import LIBRARIES, SOURCE, print_of

TICK = '<Clock name="tick" valueReference="500" causality="input" {attributes}/>'
EVERY = 'intervalVariability="constant" intervalDecimal="0.1" shiftDecimal="0.02"'


def real(name, reference, causality, clocks="", start="", variability="discrete", more=""):
    text = f'<Float64 name="{name}" valueReference="{reference}" causality="{causality}"'
    text += f' variability="{variability}"' + (f' clocks="{clocks}"' if clocks else "")
    return text + (f' start="{start}"' if start != "" else "") + f"{more}/>"


#: Variables; `tick` stands for the attributes of the clock 500. Outputs, continuous states.
MODELS = {
    "regulator": ([TICK, real("y", 200, "input", "500", 0), real("u", 300, "output", "500"),
                   real("lag", 301, "output", variability="continuous"),
                   real("x_state", 0, "local", start=0, variability="continuous",
                        more=' initial="exact"'),
                   real("der(x_state)", 100, "local", variability="continuous",
                        more=' derivative="0"')], (300, 301), (100,)),
    "waker": (['<Clock name="wake" valueReference="500" causality="input" {attributes}/>',
               '<Clock name="tick" valueReference="501" causality="output" '
               'intervalVariability="triggered" clocks="500"/>',
               real("n", 300, "output", "500"), real("tens", 301, "output", "501")],
              (501, 300, 301), ()),
    "listener": ([TICK, real("value", 200, "input", "500", 0), real("n", 300, "output", "500"),
                  real("last", 301, "output", "500")], (300, 301), ()),
    "tasks": (['<Clock name="fast" valueReference="500" causality="input" priority="1" '
               'intervalVariability="constant" intervalDecimal="0.1"/>',
               '<Clock name="slow" valueReference="501" causality="input" priority="0" '
               '{attributes}/>',
               '<Clock name="late" valueReference="502" causality="input" priority="2" '
               'intervalVariability="countdown"/>',
               '<Clock name="done" valueReference="503" causality="output" '
               'intervalVariability="triggered" clocks="501"/>',
               real("u", 200, "input", "500", 0), real("order", 300, "output"),
               real("sum", 301, "output", "500"), real("n", 302, "output", "501"),
               real("all", 303, "output")], (503, 300, 301, 302, 303), ()),
}
ATTRIBUTES = {"regulator": EVERY, "waker": 'intervalVariability="countdown"',
              "listener": 'intervalVariability="triggered"',
              "tasks": 'intervalVariability="constant" intervalDecimal="0.2"'}
MIME = "application/org.fmi-standard.fmi-ls-bus.can; version=&quot;1.0.0&quot;"
SEEN = ("frames", "order", "at", "confirmed", "confirmed_at", "lost", "print", "errors")
MODELS["bus_node"] = (
    ['<Clock name="Powertrain.Rx_Clock" valueReference="500" causality="input" intervalVariability="triggered"/>',
     '<Clock name="Powertrain.Tx_Clock" valueReference="501" {attributes}/>',
     f'<Binary name="Powertrain.Rx_Data" valueReference="600" causality="input" variability="discrete" clocks="500" '
     f'mimeType="{MIME}" maxSize="512"><Start value=""/></Binary>',
     f'<Binary name="Powertrain.Tx_Data" valueReference="601" causality="output" variability="discrete" clocks="501" '
     f'mimeType="{MIME}" maxSize="512"/>',
     *(real(name, 300 + i, "output", "500") for i, name in enumerate(SEEN))],
    (601, *range(300, 308)), ())
ATTRIBUTES["bus_node"] = 'causality="output" intervalVariability="triggered"'
COUNTDOWN = 'causality="input" intervalVariability="countdown"'
TERMINALS = {"bus_node": """<?xml version="1.0" encoding="UTF-8"?>
<fmiTerminalsAndIcons fmiVersion="3.0"><Terminals>
<Terminal name="Powertrain" matchingRule="org.fmi-ls-bus.transceiver" terminalKind="org.fmi-ls-bus.network-terminal">
""" + "".join(f'<TerminalMemberVariable variableName="Powertrain.{name}" memberName="{name}" variableKind="signal"/>\n'
              for name in ("Rx_Data", "Tx_Data", "Rx_Clock", "Tx_Clock")) + """
</Terminal></Terminals></fmiTerminalsAndIcons>
"""}
INTERFACES = {"me": ("ModelExchange", ""), "se": ("ScheduledExecution", ""),
              "cs": ("CoSimulation", ' hasEventMode="true" '
                                     'canHandleVariableCommunicationStepSize="true"')}


@functools.cache
def compiled(model, defines):
    sources = [SOURCE / f"{model}.c", SOURCE / "clocked.c"]
    arguments = ["-O0", "-fPIC", "-shared", *(f"-D{each}" for each in defines), *sources, "-lm"]
    library = LIBRARIES / f"{model}_{print_of(arguments, [*sources, SOURCE / 'clocked.h'])}.so"
    if not library.exists():
        LIBRARIES.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=LIBRARIES) as folder:
            made = Path(folder) / library.name
            subprocess.run(["cc", *arguments, "-o", made], check=True)
            made.rename(library)  # whole, whoever else makes it
    return library


def build(folder, model, kinds=("me",), attributes=None, defines=(), name=None, state=True,
          change=lambda text: text):
    """Path of a new FMU in `folder`; `attributes`: of its clock, `change`: of its description."""
    variables, outputs, derivatives = MODELS[model]
    text = ('<?xml version="1.0" encoding="UTF-8"?>\n<fmiModelDescription fmiVersion="3.0" '
            f'modelName="{model}" instantiationToken="{{test}}">\n')
    saves = ' canGetAndSetFMUState="true" canSerializeFMUState="true"' if state else ""
    for kind in kinds:
        element, more = INTERFACES[kind]
        text += f'  <{element} modelIdentifier="{model}"{saves}{more}/>\n'
    text += "  <ModelVariables>\n"
    for variable in variables:
        own = attributes if attributes is not None else ATTRIBUTES[model]
        text += "    " + variable.replace("{attributes}", own) + "\n"
    text += "  </ModelVariables>\n  <ModelStructure>\n"
    text += "".join(f'    <Output valueReference="{r}"/>\n' for r in outputs)
    text += "".join(f'    <ContinuousStateDerivative valueReference="{r}"/>\n'
                    for r in derivatives)
    path = Path(folder) / f"{name or model}.fmu"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("modelDescription.xml",
                         change(text + "  </ModelStructure>\n</fmiModelDescription>\n"))
        if model in TERMINALS:
            archive.writestr("terminalsAndIcons/terminalsAndIcons.xml", TERMINALS[model])
        archive.write(compiled(model, tuple(defines)), f"binaries/x86_64-linux/{model}.so")
    return path
