"""Compiles the models in source/ to FMUs of each version, with and without each capability."""
import functools
import hashlib
import os
import subprocess
import tempfile
import zipfile
from pathlib import Path

import fmi1_description

SOURCE = Path(__file__).resolve().parent / "source"

# States, parameters: (name, unit, start); inputs: the same, and a type unless it is a continuous
# real; outputs: (name, unit, inputs that act directly), and a type. Arrays have a length behind the
# type; FMI 1 and 2 get their entries one by one.
MODELS = {
    "left": dict(states=[("x_state", "m", 1), ("v_state", "m/s", 0)], inputs=[("f", "N", 20000)],
                 outputs=[("x", "m", []), ("v", "m/s", [])],
                 parameters=[("m", "kg", 5), ("c", "", 1e4), ("d", "", 10)]),
    "right": dict(states=[("x_state", "m", 3), ("v_state", "m/s", 0)],
                  inputs=[("x_left", "m", 1), ("v_left", "m/s", 0)],
                  outputs=[("f", "N", [0, 1]), ("x", "m", []), ("v", "m/s", [])],
                  parameters=[("m", "kg", 80), ("c", "", 1e5), ("d", "", 40),
                              ("c_couple", "", 1e4), ("d_couple", "", 10)]),
    "prey": dict(states=[("x", "1", 1)], inputs=[("predators", "1", 1)],
                 outputs=[("amount", "1", [])],
                 parameters=[("birth", "", 2 / 3), ("predation", "", 4 / 3)]),
    "predator": dict(states=[("x", "1", 1)], inputs=[("prey", "1", 1)],
                     outputs=[("amount", "1", [])],
                     parameters=[("death", "", 1), ("growth", "", 1)]),
    "ball": dict(states=[("h_state", "m", 1), ("v_state", "m/s", 0)], inputs=[("push", "", 0)],
                 outputs=[("h", "m", []), ("v", "m/s", []), ("bounces", "", [])],
                 parameters=[("g", "", 9.81), ("e", "", 0.7)], indicators=1),
    "bouncer": dict(states=[("h_state", "m", 1), ("v_state", "m/s", 0)],
                    inputs=[("table_height", "m", 0), ("table_speed", "m/s", 0)],
                    outputs=[("h", "m", []), ("v", "m/s", []), ("bounces", "", [])],
                    parameters=[("g", "", 9.81), ("e", "", 0.8)], indicators=1),
    "thermostat": dict(states=[], inputs=[("temperature", "", 20)],
                       outputs=[("heat", "", [], "Boolean")], parameters=[], indicators=1),
    "square": dict(states=[("x_state", "", 0)], inputs=[("u", "", 0)],
                   outputs=[("wave", "", []), ("saw", "", []), ("x", "", [])], parameters=[]),
    "stair": dict(states=[], inputs=[("gain", "", 1, "Integer"), ("on", "", "true", "Boolean"),
                                     ("offset", "", 0, "discrete")],
                  outputs=[("count", "", [], "Integer"), ("level", "", [0, 1, 2], "discrete"),
                           ("high", "", [], "Boolean")], parameters=[]),
    "ticker": dict(states=[], inputs=[], outputs=[("count", "", [], "Integer")], parameters=[]),
    "heater": dict(states=[("T_state", "", 0.5), ("s_state", "", 0.5)], inputs=[("draught", "", 0)],
                   outputs=[("T", "", []), ("sensor", "", []), ("switches", "", [])],
                   parameters=[("q", "", 1), ("low", "", 0.2), ("high", "", 0.7)],
                   indicators=1),
    "counter": dict(states=[("x_state", "", 0)], inputs=[("more", "", 0)],
                    outputs=[("x", "", []), ("count", "", [])], parameters=[]),
    "chatter": dict(states=[("x_state", "", 0.5)], inputs=[("push", "", 0)],
                    outputs=[("x", "", [])], parameters=[], indicators=1),
    "mixed": dict(states=[("x_state", "", 0.5)],
                  inputs=[("u", "", 0), ("n", "", 1, "Integer"), ("on", "", "true", "Boolean"),
                          ("d", "", 0, "discrete"), ("level", "", 1, "Enumeration")],
                  outputs=[("y", "", [0]), ("count", "", [1], "Integer"),
                           ("high", "", [1], "Boolean"), ("next_level", "", [4], "Enumeration"),
                           ("broken", "", [3], "discrete")], parameters=[]),
    "arrays": dict(states=[("x_state", "", "1 2 3", "Real", 3)],
                   inputs=[("u", "", "0 0 0", "Real", 3)],
                   outputs=[("y", "", [0], "Real", 3), ("sum", "", [])], parameters=[]),
    "single": dict(states=[("x_state", "", 0)], inputs=[("u", "", 0, "Float32")],
                   outputs=[("y", "", [], "Float32"), ("exact", "", [])], parameters=[]),
    "relay": dict(states=[("x_state", "", 0)], inputs=[("u", "", 0)],
                  outputs=[("heat", "", []), ("x", "", [])], parameters=[]),
    "leaps": dict(states=[("x_state", "", 0)], inputs=[("u", "", 0)], outputs=[("y", "", [])],
                  parameters=[]),
    "follow": dict(states=[], inputs=[("u", "", 0)],
                   outputs=[("y", "", [0]), ("n", "", [], "Integer"), ("m", "", [], "discrete")],
                   parameters=[]),
    "chop": dict(states=[("x_state", "", 0)], inputs=[("u", "", 0)],
                 outputs=[("y", "", [0]), ("x", "", [])], parameters=[]),
    "jumper": dict(states=[("x_state", "", 0)], inputs=[("u", "", 0)], outputs=[("y", "", [])],
                   parameters=[]),
}
UNITS = {"m": 'm="1"', "m/s": 'm="1" s="-1"', "N": 'kg="1" m="1" s="-2"', "kg": 'kg="1"', "1": "",
         "cm": 'm="1" factor="0.01"'}
