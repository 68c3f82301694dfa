#include "subsystem/native/watched_model.hpp"

#include "subsystem/native/thrown_in_words.hpp"

namespace concord {
namespace {

class WatchedModel final : public OdeModel {
  // Before their uses: what they return is deduced.
  template <class Work>
  auto at(double t, const char* function, const Work& work) {
    place_.time = t;
    return call(function, work);
  }

  template <class Work>
  auto call(const char* function, const Work& work) const {
    const ForeignCall running(place_, function);
    try {
      return work();
    } catch (const RecoverableFailure&) {
      throw;
    } catch (...) {
      throw_in_words(place_, function);
    }
  }

 public:
  WatchedModel(std::unique_ptr<OdeModel> model, const char* what, const std::string& subsystem,
               const std::string& origin)
      : subsystem_(subsystem), origin_(origin), model_(std::move(model)) {
    place_.what = what;
    place_.subsystem = subsystem_.c_str();
    place_.origin = origin_.c_str();
    watch_foreign_code();
  }

  ~WatchedModel() override {
    const ForeignCall running(place_, "the destructor");
    model_.reset();
  }

  OdeInterface interface() const override {
    return call("interface", [&] { return model_->interface(); });
  }

  void derivatives(double t, std::span<const double> x, std::span<const double> u,
                   std::span<double> dxdt) override {
    at(t, "derivatives", [&] { model_->derivatives(t, x, u, dxdt); });
  }

  void outputs(double t, std::span<const double> x, std::span<const double> u,
               std::span<double> y) override {
    at(t, "outputs", [&] { model_->outputs(t, x, u, y); });
  }

  bool set_parameter(std::size_t parameter, double value) override {
    return call("set_parameter", [&] { return model_->set_parameter(parameter, value); });
  }

  std::optional<double> parameter(std::size_t parameter) override {
    return call("parameter", [&] { return model_->parameter(parameter); });
  }

  bool jacobians(double t, std::span<const double> x, std::span<const double> u,
                 const Jacobians& result) override {
    return at(t, "jacobians", [&] { return model_->jacobians(t, x, u, result); });
  }

  bool time_derivatives(double t, std::span<const double> x, std::span<const double> u,
                        const TimeDerivatives& result) override {
    return at(t, "time_derivatives", [&] { return model_->time_derivatives(t, x, u, result); });
  }

  bool output_slopes(double t, std::span<const double> x, std::span<const double> u,
                     const Motion& motion, std::span<double> dydt) override {
    return at(t, "output_slopes", [&] { return model_->output_slopes(t, x, u, motion, dydt); });
  }

  bool output_curvatures(double t, std::span<const double> x, std::span<const double> u,
                         const InputMotion& motion, std::span<double> d2ydt2) override {
    return at(t, "output_curvatures",
              [&] { return model_->output_curvatures(t, x, u, motion, d2ydt2); });
  }

 private:
  std::string subsystem_, origin_;
  ForeignPlace place_;
  std::unique_ptr<OdeModel> model_;
};

}  // namespace

std::unique_ptr<OdeModel> watched(std::unique_ptr<OdeModel> model, const char* what,
                                  const std::string& subsystem, const std::string& origin) {
  return std::make_unique<WatchedModel>(std::move(model), what, subsystem, origin);
}

}  // namespace concord
