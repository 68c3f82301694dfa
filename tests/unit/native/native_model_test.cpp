#include "subsystem/native/native_model.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "concord/errors.hpp"

namespace concord {
namespace {

class Gain : public OdeModel {
 public:
  explicit Gain(const Parameters& parameters) : factor_(parameters.number("factor")) {}
  OdeInterface interface() const override {
    return {.inputs = {{"u", "", 0.0}}, .states = {}, .outputs = {{"y", ""}}, .feedthrough = {}};
  }
  void derivatives(double, std::span<const double>, std::span<const double>,
                   std::span<double>) override {}
  void outputs(double, std::span<const double>, std::span<const double> u,
               std::span<double> y) override {
    y[0] = factor_ * u[0];
  }

 private:
  double factor_;
};

/// Has the interface that the parameter `fault` asks for.
class Faulty : public Gain {
 public:
  explicit Faulty(const Parameters& parameters)
      : Gain(Parameters().set("factor", 1.0)), fault_(parameters.text("fault")) {}
  OdeInterface interface() const override {
    OdeInterface result = Gain::interface();
    if (fault_ == "name") {
      result.outputs.own()[0].name = "y[1]";
    } else if (fault_ == "twice") {
      result.inputs.push_back(result.inputs[0]);
    } else if (fault_ == "nan") {
      result.states = {{"x", "", std::numeric_limits<double>::quiet_NaN()}};
    } else if (fault_ == "feedthrough") {
      result.feedthrough = {{0, 1}};
    }
    return result;
  }

 private:
  std::string fault_;
};

}  // namespace
}  // namespace concord

CONCORD_REGISTER_SUBSYSTEM("gain", concord::Gain)
CONCORD_REGISTER_SUBSYSTEM("faulty", concord::Faulty)
CONCORD_REGISTER_SUBSYSTEM("double", concord::Gain)
CONCORD_REGISTER_SUBSYSTEM("double", concord::Gain)

namespace concord {
namespace {

NativeDescription description(const std::string& type, const std::string& library = "") {
  NativeDescription result;
  result.subsystem = "wing";
  result.type = type;
  result.library = library;
  result.location = "m.yaml:5";
  result.type_location = "m.yaml:6";
  result.library_location = "m.yaml:7";
  return result;
}

std::string error_of(const NativeDescription& native) {
  try {
    make_native_model(native);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const std::filesystem::path library_path = NATIVE_TEST_SUBSYSTEMS;

TEST(NativeModel, may_be_compiled_into_the_program) {
  NativeDescription gain = description("gain");
  gain.parameters.set("factor", 3.0);
  const auto model = make_native_model(gain);
  const double u[] = {2.0};
  double y[1];
  model->outputs(0.0, {}, u, y);
  EXPECT_EQ(y[0], 6.0);
}

TEST(NativeModel, comes_from_a_library_beside_the_model_file) {
  NativeDescription cart = description("cart", library_path.filename().string());
  cart.folder = library_path.parent_path();
  cart.parameters.set("mass", 4.0);
  const auto model = make_native_model(cart);
  const double x[] = {1.0, 2.0}, u[] = {8.0};
  double dxdt[2];
  model->derivatives(0.0, x, u, dxdt);
  EXPECT_EQ(dxdt[0], 2.0);
  EXPECT_EQ(dxdt[1], 2.0);
}

TEST(NativeModel, comes_from_a_library_by_relative_or_absolute_path_and_more_than_once) {
  NativeDescription cart = description("cart", library_path.string());
  EXPECT_EQ(make_native_model(cart)->interface().states.size(), 2u);
  EXPECT_EQ(make_native_model(cart)->interface().states.size(), 2u);
  cart.folder = library_path.parent_path().parent_path();
  cart.library = (library_path.parent_path().filename() / library_path.filename()).string();
  EXPECT_EQ(make_native_model(cart)->interface().states.size(), 2u);
}

TEST(NativeModel, of_an_unknown_type_lists_the_registered_ones) {
  const std::string in_program = error_of(description("gian"));
  EXPECT_EQ(in_program.find("m.yaml:6: subsystem 'wing': there is no type 'gian' in the program; "
                            "did you mean 'gain'? known types: double, faulty, gain"),
            0u)
      << in_program;
  const std::string in_library = error_of(description("crat", library_path.string()));
  EXPECT_TRUE(contains(in_library, "did you mean 'cart'? known types: cart, needs_span, throws_"))
      << in_library;
}

TEST(NativeModel, registered_twice_is_an_error) {
  EXPECT_TRUE(contains(error_of(description("double")), "registered twice in the program"));
}

TEST(NativeModel, of_a_library_that_cannot_be_opened) {
  const std::string missing = error_of(description("cart", "libno_such_library.so"));
  EXPECT_EQ(missing.find("m.yaml:7: subsystem 'wing': cannot open the library "
                         "'libno_such_library.so': "),
            0u)
      << missing;
  const auto text_file = std::filesystem::temp_directory_path() / "concord_not_a_library.so";
  std::ofstream(text_file) << "not a library\n";
  EXPECT_TRUE(contains(error_of(description("cart", text_file.string())), "cannot open"));
  std::filesystem::remove(text_file);
  EXPECT_TRUE(contains(error_of(description("cart", "/tmp")), "cannot open the library '/tmp'"));
}

TEST(NativeModel, whose_constructor_throws_is_an_input_error) {
  NativeDescription cart = description("cart", library_path.string());
  cart.parameters.set("mass", -1.0);
  EXPECT_EQ(error_of(cart),
            "m.yaml:5: subsystem 'wing': the type 'cart' cannot be constructed: mass must be "
            "positive");
  EXPECT_TRUE(contains(error_of(description("throws_number", library_path.string())),
                       "not a std::exception"));
}

TEST(NativeModel, with_wrong_parameters_names_them) {
  NativeDescription cart = description("cart", library_path.string());
  cart.parameters.set_written("mas", "1", false, "m.yaml:9");
  EXPECT_EQ(error_of(cart),
            "m.yaml:9: subsystem 'wing': unknown parameter 'mas'; did you mean 'mass'? known "
            "parameters: mass");
  NativeDescription heavy = description("cart", library_path.string());
  heavy.parameters.set_written("mass", "heavy", false, "m.yaml:9");
  EXPECT_EQ(error_of(heavy),
            "m.yaml:9: subsystem 'wing': parameter 'mass' must be a finite number, not 'heavy'");
  EXPECT_EQ(error_of(description("needs_span", library_path.string())),
            "m.yaml:5: subsystem 'wing': parameter 'span' is missing; add it to parameters");
}

TEST(NativeModel, with_an_interface_that_contradicts_itself) {
  const auto fault = [](const char* which) {
    NativeDescription native = description("faulty");
    native.parameters.set("fault", which);
    return error_of(native);
  };
  EXPECT_EQ(fault("none"), "no error");
  EXPECT_TRUE(contains(fault("name"), "has an output with the name 'y[1]'"));
  EXPECT_TRUE(contains(fault("twice"), "has two inputs 'u'"));
  EXPECT_TRUE(contains(fault("nan"), "gives 'x' the start value nan"));
  EXPECT_TRUE(contains(fault("feedthrough"), "feedthrough of output 0 from input 1"));
}

}  // namespace
}  // namespace concord
