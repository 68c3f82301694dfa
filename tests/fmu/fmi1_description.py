"""modelDescription.xml of FMI 1.0, of the models that fmu_factory compiles."""

FLAGS = {"variable": "canHandleVariableCommunicationStepSize", "interpolate": "canInterpolateInputs",
         "single": "canBeInstantiatedOnlyOncePerProcess"}


def implementation(capabilities):
    flags = "".join(f' {FLAGS[name]}="true"' for name in capabilities if name in FLAGS)
    if "slopes" in capabilities:
        flags += ' maxOutputDerivativeOrder="1"'
    inside = f'<Capabilities{flags} canHandleEvents="true"/>'
    if "tool" in capabilities:
        inside += '<Model entryPoint="model.x" type="application/x-fmu-sharedlibrary"/>'
    element = "CoSimulation_Tool" if "tool" in capabilities else "CoSimulation_StandAlone"
    return f"  <Implementation><{element}>{inside}</{element}></Implementation>\n"


def variable(row, inputs):
    """`inputs`: names that an output depends on, or None where nothing is said."""
    reference, name, unit, causality, start, _, kind, _ = row
    told = {"local": "internal", "parameter": "internal"}.get(causality, causality)
    own = f' unit="{unit}"' if unit else ""
    own += f' start="{start}"' if start is not None else ""
    own += ' declaredType="Level"' if kind == "Enumeration" else ""
    common = f'name="{name}" valueReference="{reference}" causality="{told}"'
    if causality == "parameter":
        common += ' variability="parameter"'
    elif kind not in ("Real", "Float32"):
        common += ' variability="discrete"'
    element = {"discrete": "Real", "Float32": "Real"}.get(kind, kind)
    inside = ""
    if inputs is not None:
        inside = f"<DirectDependency>{''.join(f'<Name>{i}</Name>' for i in inputs)}</DirectDependency>"
    return f"    <ScalarVariable {common}><{element}{own}/>{inside}</ScalarVariable>\n"


def description(model, rows, acting, kind, capabilities, indicators, dependencies, more=""):
    """The states have no names that anything tells from other variables; `more`: variables."""
    names = {row[0]: row[1] for row in rows}
    outputs = {row[0]: [names[r] for r in references]
               for row, references in zip([row for row in rows if row[3] == "output"], acting)}
    text = ('<?xml version="1.0" encoding="UTF-8"?>\n<fmiModelDescription fmiVersion="1.0" '
            f'modelName="{model}" modelIdentifier="{model}" guid="{{test}}" '
            f'numberOfContinuousStates="{sum(row[0] < 100 for row in rows)}" '
            f'numberOfEventIndicators="{indicators}">\n'
            '  <UnitDefinitions><BaseUnit unit="m"><DisplayUnitDefinition displayUnit="cm" '
            'gain="0.01"/></BaseUnit></UnitDefinitions>\n'
            '  <TypeDefinitions><Type name="Level"><EnumerationType min="1" max="2">'
            '<Item name="single"/><Item name="double"/></EnumerationType></Type>\n'
            '    <Type name="Length"><RealType unit="m" nominal="2"/></Type></TypeDefinitions>\n'
            '  <VendorAnnotations><Tool name="none"><Annotation name="a" value="b"/></Tool>'
            "</VendorAnnotations>\n  <ModelVariables>\n")
    for row in rows:
        text += variable(row, outputs.get(row[0]) if dependencies else None)
    text += more + "  </ModelVariables>\n"
    if kind == "cs":
        text += implementation(capabilities)
    return text + "</fmiModelDescription>\n"
