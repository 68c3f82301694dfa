#include "coupling/registry/couplings.hpp"

#include <sstream>

#include "coupling/collocation/collocation_coupling.hpp"
#include "coupling/estimates/compared_coupling.hpp"
#include "coupling/estimates/richardson_coupling.hpp"
#include "coupling/explicit/explicit_coupling.hpp"
#include "coupling/explicit/staggered_grid_coupling.hpp"
#include "coupling/implicit/implicit_coupling.hpp"
#include "coupling/implicit/missiles_coupling.hpp"
#include "coupling/implicit/monolithic_coupling.hpp"

namespace concord {
namespace {

std::string described_iteration(const Method& method) {
  std::ostringstream text;
  text << ", first guess by " << word(method.predictor) << ", rtol " << method.tolerance.relative
       << ", atol " << method.tolerance.absolute << ", at most " << method.max_it << " iterations";
  return text.str();
}

std::unique_ptr<Coupling> make_implicit(const Method& method, RankNetwork& subsystems,
                                        const SubsystemSettings& /*defaults*/,
                                        double loosest_rtol) {
  return std::make_unique<ImplicitCoupling>(method, subsystems, loosest_rtol);
}

std::unique_ptr<Coupling> make_missiles(const Method& method, RankNetwork& subsystems,
                                        const SubsystemSettings& /*defaults*/,
                                        double /*loosest_rtol*/) {
  return std::make_unique<MissilesCoupling>(method, subsystems);
}

std::unique_ptr<Coupling> make_explicit(const Method& method, RankNetwork& subsystems,
                                        const SubsystemSettings& /*defaults*/,
                                        double /*loosest_rtol*/) {
  if (method.takes_steps_twice()) {
    return std::make_unique<RichardsonCoupling>(method, subsystems);
  }
  if (method.schedule.half_steps_apart) {
    return std::make_unique<StaggeredGridCoupling>(method, subsystems);
  }
  return std::make_unique<ExplicitCoupling>(method, subsystems);
}

std::unique_ptr<Coupling> make_whole(const Method& /*method*/, RankNetwork& subsystems,
                                     const SubsystemSettings& defaults, double /*loosest_rtol*/) {
  return std::make_unique<MonolithicCoupling>(subsystems, defaults);
}

template <NodeFamily family>
std::unique_ptr<Coupling> make_collocation(const Method& method, RankNetwork& subsystems,
                                           const SubsystemSettings& /*defaults*/,
                                           double /*loosest_rtol*/) {
  return std::make_unique<CollocationCoupling>(method, family, subsystems);
}

std::string described_sweeps(const Method& method) {
  std::ostringstream text;
  text << ", " << method.nodes.value_or(Method::usual_nodes) << " nodes"
       << (method.chooses_nodes() ? " or more" : "") << ", rtol " << method.tolerance.relative
       << ", at most " << method.max_it << " sweeps";
  return text.str();
}

constexpr Solve collocation(const char* word, Solve::Create create) {
  return {
      .word = word,
      .by_option = false,
      .repeats = true,
      .at_nodes = true,
      .needs = {.equations = true},
      .refuses_hold =
          "-cosim_type gauss and radau hold nothing: inputs belong to the states at every node; "
          "leave -cosim_hold out",
      .refuses_schedule =
          "-cosim_type gauss and radau solve for all subsystems at once, so that "
          "-cosim_schedule sequential and hierarchical have nothing to bring; leave it out",
      .refuses_indirect =
          " answers to its unknown through states only (index 2 or 3), for which -cosim_type "
          "gauss and radau have no equations at the nodes yet; use -cosim_type jfm",
      .describe = described_sweeps,
      .create = create};
}

}  // namespace

constexpr Solve Solve::gauss = collocation("gauss", make_collocation<NodeFamily::gauss>);
constexpr Solve Solve::radau = collocation("radau", make_collocation<NodeFamily::radau>);

constexpr Solve Solve::snes{.word = "snes",
                            .iterates = true,
                            .needs = {.rollback = true},
                            .describe = described_iteration,
                            .create = make_implicit};

constexpr Solve Solve::missiles{
    .word = "missiles",
    .repeats = true,
    .needs = {.linearization = true},
    .refuses_hold =
        "-cosim_solve missiles predicts values and slopes for -cosim_hold hermite, and curvatures "
        "for quintic; leave the hold out, or use -cosim_solve snes",
    .refuses_schedule =
        "-cosim_solve missiles knows all inputs at t_{N+1} from one linear system before any "
        "subsystem runs, so that -cosim_schedule sequential and hierarchical have nothing to "
        "bring; use -cosim_schedule parallel, or -cosim_solve snes",
    .create = make_missiles};

constexpr Solve Solve::none{
    .word = "none",
    .from_past = true,
    .needs = {.outputs_of_constraints = true},
    .refuses_indirect =
        " answers to its unknown through states only, so that explicit methods cannot solve for "
        "it at the end of a macro-step; use -cosim_solve snes",
    .create = make_explicit};

constexpr Solve Solve::monolithic{
    .word = "monolithic",
    .by_option = false,
    .as_one = true,
    .needs = {.equations = true},
    .refuses_schedule =
        "-cosim_type monolithic is one system of equations, without an order of subsystems; leave "
        "-cosim_schedule out",
    .refuses_estimate =
        "-cosim_adapt estimates errors of the coupling, of which -cosim_type monolithic has none; "
        "leave it out",
    .refuses_indirect =
        " answers to its unknown through states only (index 2 or 3), so that no equation gives "
        "the unknown at one point in time, as -cosim_type monolithic needs; use -cosim_type jfm",
    .estimates_no_error =
        "monolithic couples nothing; compare with a run at a smaller -subsystem_rtol",
    .create = make_whole};

namespace {

constexpr Solve solves[] = {Solve::snes,       Solve::missiles, Solve::none,
                            Solve::monolithic, Solve::gauss,    Solve::radau};

Method preset(std::string type, Hold hold, Solve solve, std::string snes_type = "",
              Predictor predictor = Predictor::missiles) {
  Method method;
  method.type = std::move(type);
  method.hold = hold;
  method.solve = solve;
  method.snes_type = std::move(snes_type);
  method.predictor = predictor;
  return method;
}

Method with_defect(Defect defect, Method method) {
  method.estimator.defect = defect;
  return method;
}

Method in_schedule(Schedule schedule, Method method) {
  method.schedule = schedule;
  return method;
}

/// What sweeps leave, relative to sizes: below what high orders leave, at hardly a sweep more.
constexpr double sweeps_end = 1e-12;

Method converged_to(double relative, Method method) {
  method.tolerance.absolute = method.tolerance.relative = relative;
  return method;
}

}  // namespace

const std::vector<Method>& method_presets() {
  static const std::vector<Method> presets = {
      preset("jfm", Hold::hermite, Solve::snes, "newtonls"),
      preset("missiles", Hold::hermite, Solve::missiles),
      preset("jfm6", Hold::quintic, Solve::snes, "newtonls"),
      with_defect(Defect::linear, preset("missiles6", Hold::quintic, Solve::missiles)),
      preset("ifosmondi", Hold::hermite, Solve::snes, "nrichardson", Predictor::hold),
      preset("jacobi", Hold::zoh, Solve::none),
      in_schedule(Schedule::sequential, preset("gauss_seidel", Hold::zoh, Solve::none)),
      in_schedule(Schedule::hierarchical, preset("hierarchical", Hold::zoh, Solve::none)),
      in_schedule(Schedule::staggered_grid, preset("staggered_grid", Hold::zoh, Solve::none)),
      preset("extripol", Hold::extripol, Solve::none),
      preset("kuebler_schiehlen", Hold::foh, Solve::snes, "nrichardson", Predictor::hold),
      preset("monolithic", Hold::hermite, Solve::monolithic),
      converged_to(sweeps_end, preset("gauss", Hold::hermite, Solve::gauss)),
      converged_to(sweeps_end, preset("radau", Hold::hermite, Solve::radau)),
  };
  return presets;
}

std::span<const Solve> all_solves() { return solves; }

template <>
std::span<const WordOf<Method>> words_of<Method>() {
  static const auto words = [] {
    std::vector<WordOf<Method>> all;
    for (const Method& preset : method_presets()) {
      all.push_back({preset.type, preset});
    }
    return all;
  }();
  return words;
}

template <>
std::span<const WordOf<Solve>> words_of<Solve>() {
  static const auto words = [] {
    auto all = words_of_entries<Solve>(solves);
    std::erase_if(all, [](const WordOf<Solve>& one) { return !one.value.by_option; });
    return all;
  }();
  return words;
}

std::unique_ptr<Coupling> make_coupling(const Method& method, RankNetwork& subsystems,
                                        const SubsystemSettings& defaults, double loosest_rtol) {
  if (!method.compares_with_prediction()) {
    return method.solve.create(method, subsystems, defaults, loosest_rtol);
  }
  Method plain = method;
  plain.estimate = ErrorEstimate::none;
  return std::make_unique<ComparedCoupling>(
      plain.solve.create(plain, subsystems, defaults, loosest_rtol), method, subsystems);
}

}  // namespace concord
