"""Compiles the models in source/ to FMUs of either version, with and without each capability."""
import subprocess
import zipfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parent / "source"

# name: (states, inputs, outputs with feedthrough, outputs without, parameters); (name, unit, start)
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
}
UNITS = {"m": 'm="1"', "m/s": 'm="1" s="-1"', "N": 'kg="1" m="1" s="-2"', "kg": 'kg="1"', "1": "",
         "cm": 'm="1" factor="0.01"'}
BEHAVIOURS = ["behaves", "forgets", "discards", "fatal", "nan_output", "fixed_step", "crashes",
              "floods", "returns_early"]


def variables(model):
    """(reference, name, unit, causality, start, derivative_of) in the order of the description."""
    part = MODELS[model]
    rows = [(i, n, u, "local", s, None) for i, (n, u, s) in enumerate(part["states"])]
    rows += [(100 + i, f"der({n})", "", "local", None, i)
             for i, (n, _, _) in enumerate(part["states"])]
    rows += [(200 + i, n, u, "input", s, None) for i, (n, u, s) in enumerate(part["inputs"])]
    rows += [(300 + i, n, u, "output", None, None) for i, (n, u, _) in enumerate(part["outputs"])]
    rows += [(400 + i, n, u, "parameter", s, None)
             for i, (n, u, s) in enumerate(part["parameters"])]
    return rows


def flags(values):
    return " ".join(f'{name}="{str(value).lower()}"' for name, value in values.items())


def interfaces(model, version, kinds, capabilities):
    text = ""
    for kind in kinds:
        element = "CoSimulation" if kind == "cs" else "ModelExchange"
        cs_only = ("canHandleVariableCommunicationStepSize", "canInterpolateInputs",
                   "maxOutputDerivativeOrder", "hasEventMode", "providesIntermediateUpdate",
                   "fixedInternalStepSize")
        own = {k: v for k, v in capabilities.items() if kind == "cs" or k not in cs_only}
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
            "tool": ("needsExecutionTool",) * 2}
    result = {}
    for name in names:
        if name == "slopes":
            result["maxOutputDerivativeOrder"] = 1
        elif long[name][version - 2]:
            result[long[name][version - 2]] = True
    return result


def description(model, version, kinds, names, with_states):
    part = MODELS[model]
    rows = variables(model)
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
    text += "  </UnitDefinitions>\n  <ModelVariables>\n"
    if part.get("indicators") and version == 3:
        rows.append((500, "indicator", "", "local", None, None))
    if version == 3:
        rows.append((999, "time", "", "independent", None, None))
    for reference, name, unit, causality, start, derivative_of in rows:
        common = f'name="{name}" valueReference="{reference}" causality="{causality}"'
        if causality == "parameter":
            common += ' variability="fixed"'
        if causality == "local" and start is not None:
            common += ' initial="exact"'
        own = f' unit="{unit}"' if unit else ""
        own += f' start="{start!r}"' if start is not None else ""
        if derivative_of is not None:
            own += f' derivative="{index[derivative_of] if version == 2 else derivative_of}"'
        if version == 2:
            text += f"    <ScalarVariable {common}><Real{own}/></ScalarVariable>\n"
        else:
            if causality == "input" and "update" in names:
                own += ' intermediateUpdate="true"'
            text += f"    <Float64 {common}{own}/>\n"
    text += "  </ModelVariables>\n  <ModelStructure>\n"
    states = range(len(part["states"])) if with_states else []
    if version == 2:
        text += "    <Outputs>\n"
        for i, (_, _, inputs) in enumerate(part["outputs"]):
            known = [index[200 + j] for j in inputs] + [index[j] for j in states]
            text += (f'      <Unknown index="{index[300 + i]}" '
                     f'dependencies="{" ".join(map(str, known))}"/>\n')
        text += "    </Outputs>\n"
        if states:
            text += "    <Derivatives>\n" + "".join(
                f'      <Unknown index="{index[100 + i]}"/>\n' for i in states)
            text += "    </Derivatives>\n"
    else:
        for i, (_, _, inputs) in enumerate(part["outputs"]):
            known = [200 + j for j in inputs] + list(states)
            text += (f'    <Output valueReference="{300 + i}" '
                     f'dependencies="{" ".join(map(str, known))}"/>\n')
        for i in states:
            text += f'    <ContinuousStateDerivative valueReference="{100 + i}"/>\n'
        if part.get("indicators"):
            text += '    <EventIndicator valueReference="500"/>\n'
    return text + "  </ModelStructure>\n</fmiModelDescription>\n"


def build(folder, model, version, kinds=("cs",), capabilities=("state", "variable"),
          behaviour="behaves", states=True, defines=(), name=None, libraries=()):
    """Path of a new FMU in `folder`."""
    folder = Path(folder)
    path = folder / f"{name or model}.fmu"
    library = folder / f"{model}.so"
    subprocess.run(["cc", "-O2", "-fPIC", "-shared", "-fvisibility=default",
                    f"-DBEHAVIOUR={behaviour.upper()}", *(f"-D{d}" for d in defines), "-o", library,
                    SOURCE / f"{model}.c", SOURCE / f"fmi{version}.c", *libraries, "-lm"], check=True)
    platform = "linux64" if version == 2 else "x86_64-linux"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("modelDescription.xml",
                         description(model, version, kinds, capabilities, states))
        archive.write(library, f"binaries/{platform}/{model}.so")
        archive.writestr("resources/readme.txt", "a resource\n")
    library.unlink()
    return path
