"""Generated models made smaller as long as something remains true of them."""
import copy


def _without_part(model, name):
    other = copy.deepcopy(model)
    del other.parts[name]
    other.links = [x for x in other.links if name not in (x.source[0], x.target[0])]
    return other


def _without_constraints(model):
    other = copy.deepcopy(model)
    other.constraints = []
    return other


def candidates(model):
    """Models with one thing less each, large things first."""
    bound = model.constrained()
    for name in model.parts:
        if len(model.parts) > 1 and name not in bound:
            yield _without_part(model, name)
    if model.constraints:
        yield _without_constraints(model)
    for k in range(len(model.links)):
        other = copy.deepcopy(model)
        del other.links[k]
        yield other
    for k, link in enumerate(model.links):
        if link.delay or link.hold:
            other = copy.deepcopy(model)
            other.links[k].delay, other.links[k].hold = 0.0, False
            yield other
    for name, part in model.parts.items():
        for k in range(len(part.when)):
            other = copy.deepcopy(model)
            del other.parts[name].when[k]
            yield other
        for y in part.outputs:
            if len(part.outputs) > 1 and all(x.source != (name, y) for x in model.links):
                other = copy.deepcopy(model)
                del other.parts[name].outputs[y]
                yield other
        for u in part.inputs:
            used = any(u in str(e) for e in part.expressions())
            if not used and name not in bound:
                other = copy.deepcopy(model)
                del other.parts[name].inputs[u]
                other.links = [x for x in other.links if x.target != (name, u)]
                yield other
    if model.stop > 0.1:
        other = copy.deepcopy(model)
        other.stop = float(f"{model.stop * 0.7:.3g}")
        yield other


def smaller(model, remains):
    """The first candidate of which it is true, and so on, until there is none."""
    while True:
        found = next((c for c in candidates(model) if remains(c)), None)
        if found is None:
            return model
        model = found
