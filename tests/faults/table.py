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
SHARED = ("fmi2Instantiate", "fmi2SetupExperiment", "fmi2EnterInitializationMode",
          "fmi2ExitInitializationMode", "fmi2SetReal", "fmi2GetReal", "fmi2GetFMUstate",
          "fmi2SetFMUstate", "fmi2GetDirectionalDerivative", "fmi2Terminate", "fmi2FreeInstance")
CS = {"faults": ("throw", "exit", "abort", "segfault", "stack_overflow", "nan", "error", "fatal"),
      "calls": SHARED + ("fmi2SetRealInputDerivatives", "fmi2GetRealOutputDerivatives",
                         "fmi2DoStep")}
ME = {"faults": CS["faults"],
      "calls": SHARED + ("fmi2SetTime", "fmi2SetContinuousStates", "fmi2GetDerivatives",
                         "fmi2CompletedIntegratorStep", "fmi2NewDiscreteStates")}
KINDS = {"native": NATIVE, "cs": CS, "me": ME}
TITLES = {"native": "C++ subsystems", "cs": "FMUs, co-simulation", "me": "FMUs, model exchange"}
MAIN_CALL = {"native": "derivatives", "cs": "fmi2DoStep", "me": "fmi2GetDerivatives"}
# Calls that jfm alone does not make here: the method and options that do.
MADE_BY = {"jacobians": ("missiles", ()), "time_derivatives": ("missiles", ()),
           "fmi2GetDirectionalDerivative": ("missiles", ()),
           "fmi2SetFMUstate": ("ifosmondi", ("-cosim_predictor", "hold")),
           "fmi2GetRealOutputDerivatives": ("jfm", ("-subsystem_linearization", "false"))}
# NaN where nothing is a number; errors in calls that cannot report them.
SENSELESS = {("nan", call) for kind in KINDS.values() for call in kind["calls"]
             if call not in ("derivatives", "outputs", "fmi2DoStep", "fmi2GetReal",
                             "fmi2GetDerivatives")}
SENSELESS |= {(fault, call) for fault in ("error", "fatal")
              for call in ("fmi2Instantiate", "fmi2FreeInstance", "fmi2Terminate")}
# Optional calls that report an error lose the capability, not the run.
SENSELESS |= {("error", call) for call in SHARED + CS["calls"]
              if "Derivative" in call or "FMUstate" in call}


def by_call(kind):
    start = ("fmi2SetupExperiment", "fmi2EnterInitializationMode", "fmi2ExitInitializationMode",
             "fmi2NewDiscreteStates")
    usual = ("jfm", ())
    return [Fault(kind, fault, call, MADE_BY.get(call, usual)[0],
                  time=0.0 if call in start else 0.5, options=MADE_BY.get(call, usual)[1])
            for call in KINDS[kind]["calls"] for fault in KINDS[kind]["faults"]
            if (fault, call) not in SENSELESS]


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