ITEMS = '<Item name="single" value="1"/><Item name="double" value="2"/>'
TYPES = {2: f'  <TypeDefinitions><SimpleType name="Level"><Enumeration>{ITEMS}</Enumeration>'
            "</SimpleType></TypeDefinitions>\n",
         3: f'  <TypeDefinitions><EnumerationType name="Level">{ITEMS}</EnumerationType>'
            "</TypeDefinitions>\n"}


def variables(model, version):
    """(reference, name, unit, causality, start, derivative_of, type, length) in the description's
    order; length 0: no array."""
    part = MODELS[model]

    def numbered(base, entries):
        for entry in entries:
            length = entry[4] if len(entry) > 4 else 0
            yield base, entry, length
            base += max(1, length)

    def typed(base, entries, causality, with_start=True, rate=False):
        rows = []
        for reference, entry, length in numbered(base, entries):
            name, kind = entry[0], entry[3] if len(entry) > 3 else "Real"
            if rate:
                name, start, of = f"der({name})", None, reference - base
            else:
                start, of = entry[2] if with_start else None, None
            if length and version < 3:
                values = str(start).split() if start is not None else [None] * length
                rows += [(reference + k, f"{name}[{k + 1}]", entry[1], causality, values[k],
                          None if of is None else of + k, kind, 0) for k in range(length)]
            else:
                rows.append((reference, name, entry[1], causality, start, of, kind, length))
        return rows

    return (typed(0, part["states"], "local")
            + [(r, n, "", c, s, o, k, m)
               for r, n, _, c, s, o, k, m in typed(100, part["states"], "local", rate=True)]
            + typed(200, part["inputs"], "input")
            + typed(300, part["outputs"], "output", with_start=False)
            + typed(400, part["parameters"], "parameter"))


def flags(values):
    return " ".join(f'{name}="{str(value).lower()}"' for name, value in values.items())


def interfaces(model, version, kinds, capabilities):
    text = ""
    for kind in kinds:
        element = "CoSimulation" if kind == "cs" else "ModelExchange"
        cs_only = ("canHandleVariableCommunicationStepSize", "canInterpolateInputs",
                   "maxOutputDerivativeOrder", "hasEventMode", "providesIntermediateUpdate",
                   "fixedInternalStepSize")
        me_only = ("completedIntegratorStepNotNeeded", "needsCompletedIntegratorStep")
        other = cs_only if kind == "me" else me_only
        own = {k: v for k, v in capabilities.items() if k not in other}
        text += f'  <{element} modelIdentifier="{model}" {flags(own)}/>\n'
    return text


