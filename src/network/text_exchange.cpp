#include "network/text_exchange.hpp"

#include <algorithm>
#include <cstring>

#include "concord/errors.hpp"
#include "support/agreement.hpp"
#include "support/ranks.hpp"

namespace concord {
namespace {

constexpr int tag = 81;  ///< of its messages

/// Of one text, so that those of a message have room in one of MPI.
constexpr std::size_t most_bytes = std::size_t{1} << 30;

}  // namespace

TextExchange::TextExchange(MPI_Comm comm, const Model& model, const Network& network,
                           const Partition& partition, const RankLayout& layout, OwnSubsystems& own)
    : comm_(comm), own_(own), parts_(own.count()) {
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const auto& texts = model.subsystems[layout.global(k)].type->texts;
    if (!texts) continue;
    parts_[k].type = texts.get();
    parts_[k].outputs.resize(texts->outputs.size());
    parts_[k].at_instant.resize(texts->outputs.size());
    parts_[k].fresh.resize(texts->outputs.size());
    parts_[k].changes.resize(texts->outputs.size());
    parts_[k].inputs.resize(texts->inputs.size());
  }
  const int rank = rank_in(comm);
  for (const TextLink& link : network.text_links()) {
    const int from = partition.rank_of(link.from.subsystem);
    const int to = partition.rank_of(link.to.subsystem);
    const auto here = [&](const TextEnd& end) {
      return TextEnd{layout.local(end.subsystem), end.index};
    };
    if (from == rank && to == rank)
      within_.push_back({here(link.from), here(link.to)});
    else if (from == rank)
      neighbour(to).sent.push_back(here(link.from));
    else if (to == rank)
      neighbour(from).received.push_back(here(link.to));
  }
}

TextExchange::Neighbour& TextExchange::neighbour(int rank) {
  const auto found = std::ranges::find(neighbours_, rank, &Neighbour::rank);
  if (found != neighbours_.end()) return *found;
  neighbours_.push_back({rank, {}, {}, {}});
  return neighbours_.back();
}

bool TextExchange::exchange(Touched& touched) {
  read_outputs();
  for (const auto& [from, to] : within_) {
    const Texts& fresh = parts_[from.subsystem].fresh[from.index];
    Texts& input = parts_[to.subsystem].inputs[to.index];
    input.insert(input.end(), fresh.begin(), fresh.end());
  }
  send_and_receive();
  return agreed(feed(touched));
}

void TextExchange::begin_instant() {
  for (Part& part : parts_)
    for (Texts& texts : part.at_instant) texts.clear();
}

void TextExchange::read_outputs() {
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    if (parts_[k].outputs.empty()) continue;
    for (Texts& fresh : parts_[k].fresh) fresh.clear();
    own_.attempt(k, [&] { read_outputs_of(k); });
  }
}

void TextExchange::read_outputs_of(std::size_t k) {
  Part& part = parts_[k];
  own_[k].texts()->put_out(part.fresh);
  for (std::size_t i = 0; i < part.fresh.size(); ++i) {
    Texts& fresh = part.fresh[i];
    for (const std::string& text : fresh)
      if (text.size() > most_bytes)
        throw SimulationError("puts out a text of " + std::to_string(text.size()) +
                              " bytes, where a gigabyte is the most");
    const bool stays = part.known && !part.type->outputs[i].clocked;
    if (stays && fresh.back() == part.outputs[i]) fresh.clear();
    if (fresh.empty()) continue;
    part.outputs[i] = fresh.back();
    part.changes[i] += fresh.size();
    if (part.type->outputs[i].clocked)
      part.at_instant[i].insert(part.at_instant[i].end(), fresh.begin(), fresh.end());
  }
  part.known = true;
}

/// Of each text how many are new; of these sizes and bytes.
void TextExchange::pack(Neighbour& to) const {
  const auto add = [&](std::size_t number) {
    const char* const bytes = reinterpret_cast<const char*>(&number);
    to.message.insert(to.message.end(), bytes, bytes + sizeof number);
  };
  to.message.clear();
  for (const TextEnd& end : to.sent) {
    const Texts& fresh = parts_[end.subsystem].fresh[end.index];
    add(fresh.size());
    for (const std::string& text : fresh) {
      add(text.size());
      to.message.insert(to.message.end(), text.begin(), text.end());
    }
  }
}

void TextExchange::unpack(const Neighbour& from, std::span<const char> message) {
  const char* next = message.data();
  const auto take = [&] {
    std::size_t number = 0;
    std::memcpy(&number, next, sizeof number);
    next += sizeof number;
    return number;
  };
  for (const TextEnd& end : from.received)
    for (std::size_t left = take(); left > 0; --left) {
      const std::size_t size = take();
      parts_[end.subsystem].inputs[end.index].emplace_back(next, size);
      next += size;
    }
}

/// One message per pair of ranks and direction, also from a rank that has failed.
void TextExchange::send_and_receive() {
  std::vector<MPI_Request> requests;
  for (Neighbour& to : neighbours_) {
    if (to.sent.empty()) continue;
    pack(to);
    MPI_Isend(to.message.data(), static_cast<int>(to.message.size()), MPI_BYTE, to.rank, tag, comm_,
              &requests.emplace_back());
  }
  std::vector<char> message;
  for (const Neighbour& from : neighbours_) {
    if (from.received.empty()) continue;
    MPI_Message found = MPI_MESSAGE_NULL;
    MPI_Status status;
    int size = 0;
    MPI_Mprobe(from.rank, tag, comm_, &found, &status);
    MPI_Get_count(&status, MPI_BYTE, &size);
    message.resize(static_cast<std::size_t>(size));
    MPI_Mrecv(message.data(), size, MPI_BYTE, &found, MPI_STATUS_IGNORE);
    unpack(from, message);
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

bool TextExchange::feed(Touched& touched) {
  bool any = false;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    Part& part = parts_[k];
    if (std::ranges::all_of(part.inputs, &Texts::empty)) continue;
    own_.attempt(k, [&] { own_[k].texts()->take(part.inputs); });
    for (Texts& input : part.inputs) input.clear();
    touched.add(k);
    any = true;
  }
  return any;
}

bool TextExchange::agreed(bool changed) const {
  constexpr int failed = 2;
  const int worst = agree_on_largest(comm_, own_.fatal() ? failed : changed ? 1 : 0);
  if (worst != failed) return worst != 0;
  const auto failure = agree_on_text(comm_, own_.fatal() ? own_.failure() : std::nullopt);
  if (agree_on_largest(comm_, own_.asks_for_end() ? 1 : 0) != 0)
    throw EndOfSimulation(failure.value_or(""));
  throw SimulationError(failure.value_or(""));
}

void TextExchange::io(Archive& archive) {
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    Part& part = parts_[k];
    if (part.outputs.empty() && part.inputs.empty()) continue;
    archive.within(k, [&] { CONCORD_MEMBERS(archive, part); });
  }
}

}  // namespace concord
