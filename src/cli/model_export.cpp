#include "cli/model_export.hpp"

#include <csignal>
#include <cstdio>

#include "cli/session.hpp"
#include "files/archive_writer.hpp"
#include "support/petsc.hpp"
#include "support/ranks.hpp"
#include "support/wording.hpp"

namespace concord {

int on_one_rank(const Arguments& arguments, const std::function<int()>& work) {
  std::signal(SIGXFSZ, SIG_IGN);
  ProgramArguments program(arguments);
  return in_session(program.count(), program.pointers(), [&] {
    const int rank = rank_in(PETSC_COMM_WORLD);
    return rank == 0 ? work() : 0;
  });
}

void check_output(const Command& command, const std::filesystem::path& output,
                  const std::string& model, std::initializer_list<const char*> endings) {
  bool fits = false;
  std::string wanted;
  for (const char* ending : endings) {
    fits = fits || output.extension() == ending;
    wanted += (wanted.empty() ? "" : " or ") + std::string(ending);
  }
  if (!fits) refuse_words(command, in_quotes(output.string()) + " does not end in " + wanted);
  if (same_file(output, model))
    refuse_words(command,
                 "-o names the model " + in_quotes(model) + " itself; choose another file");
}

void print_notes(const std::vector<std::string>& notes) {
  std::fflush(stdout);
  for (const std::string& note : notes) std::fprintf(stderr, "concord: note: %s\n", note.c_str());
}

}  // namespace concord
