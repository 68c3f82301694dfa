"""The whole fault table, by hand or from tests/long.sh: table.py [--markdown] [--jobs N] [--only kind].

Every fault in every call on the last of two ranks, and the worst faults under every method on the
first, the last and all ranks. Prints doc/faults.md's tables and exits with 1 where a run is not as
promised.
"""
import argparse
import sys
from concurrent.futures import ThreadPoolExecutor

from fault_runs import METHODS, PLACES, Fault, run

NATIVE = {"faults": ("throw", "throw_number", "exit", "quick_exit", "abort", "segfault", "fpe",
                     "stack_overflow", "nan"),
          "calls": ("constructor", "interface", "derivatives", "outputs", "jacobians",
                    "time_derivatives", "output_slopes", "destructor")}
FMU_FAULTS = ("throw", "exit", "abort", "segfault", "stack_overflow", "nan", "error", "fatal")
BOTH = ("EnterInitializationMode", "ExitInitializationMode", "GetDirectionalDerivative", "Terminate",
        "FreeInstance")
BOTH_2 = tuple("fmi2" + call for call in BOTH + (
    "Instantiate", "SetupExperiment", "SetReal", "GetReal", "GetFMUstate", "SetFMUstate"))
BOTH_3 = tuple("fmi3" + call for call in BOTH + (
    "SetFloat64", "GetFloat64", "GetFMUState", "SetFMUState", "UpdateDiscreteStates"))
EXCHANGE = ("SetTime", "SetContinuousStates", "CompletedIntegratorStep")


def of(version, *calls):
    return tuple(f"fmi{version}{call}" for call in calls)


CS = {"faults": FMU_FAULTS,
      "calls": BOTH_2 + of(2, "SetRealInputDerivatives", "GetRealOutputDerivatives", "DoStep")}
ME = {"faults": FMU_FAULTS,
      "calls": BOTH_2 + of(2, *EXCHANGE, "GetDerivatives", "NewDiscreteStates")}
CS3 = {"faults": FMU_FAULTS,
       "calls": BOTH_3 + of(3, "InstantiateCoSimulation", "GetOutputDerivatives", "DoStep",
                            "IntermediateUpdate", "EnterStepMode")}
ME3 = {"faults": FMU_FAULTS,
       "calls": BOTH_3 + of(3, *EXCHANGE, "InstantiateModelExchange", "GetContinuousStateDerivatives",
                            "GetEventIndicators", "EnterContinuousTimeMode")}
KINDS = {"native": NATIVE, "cs": CS, "me": ME, "cs3": CS3, "me3": ME3}
TITLES = {"native": "C++ subsystems", "cs": "FMUs (FMI 2.0), co-simulation",
          "me": "FMUs (FMI 2.0), model exchange", "cs3": "FMUs (FMI 3.0), co-simulation",
          "me3": "FMUs (FMI 3.0), model exchange"}
MAIN_CALL = {"native": "derivatives", "cs": "fmi2DoStep", "me": "fmi2GetDerivatives",
             "cs3": "fmi3DoStep", "me3": "fmi3GetContinuousStateDerivatives"}
# Calls that jfm alone does not make here: the method and options that do.
MADE_BY = {"jacobians": ("missiles", ()), "time_derivatives": ("missiles", ()),
           **{call: ("missiles", ()) for call in of(2, "GetDirectionalDerivative")
              + of(3, "GetDirectionalDerivative")},
           **{call: ("ifosmondi", ("-cosim_predictor", "hold"))
              for call in of(2, "SetFMUstate") + of(3, "SetFMUState")},
           **{call: ("jfm", ("-subsystem_linearization", "false"))
              for call in of(2, "GetRealOutputDerivatives") + of(3, "GetOutputDerivatives")},
           "fmi3IntermediateUpdate": ("jacobi", ())}
FMU_CALLS = tuple(dict.fromkeys(CS["calls"] + ME["calls"] + CS3["calls"] + ME3["calls"]))
# NaN where nothing is a number; errors in calls that cannot report them.
NUMBERS = ("derivatives", "outputs", *MAIN_CALL.values(), "fmi2GetReal", "fmi3GetFloat64")
SENSELESS = {("nan", call) for call in NATIVE["calls"] + FMU_CALLS if call not in NUMBERS}
SENSELESS |= {(fault, call) for fault in ("error", "fatal") for call in FMU_CALLS
              if "Instantiate" in call or call[4:] in ("FreeInstance", "Terminate")}