def capabilities_of(version, names):
    long = {"state": ("canGetAndSetFMUstate", "canGetAndSetFMUState"),
            "serialize": ("canSerializeFMUstate", "canSerializeFMUState"),
            "directional": ("providesDirectionalDerivative", "providesDirectionalDerivatives"),
            "variable": ("canHandleVariableCommunicationStepSize",) * 2,
            "interpolate": ("canInterpolateInputs", None),
            "update": (None, "providesIntermediateUpdate"),
            "event_mode": (None, "hasEventMode"),
            "single": ("canBeInstantiatedOnlyOncePerProcess",) * 2,
            "tool": ("needsExecutionTool",) * 2,
            "no_step_events": ("completedIntegratorStepNotNeeded", None),
            "step_events": (None, "needsCompletedIntegratorStep")}
    result = {}
    for name in names:
        if name == "tunable":
            continue
        if name == "slopes":
            result["maxOutputDerivativeOrder"] = 1
        elif long[name][version - 2]:
            result[long[name][version - 2]] = True
    return result


def description(model, version, kinds, names, with_states, dependencies):
    part = MODELS[model]
    rows = variables(model, version)
    index = {row[0]: i + 1 for i, row in enumerate(rows)}
    token = "guid" if version == 2 else "instantiationToken"
    head = (f'<?xml version="1.0" encoding="UTF-8"?>\n<fmiModelDescription fmiVersion="{version}.0" '
            f'modelName="{model}" {token}="{{test}}"')
    if version == 2:
        head += f' numberOfEventIndicators="{part.get("indicators", 0)}"'
    text = head + ">\n" + interfaces(model, version, kinds, capabilities_of(version, names))
    text += "  <UnitDefinitions>\n"
    for name, base in UNITS.items():
        text += f'    <Unit name="{name}"><BaseUnit {base}/></Unit>\n'
    text += "  </UnitDefinitions>\n" + TYPES[version] + "  <ModelVariables>\n"
    outputs = [row for row in rows if 300 <= row[0] < 400]
    inputs_of = {row[0]: acting for row, acting in zip(outputs, acting_inputs(model, version))}
    states = [row[0] for row in rows if row[0] < 100] if with_states else []
    if part.get("indicators") and version == 3:
        rows.append((500, "indicator", "", "local", None, None, "Real", 0))
    if version == 3:
        rows.append((999, "time", "", "independent", None, None, "Real", 0))
    for reference, name, unit, causality, start, derivative_of, kind, length in rows:
        common = f'name="{name}" valueReference="{reference}" causality="{causality}"'
        if causality == "parameter":
            common += f' variability="{"tunable" if "tunable" in names else "fixed"}"'
        elif kind not in ("Real", "Float32"):
            common += ' variability="discrete"'
        if causality == "local" and start is not None:
            common += ' initial="exact"'
        own = f' unit="{unit}"' if unit else ""
        own += f' start="{start}"' if start is not None else ""
        if derivative_of is not None:
            own += f' derivative="{index[derivative_of] if version == 2 else derivative_of}"'
        if kind == "Enumeration":
            own += ' declaredType="Level"'
        element = "Real" if kind == "discrete" else kind
        if version == 2:
            element = "Real" if element == "Float32" else element
            text += f"    <ScalarVariable {common}><{element}{own}/></ScalarVariable>\n"
        else:
            if causality == "input" and "update" in names:
                own += ' intermediateUpdate="true"'
            element = {"Real": "Float64", "Integer": "Int32"}.get(element, element)
            inside = f'><Dimension start="{length}"/></{element}>' if length else "/>"
            text += f"    <{element} {common}{own}{inside}\n"
    text += "  </ModelVariables>\n  <ModelStructure>\n"
    if version == 2:
        text += "    <Outputs>\n"
        for reference, inputs in inputs_of.items():
            known = [index[r] for r in [*inputs, *states]]
            text += f'      <Unknown index="{index[reference]}"{depends(known, dependencies)}/>\n'
        text += "    </Outputs>\n"
        if states:
            text += "    <Derivatives>\n" + "".join(
                f'      <Unknown index="{index[100 + r]}"/>\n' for r in states)
            text += "    </Derivatives>\n"
    else:
        for reference, inputs in inputs_of.items():
            known = [*inputs, *states]
            text += f'    <Output valueReference="{reference}"{depends(known, dependencies)}/>\n'
        for r in states:
            text += f'    <ContinuousStateDerivative valueReference="{100 + r}"/>\n'
        if part.get("indicators"):
            text += '    <EventIndicator valueReference="500"/>\n'
    return text + "  </ModelStructure>\n</fmiModelDescription>\n"


