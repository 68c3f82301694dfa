"""FMUs that send texts and bytes to each other (source/courier.c), and what they send."""
import subprocess
import zipfile
from pathlib import Path

import fmu_factory

SOURCE = fmu_factory.SOURCE / "courier.c"
PERIOD = 0.25
LONG = 100000

# (reference, name, type, causality, more attributes, start value, length of an array)
COMMON = [
    (0, "x", "Float64", "local", "", "0", 0),
    (1, "der(x)", "Float64", "local", "derivative", None, 0),
    (2, "u", "Float64", "input", "", "0", 0),
    (3, "y", "Float64", "output", "", None, 0),
    (4, "tick", "Int32", "output", "", None, 0),
    (5, "code", "Int32", "output", "", None, 0),
    (6, "count", "Int32", "output", "", None, 0),
    (7, "message", "String", "input", "", "nothing yet", 0),
    (8, "said", "String", "output", "", None, 0),
    (9, "echo", "String", "output", "", None, 0),
    (10, "greeting", "String", "parameter", "", "hello", 0),
]
ONLY_3 = [
    (11, "data", "Binary", "input", 'mimeType="application/x-courier" maxSize="200000"', "", 0),
    (12, "sent", "Binary", "output", 'mimeType="application/x-courier"', None, 0),
    (13, "data_echo", "Binary", "output", "", None, 0),
    (14, "words", "String", "input", "", ("", ""), 2),
    (15, "words_out", "String", "output", "", None, 2),
    (16, "key", "Binary", "parameter", "", "0102", 0),
    (17, "short_data", "Binary", "input", 'maxSize="4"', "", 0),
    (19, "key_out", "Binary", "output", 'mimeType="text/plain"', None, 0),
    (20, "words_echo", "String", "output", "", None, 2),
]


def said(k, greeting="hello"):
    if k % 4 == 0:
        return ""
    if k % 4 == 1:
        return f"{greeting}: Grüße 世界 {k}"
    if k % 4 == 2:
        return "".join(chr(ord("a") + i % 26) for i in range(LONG))
    return f"{greeting} {k}"


def sent(k):
    size = (0, 5, LONG)[k % 3]
    data = bytearray((i * 255 // 2 + k) % 256 for i in range(size))
    if size == 5:
        data[:4] = b"\0\1\0\xff"
    return bytes(data)


def code(text):
    return sum(text.encode()) % 7


def described(version, kinds, flags, terminals):
    token = "guid" if version == 2 else "instantiationToken"
    text = ('<?xml version="1.0" encoding="UTF-8"?>\n'
            f'<fmiModelDescription fmiVersion="{version}.0" modelName="courier" {token}="t"'
            + (' numberOfEventIndicators="0"' if version == 2 else "") + ">\n")
    state = "canGetAndSetFMUstate" if version == 2 else "canGetAndSetFMUState"
    serialize = "canSerializeFMUstate" if version == 2 else "canSerializeFMUState"
    for kind in kinds:
        element = "CoSimulation" if kind == "cs" else "ModelExchange"
        more = ' canHandleVariableCommunicationStepSize="true"' if kind == "cs" else ""
        if kind == "cs" and version == 3 and "event_mode" in flags:
            more += ' hasEventMode="true"'
        if kind == "me" and version == 2:
            more += ' completedIntegratorStepNotNeeded="true"'
        if "state" in flags:
            more += f' {state}="true" {serialize}="true"'
        text += f'  <{element} modelIdentifier="courier"{more}/>\n'
    text += "  <ModelVariables>\n"
    for reference, name, kind, causality, more, start, length in COMMON + (ONLY_3 if version == 3 else []):
        common = f'name="{name}" valueReference="{reference}" causality="{causality}"'
        if causality == "parameter":
            common += ' variability="fixed"'
        elif kind != "Float64":
            common += ' variability="discrete"'
        derivative = more == "derivative"
        more = "" if derivative else more
        if name == "x":
            common += ' initial="exact"'
        if version == 2:
            element = {"Float64": "Real", "Int32": "Integer"}.get(kind, kind)
            own = f' start="{start}"' if start is not None else ""
            own += ' derivative="1"' if derivative else ""
            text += f"    <ScalarVariable {common}><{element}{own}/></ScalarVariable>\n"
            continue
        inside = f'<Dimension start="{length}"/>' if length else ""
        if kind in ("String", "Binary") and start is not None:
            for one in start if isinstance(start, tuple) else (start,):
                inside += f'<Start value="{one}"/>'
        elif start is not None:
            more += f' start="{start}"'
        more += ' derivative="0"' if derivative else ""
        text += f"    <{kind} {common} {more}>{inside}</{kind}>\n"
    if version == 3:
        text += '    <Float64 name="time" valueReference="18" causality="independent"/>\n'
    text += "  </ModelVariables>\n  <ModelStructure>\n"
    if version == 2:
        text += "    <Outputs>" + "".join(
            f'<Unknown index="{i + 1}" dependencies="{known}"/>'
            for i, known in ((3, "1"), (4, ""), (5, "8"), (6, "8"), (8, ""), (9, "8"))) + "</Outputs>\n"
        text += '    <Derivatives><Unknown index="2"/></Derivatives>\n'
    else:
        for reference, known in ((3, "0"), (4, ""), (5, "7"), (6, "7"), (8, ""), (9, "7"), (12, ""),
                                 (13, "11"), (15, ""), (19, ""), (20, "14")):
            text += f'    <Output valueReference="{reference}" dependencies="{known}"/>\n'
        text += '    <ContinuousStateDerivative valueReference="1"/>\n'
    return text + "  </ModelStructure>\n</fmiModelDescription>\n"


def build(folder, name, version, kinds=("cs",), flags=("state",), terminals=None):
    """The path of a new FMU; `terminals`: the text of its terminalsAndIcons.xml."""
    defines = ("FMI3",) if version == 3 else ()
    arguments = ["-O0", "-fPIC", "-shared", "-fvisibility=hidden", *(f"-D{d}" for d in defines), SOURCE, "-lm"]
    library = fmu_factory.made(SOURCE.stem, arguments, [SOURCE])
    path = Path(folder) / f"{name}.fmu"
    platform = "linux64" if version == 2 else "x86_64-linux"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("modelDescription.xml", described(version, kinds, flags, terminals))
        archive.write(library, f"binaries/{platform}/courier.so")
        if terminals:
            archive.writestr("terminalsAndIcons/terminalsAndIcons.xml", terminals)
    return path