# Optional calls that report an error lose the capability, not the run.
SENSELESS |= {("error", call) for call in FMU_CALLS
              if call[4:] in ("GetDirectionalDerivative", "SetRealInputDerivatives",
                              "GetRealOutputDerivatives", "GetOutputDerivatives")
              or "FMUstate" in call or "FMUState" in call}
# Without event mode, which it refuses at the start, an FMU is used all the same.
SENSELESS_OF = {"cs3": {("error", "fmi3UpdateDiscreteStates"), ("error", "fmi3EnterStepMode")}}
AT_ZERO = ("fmi2SetupExperiment", "fmi2NewDiscreteStates", "fmi3UpdateDiscreteStates",
           "fmi3EnterStepMode", "fmi3EnterContinuousTimeMode",
           *(call for call in FMU_CALLS if "InitializationMode" in call))


def by_call(kind):
    usual = ("jfm", ())
    return [Fault(kind, fault, call, MADE_BY.get(call, usual)[0],
                  time=0.0 if call in AT_ZERO else 0.5, options=MADE_BY.get(call, usual)[1])
            for call in KINDS[kind]["calls"] for fault in KINDS[kind]["faults"]
            if (fault, call) not in SENSELESS | SENSELESS_OF.get(kind, set())]


def by_method(kind):
    methods = [method for method in METHODS if kind == "native" or method != "monolithic"]
    return [Fault(kind, fault, MAIN_CALL[kind], method, place)
            for method in methods for fault in ("throw", "exit", "segfault") for place in PLACES]


def cell(results, fault):
    if fault not in results:
        return ""
    wrong = list(results[fault].complaints(fault))
    return "**" + "; ".join(wrong) + "**" if wrong else f"{results[fault].code}"


def print_calls(kind, results):
    faults = KINDS[kind]["faults"]
    print(f"\n## {TITLES[kind]}\n\n| call | " + " | ".join(faults) + " |")
    print("|---" * (len(faults) + 1) + "|")
    rows = {}
    for case in by_call(kind):
        rows.setdefault(case.call, {})[case.fault] = case
    for call, cases in rows.items():
        print(f"| `{call}` | " + " | ".join(
            cell(results, cases[fault]) if fault in cases else "" for fault in faults) + " |")


def print_methods(kind, results):
    cases = by_method(kind)
    columns = sorted({(case.fault, case.place) for case in cases})
    print(f"\n`{MAIN_CALL[kind]}`, by method and ranks that fail:\n")
    print("| method | " + " | ".join(f"{fault}, {place}" for fault, place in columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for method in dict.fromkeys(case.method for case in cases):
        row = {(case.fault, case.place): case for case in cases if case.method == method}
        print(f"| {method} | " + " | ".join(cell(results, row[column]) for column in columns)
              + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", choices=KINDS)
    parser.add_argument("--details", action="store_true", help="every run, with what it printed")
    options = parser.parse_args()
    kinds = [options.only] if options.only else list(KINDS)
    cases = [case for kind in kinds for case in by_call(kind) + by_method(kind)]
    with ThreadPoolExecutor(options.jobs) as pool:
        results = dict(zip(cases, pool.map(run, cases)))
    for kind in kinds:
        print_calls(kind, results)
        print_methods(kind, results)
    wrong = {case: list(ended.complaints(case)) for case, ended in results.items()}
    wrong = {case: what for case, what in wrong.items() if what}
    slowest = max(results.values(), key=lambda ended: ended.seconds)
    print(f"\n{len(results)} runs, {len(wrong)} not as promised; the slowest took "
          f"{slowest.seconds:.1f} s")
    for case, what in wrong.items():
        print(f"{case}: {'; '.join(what)}", *results[case].errors, sep="\n  ", file=sys.stderr)
    if options.details:
        for case, ended in results.items():
            print(case, ended.code, ended.status, ended.last, *ended.errors, sep=" | ",
                  file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
