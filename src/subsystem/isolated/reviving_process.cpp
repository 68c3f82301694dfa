#include "subsystem/isolated/reviving_process.hpp"

#include <cstdio>
#include <utility>

#include "support/wording.hpp"

namespace concord {
namespace {

/// At one communication point: macro-steps may have been made smaller between.
constexpr int most_deaths = 4;

/// Whether the subsystem may be another one after the call.
bool changes(RemoteFunction function) {
  switch (function) {
    case RemoteFunction::states:
    case RemoteFunction::derivatives_at:
    case RemoteFunction::outputs_at:
    case RemoteFunction::linearize_at:
    case RemoteFunction::output_curvatures_at:
    case RemoteFunction::retrace:
    case RemoteFunction::write_memory:
    case RemoteFunction::read_memory:
    case RemoteFunction::complete_step:
      return false;
    default:
      return function < RemoteFunction::model_interface;
  }
}

void append(std::vector<std::byte>& list, std::span<const std::byte> bytes) {
  list.insert(list.end(), bytes.begin(), bytes.end());
}

}  // namespace

RevivingProcess::RevivingProcess(Recipe recipe, const IsolationOptions& options,
                                 std::shared_ptr<KeptProcess> kept,
                                 SubsystemDescription& description)
    : recipe_(std::move(recipe)),
      options_(options),
      kept_(std::move(kept)),
      process_(kept_->take()) {
  if (!options.revive) refuse_copies("-subsystem_revive is false");
  Archive written;
  recipe_.io(written);
  MessageWriter request;
  request.put(RemoteFunction::make, written.bytes());
  append(beginning_.make, request.bytes());
  if (!process_) begin_process();
  CallStatus status;
  auto answer = process_->call(request.bytes(), status);
  if (!answer) {
    mourn(RemoteFunction::make);
    throw ForeignEnd(last_words_);
  }
  rethrow(status.ending, *answer);
  Archive made(answer->taken_list<std::byte>());
  pass(made, description);
}

/// What has been computed stays.
RevivingProcess::~RevivingProcess() {
  if (process_->release()) {
    kept_->keep(std::move(process_));
    return;
  }
  std::fprintf(stderr, "concord: note: subsystem '%s', which nobody needs any more: %s\n",
               recipe_.subsystem().c_str(), words(RemoteFunction::release).c_str());
}

void RevivingProcess::begin_process() { process_ = begin_place(recipe_, options_); }

MessageReader RevivingProcess::call(RemoteFunction function, std::span<const std::byte> request,
                                    CallStatus& status) {
  for (int i = 0; i < 2; ++i) {
    if (auto answer = process_->call(request, status)) {
      if (changes(function)) remember(function, request);
      return *answer;
    }
    mourn(function);
    if (!keeps_journal_) throw ForeignEnd(last_words_ + "; it cannot be revived: " + refusal_);
    if (deaths_ >= most_deaths)
      throw ForeignEnd(last_words_ + "; it was revived there " + std::to_string(deaths_ - 1) +
                       " times");
    revive();
  }
  throw DiedAgain(last_words_ + "; it was revived and ended in the same call again");
}

void RevivingProcess::remember(RemoteFunction function, std::span<const std::byte> request) {
  const auto keep = [&](Bytes& last) { last.assign(request.begin(), request.end()); };
  if (function == RemoteFunction::note_use) keep(beginning_.note_use);
  if (function == RemoteFunction::enter) keep(beginning_.enter);
  if (function == RemoteFunction::start) {
    keep(beginning_.start);
    started_ = true;
  }
  if (!keeps_journal_) return;
  const std::size_t size = request.size();
  append(journal_, std::as_bytes(std::span(&size, 1)));
  append(journal_, request);
}

void RevivingProcess::mourn(RemoteFunction function) {
  last_words_ = words(function);
  deaths_ = time_ == death_time_ ? deaths_ + 1 : 1;
  death_time_ = time_;
}

std::string RevivingProcess::words(RemoteFunction function) const {
  if (process_->names_place()) return process_->last_words();
  const std::string origin = recipe_.origin();
  return process_->last_words() + " in " + name_of(function) + " of subsystem '" +
         recipe_.subsystem() + "'" + (origin.empty() ? "" : " (" + origin + ")") +
         (started_ ? " at t = " + short_number(time_) + " s" : " before the start") +
         "; ask whoever made it, or run without this subsystem";
}

void RevivingProcess::redo(std::span<const std::byte> request) {
  if (request.empty()) return;
  CallStatus status;
  const auto answer = process_->call(request, status);
  if (answer && (status.ending == Ending::done || status.ending == Ending::failed)) return;
  std::string reason = answer ? "" : process_->last_words();
  if (answer) MessageReader(*answer).take(reason);
  throw ForeignEnd(last_words_ + "; it could not be revived: " + reason);
}

void RevivingProcess::redo_journal() {
  for (std::size_t at = 0; at < journal_.size();) {
    std::size_t size = 0;
    std::memcpy(&size, journal_.data() + at, sizeof size);
    redo(std::span<const std::byte>(journal_).subspan(at + sizeof size, size));
    at += sizeof size + size;
  }
}

/// What restores a checkpoint does so, too: made and started, then the memory is read.
void RevivingProcess::revive() {
  begin_process();
  redo(beginning_.make);
  if (!copy_.empty()) {
    redo(beginning_.note_use);
    redo(beginning_.start);
    redo(beginning_.enter);
    MessageWriter request;
    request.put(RemoteFunction::read_memory, copy_);
    redo(request.bytes());
  }
  redo_journal();
  ++revived;
  tell();
}

/// The same reason once: the summary has their number.
void RevivingProcess::tell() {
  if (last_words_ == told_) return;
  told_ = last_words_;
  std::fprintf(stderr, "concord: note: subsystem '%s' was revived in a new process: %s\n",
               recipe_.subsystem().c_str(), told_.c_str());
}

void RevivingProcess::refuse_copies(const std::string& reason) {
  refusal_ = reason;
  keeps_journal_ = false;
  journal_ = {};
  copy_ = {};
}

void RevivingProcess::take_copy() {
  if (!keeps_journal_ || journal_.empty()) return;
  MessageWriter request;
  request.put(RemoteFunction::write_memory);
  CallStatus status;
  auto answer = process_->call(request.bytes(), status);
  if (!answer) {
    mourn(RemoteFunction::write_memory);
    revive();
    return refuse_copies("its state could not be copied");
  }
  bool passed = false;
  std::string reason;
  if (status.ending == Ending::done) answer->take(passed);
  answer->take(reason);
  if (!passed) return refuse_copies(reason);
  answer->take(copy_);
  journal_.clear();
}

void RevivingProcess::know_copy(std::vector<std::byte> memory) {
  if (!keeps_journal_) return;
  copy_ = std::move(memory);
  journal_.clear();
}

void rethrow(Ending ending, MessageReader& answer) {
  if (ending == Ending::done || ending == Ending::failed) return;
  std::string words;
  answer.take(words);
  switch (ending) {
    case Ending::input_error:
      throw InputError(words);
    case Ending::end_of_simulation:
      throw EndOfSimulation(words);
    case Ending::recoverable_failure:
      throw RecoverableFailure(words);
    default:
      throw SimulationError(words);
  }
}

}  // namespace concord
