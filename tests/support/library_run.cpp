/// A simulation of the library, told step by step what to do:
/// library_run MODEL WORD... with the words
///   option NAME VALUE   before `start`
///   start, until TIME, steps COUNT, set NAME VALUE
///   snapshot, restore   to the last snapshot
///   fresh               another simulation of the same model takes the last snapshot
///   print               "TIME NAME=VALUE ...", with all bits
/// Exit code 1 where a simulation fails, 2 where it refuses.
#include <mpi.h>

#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "concord/simulation.hpp"

namespace {

class Script {
 public:
  Script(std::vector<std::string> words, std::string model)
      : words_(std::move(words)), model_(std::move(model)) {}

  void run() {
    while (at_ < words_.size()) {
      const std::string word = next();
      const auto known = actions_.find(word);
      if (known == actions_.end()) throw concord::InputError("library_run: no word " + word);
      known->second();
    }
  }

 private:
  std::string next() {
    if (at_ == words_.size()) throw concord::InputError("library_run: a word is missing");
    return words_[at_++];
  }
  double number() { return std::stod(next()); }

  concord::Simulation& simulation() {
    if (!simulation_) remake();
    return *simulation_;
  }
  void remake() {
    simulation_ = std::make_unique<concord::Simulation>(MPI_COMM_WORLD, concord::model_file(model_),
                                                        options_);
  }
  void print() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) std::printf("%a", simulation().time());
    for (const std::string& name : simulation().variables()) {
      const double value = simulation().value(name);
      if (rank == 0) std::printf(" %s=%a", name.c_str(), value);
    }
    if (rank == 0) std::printf("\n");
  }

  std::vector<std::string> words_;
  std::string model_;
  std::size_t at_ = 0;
  concord::Options options_;
  std::unique_ptr<concord::Simulation> simulation_;
  concord::Snapshot snapshot_;
  std::map<std::string, std::function<void()>> actions_{
      {"option",
       [this] {
         const std::string name = next();
         options_[name] = next();
       }},
      {"start", [this] { simulation().start(); }},
      {"until", [this] { simulation().advance_until(number()); }},
      {"steps",
       [this] {
         for (int left = std::stoi(next()); left > 0; --left) simulation().advance();
       }},
      {"set",
       [this] {
         const std::string name = next();
         simulation().set(name, number());
       }},
      {"snapshot", [this] { snapshot_ = simulation().snapshot(); }},
      {"restore", [this] { simulation().restore(snapshot_); }},
      {"fresh",
       [this] {
         simulation_.reset();
         remake();
         simulation().restore(snapshot_);
       }},
      {"print", [this] { print(); }}};
};

}  // namespace

int main(int argc, char** argv) {
  char* no_arguments[] = {argv[0], nullptr};
  const concord::Session session(1, no_arguments);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const auto told = [&](const std::exception& error, int code) {
    if (rank == 0) std::fprintf(stderr, "%s\n", error.what());
    return code;
  };
  try {
    Script({argv + 2, argv + argc}, argc > 1 ? argv[1] : "").run();
    return 0;
  } catch (const concord::InputError& error) {
    return told(error, 2);
  } catch (const concord::SimulationError& error) {
    return told(error, 1);
  }
}
