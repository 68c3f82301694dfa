#include "settings/option_table.hpp"

// Of subsystems whose code is others'.

namespace concord {
namespace {

OptionTable<FmuOptions> make_fmu_options() {
  using F = FmuOptions;
  using O = Option<F>;
  return {
      O("fmu_interface", "what of an FMU is used; auto: model exchange where it is offered",
        one_of<FmuInterfaceChoice>(), at<&F::interface>),
      O("fmu_micro_steps",
        "micro-steps per macro-step with held inputs, for FMUs that take no polynomials",
        whole_number(1, 100'000), at<&F::micro_steps>),
      O("fmu_input_derivatives",
        "highest order of input derivatives given to FMUs that interpolate inputs",
        whole_number(0, 3), at<&F::input_derivatives>),
      O("fmu_probe", "try FMUs first, and withhold capabilities that they claim and don't have",
        flag(), at<&F::probe>),
      O("fmu_log", "messages of FMUs on stderr", flag(), at<&F::log>),
      O("fmu_platform",
        "folder of the FMU's binaries that is used, such as win64 or aarch64-linux; that of "
        "another platform is run by a process of its own",
        any_text(), at<&F::platform>)
          .by_default("this platform's, else one for which an emulator is there"),
      O("fmu_emulator", "command that starts programs of the FMU's platform", any_text(),
        at<&F::emulator>)
          .by_default("wine, qemu, or none for linux32"),
      O("fmu_host",
        "program of the FMU's platform that loads its binary (share/concord/fmu_host.c, compiled)",
        any_text(), at<&F::host>)
          .by_default("compiled where that platform's compiler is there, once"),
  };
}

OptionTable<IsolationOptions> make_isolation_options() {
  using I = IsolationOptions;
  using O = Option<I>;
  return {
      O("isolated",
        "FMUs, C++ subsystems from libraries and Python live in a process of their own, whose "
        "crash, exit or hang is a failure of the subsystem alone",
        flag(), at<&I::isolated>)
          .by_default("of Python, unless the run is Python's"),
      O("revive",
        "isolated ones that have died go on in a new process from the last communication point, "
        "where their states can be serialised",
        flag(), at<&I::revive>),
      O("call_limit",
        "time that a call of an isolated or remote one may take before it counts as hanging",
        positive_number(), at<&I::call_limit>)
          .in("s")
          .by_default("-cosim_hang_limit"),
  };
}

}  // namespace

const OptionTable<FmuOptions>& fmu_options() {
  static const auto options = make_fmu_options();
  return options;
}

const OptionTable<IsolationOptions>& isolation_options() {
  static const auto options = make_isolation_options();
  return options;
}

}  // namespace concord