def depends(known, told):
    return f' dependencies="{" ".join(map(str, known))}"' if told else ""


def acting_inputs(model, version):
    """References of the inputs that act directly on each output of the description."""
    part = MODELS[model]
    first, references = 200, []
    for entry in part["inputs"]:
        length = entry[4] if len(entry) > 4 else 0
        spread = length if version < 3 else 0
        references.append([first + k for k in range(spread)] if spread else [first])
        first += max(1, length)
    for entry in part["outputs"]:
        length = entry[4] if len(entry) > 4 and version < 3 else 1
        for _ in range(length):
            yield [r for i in entry[2] for r in references[i]]


TEMPORARY = tempfile.TemporaryDirectory(prefix="concord_fmus_")
#: Where ctest says so all test programs have their libraries in common.
LIBRARIES = Path(os.environ.get("CONCORD_FMU_LIBRARIES", TEMPORARY.name))


def print_of(arguments, sources):
    """Changes with whatever may change the library."""
    found = hashlib.sha256("\0".join(map(str, arguments)).encode())
    for path in sources:
        found.update(path.read_bytes())
    return found.hexdigest()[:32]


@functools.cache
def compiled(model, version, behaviour, defines, libraries):
    """The shared library, which many FMUs have in common; what is linked with others is this program's own."""
    defines = (*defines, *{1: (f"MODEL={model}",), 2: ("FMI2",), 3: ()}[version])
    sources = [SOURCE / f"{model}.c", SOURCE / f"fmi{version}.c"]
    arguments = ["-O0", "-fPIC", "-shared", "-fvisibility=default", f"-DBEHAVIOUR={behaviour.upper()}",
                 *(f"-D{d}" for d in defines), *sources, *libraries, "-lm"]
    return made(model, arguments, [*sources, SOURCE / "model.h"], Path(TEMPORARY.name) if libraries else LIBRARIES)


def made(model, arguments, sources, there=LIBRARIES):
    """The library that `cc` makes with these arguments, once for all."""
    library = there / f"{model}_{print_of(arguments, sources)}.so"
    if not library.exists():
        there.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=there) as folder:
            new = Path(folder) / library.name
            subprocess.run(["cc", *arguments, "-o", new], check=True)
            new.rename(library)  # whole, whoever else makes it
    return library


def build(folder, model, version, kinds=("cs",), capabilities=("state", "variable"),
          behaviour="behaves", states=True, defines=(), name=None, libraries=(), dependencies=True,
          more=""):
    """Path of a new FMU in `folder`; `more`: variables of FMI 1.0 as XML."""
    path = Path(folder) / f"{name or model}.fmu"
    if "variable" not in capabilities:
        defines = (*defines, "ONE_STEP_SIZE")
    if "tunable" in capabilities:
        defines = (*defines, "TUNABLE")
    library = compiled(model, version, behaviour, tuple(defines), tuple(libraries))
    platform = "x86_64-linux" if version == 3 else "linux64"
    if version == 1:
        kind, = kinds  # an FMU of FMI 1.0 has one
        text = fmi1_description.description(model, variables(model, 1), acting_inputs(model, 1), kind,
                                            capabilities, MODELS[model].get("indicators", 0),
                                            dependencies, more)
    else:
        text = description(model, version, kinds, capabilities, states, dependencies)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("modelDescription.xml", text)
        archive.write(library, f"binaries/{platform}/{model}.so")
        archive.writestr("resources/readme.txt", "a resource\n")
    return path
