#include <cstdio>
#include <string>

#include "cli/command.hpp"
#include "cli/session.hpp"
#include "record/repair_results.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

int repair(const Arguments& arguments);

const RegisteredCommand repair_results_file({
    .name = "repair",
    .place = 56,
    .usage = "RESULT.h5",
    .summary = "a damaged or unfinished results file, made readable",
    .description =
        "Makes a results file that is cut, damaged or was left unfinished by a run that is no "
        "more\n"
        "readable as far as its rows are whole, with the status 'interrupted', or says that it is\n"
        "sound. Where something is lost the file as it was stays beside it as RESULT.h5.damaged.\n"
        "A run that has checkpoints needs none of this: -cosim_restart auto goes on from them.",
    .example = "repair model.h5",
    .run =
        [](const Arguments& arguments) {
          return without_session([&] { return repair(arguments); });
        },
});

int repair(const Arguments& arguments) {
  const GivenWords given = read_words(repair_results_file, after_name(arguments));
  if (given.names.size() != 1)
    refuse_words(repair_results_file, "'concord repair' takes one results file");
  const std::string& path = given.names.front();
  const RepairReport report = repair_results(path);
  std::string lost;
  for (const std::string& one : report.lost) lost += (lost.empty() ? "" : ", ") + one;
  std::printf("%s %s: %llu rows, status %s\n", in_quotes(path).c_str(),
              report.changed ? "is repaired" : "is sound",
              static_cast<unsigned long long>(report.whole.rows), report.status.c_str());
  if (!lost.empty()) std::printf("lost: %s\n", lost.c_str());
  if (!report.kept_as.empty())
    std::printf("the file as it was: %s\n", report.kept_as.string().c_str());
  return 0;
}

}  // namespace
}  // namespace concord
