#include "settings/option_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "cli/commands.hpp"
#include "support/petsc.hpp"

// What the table of options promises: each option said once, each default and each word read as
// itself, all of them in the help.

namespace concord {
namespace {

/// The options database holds this, and nothing else, while it lives.
class Given {
 public:
  Given(const std::string& name, const std::string& value) { options::set(name, value); }
  ~Given() { PetscOptionsClear(nullptr); }
  Given(const Given&) = delete;
  Given& operator=(const Given&) = delete;
};

/// What is in the option's place after its value was given as this text.
template <class Target>
std::string read_back(const Option<Target>& option, const std::string& prefix,
                      const std::string& value) {
  const Given given(prefix + option.name(), value);
  Target target{};
  option.read(prefix, target);
  return option.written(target);
}

template <class Target, class Visit>
void for_each(const OptionTable<Target>& table, const std::string& prefix, const Visit& visit) {
  for (const auto& option : table) {
    visit(option, prefix, option.spec(prefix, Target{}));
  }
}

/// visit(option, prefix, spec) for every option of every table.
template <class Visit>
void for_every_option(const Visit& visit) {
  for_each(run_options(), "", visit);
  for_each(subsystem_options(), subsystem_prefix, visit);
  for_each(fmu_options(), subsystem_prefix, visit);
}

TEST(OptionTable, NamesEachOptionOnce) {
  std::set<std::string> names;
  for (const auto& spec : option_table()) {
    EXPECT_TRUE(names.insert(spec.name).second) << spec.name;
    EXPECT_FALSE(spec.help.empty()) << spec.name;
    EXPECT_FALSE(spec.default_value.empty()) << spec.name;
  }
  EXPECT_GT(names.size(), 40u);
}

TEST(OptionTable, ReadsEveryDefaultAsItself) {
  int constant = 0;
  for_every_option([&](const auto& option, const std::string& prefix, const OptionSpec& spec) {
    if (!option.has_derived_default()) {
      EXPECT_EQ(read_back(option, prefix, spec.default_value), spec.default_value) << spec.name;
      ++constant;
    }
  });
  EXPECT_GT(constant, 25);
}

TEST(OptionTable, ReadsEveryWordAsItself) {
  int words = 0;
  for_every_option([&](const auto& option, const std::string& prefix, const OptionSpec& spec) {
    for (const auto& word : spec.allowed) {
      EXPECT_EQ(read_back(option, prefix, word), word) << spec.name;
      ++words;
    }
  });
  EXPECT_GT(words, 40);
}

TEST(OptionTable, BeginsItsWordsWithTheDefault) {
  for_every_option([](const auto& option, const std::string&, const OptionSpec& spec) {
    if (!option.has_derived_default() && !spec.allowed.empty()) {
      EXPECT_EQ(spec.allowed.front(), spec.default_value) << spec.name;
    }
  });
}

TEST(OptionTable, LeavesDefaultsWhereNothingIsGiven) {
  for_every_option([](const auto& option, const std::string& prefix, const OptionSpec& spec) {
    if (!option.has_derived_default()) {
      typename std::decay_t<decltype(option)>::Holder target{};
      option.read(prefix, target);
      EXPECT_EQ(option.written(target), spec.default_value) << spec.name;
    }
  });
}

/// A flag whose default follows from something else is one too.
TEST(OptionTable, KnowsWhatMayStandWithoutValue) {
  std::set<std::string> flags;
  for (const auto& spec : option_table()) {
    if (spec.flag) {
      flags.insert(spec.name);
    }
  }
  for (const char* name : {"cosim_view", "cosim_progress", "cosim_consistent_outputs",
                           "subsystem_rollback", "subsystem_fmu_log"}) {
    EXPECT_TRUE(flags.contains(name)) << name;
  }
  EXPECT_FALSE(flags.contains("cosim_step"));
  for_every_option([&](const auto& option, const std::string& prefix, const OptionSpec& spec) {
    if (spec.flag) {
      EXPECT_EQ(read_back(option, prefix, ""), "true") << spec.name;
    }
  });
}

TEST(OptionTable, IsAllInTheHelp) {
  const std::string help = program_help(HelpLength::whole);
  for (const auto& spec : option_table()) {
    const auto place = help.find("\n  -" + spec.name + " ");
    ASSERT_NE(place, std::string::npos) << spec.name;
    const std::string line = help.substr(place + 1, help.find('\n', place + 1) - place - 1);
    for (const std::string& part : {spec.help, spec.default_value, spec.unit}) {
      EXPECT_NE(line.find(part), std::string::npos) << line << " without " << part;
    }
    for (const auto& word : spec.allowed) {
      EXPECT_NE(line.find(word), std::string::npos) << line << " without " << word;
    }
  }
}

TEST(OptionTable, OneSubsystemInheritsWhatAllHave) {
  SubsystemSettings all;
  {
    const Given given("subsystem_rtol", "1e-5");
    read_all(subsystem_options(), subsystem_prefix, all);
  }
  EXPECT_EQ(all.tolerance.relative, 1e-5);
  EXPECT_NEAR(all.tolerance.absolute, 1e-7, 1e-20) << "of sizes, it goes with the relative one";
  const Given given("subsystem_left_atol", "3");
  SubsystemSettings left = all;
  read_all(subsystem_options(), prefix_of("left"), left);
  EXPECT_EQ(left.tolerance.relative, 1e-5);
  EXPECT_EQ(left.tolerance.absolute, 3.0);
  EXPECT_FALSE(left.tolerance.of_size);
  EXPECT_TRUE(all.tolerance.of_size);
}

TEST(OptionTable, RecordsWhatTheListNames) {
  const auto& options = run_options();
  const auto record = std::find_if(options.begin(), options.end(),
                                   [](const auto& one) { return one.name() == "cosim_record"; });
  ASSERT_NE(record, options.end());
  EXPECT_EQ(read_back(*record, "", "states,outputs"), "outputs,states");
  EXPECT_EQ(read_back(*record, "", "polynomials"), "inputs,polynomials");
  EXPECT_EQ(read_back(*record, "", "none"), "none");
}

TEST(OptionValues, WriteNumbersAsPeopleDo) {
  EXPECT_EQ(plain_number(1e-6), "1e-6");
  EXPECT_EQ(plain_number(2.5e-8), "2.5e-8");
  EXPECT_EQ(plain_number(1e-10), "1e-10");
  EXPECT_EQ(plain_number(1e300), "1e+300");
  EXPECT_EQ(plain_number(0.5), "0.5");
  EXPECT_EQ(plain_number(50), "50");
}

}  // namespace
}  // namespace concord
