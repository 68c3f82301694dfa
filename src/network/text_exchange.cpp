#include "network/text_exchange.hpp"

#include <algorithm>
#include <cstring>

#include "concord/errors.hpp"
#include "subsystem/text_ports.hpp"
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
    parts_[k].outputs.resize(texts->outputs.size());
    parts_[k].read.resize(texts->outputs.size());
    parts_[k].fresh.resize(texts->outputs.size());
    parts_[k].changes.resize(texts->outputs.size());
    parts_[k].inputs.resize(texts->inputs.size());
    parts_[k].changed.resize(texts->inputs.size());
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
  for (const OwnLink& link : within_)
    if (parts_[link.from.subsystem].fresh[link.from.index] != 0)
      set_input(link.to, parts_[link.from.subsystem].outputs[link.from.index]);
  send_and_receive();
  return agreed(feed(touched));
}

void TextExchange::read_outputs() {
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    if (parts_[k].outputs.empty()) continue;
    std::ranges::fill(parts_[k].fresh, 0);
    own_.attempt(k, [&] { read_outputs_of(k); });
  }
}

void TextExchange::read_outputs_of(std::size_t k) {
  Part& part = parts_[k];
  own_[k].texts()->put_out(part.read);
  for (std::size_t i = 0; i < part.read.size(); ++i) {
    if (part.read[i].size() > most_bytes)
      throw SimulationError("puts out a text of " + std::to_string(part.read[i].size()) +
                            " bytes, where a gigabyte is the most");
    part.fresh[i] = !part.known || part.read[i] != part.outputs[i] ? 1 : 0;
    if (part.fresh[i] == 0) continue;
    part.outputs[i] = part.read[i];
    ++part.changes[i];
  }
  part.known = true;
}

/// Of each text whether it is fresh; where it is, its size and its bytes.
void TextExchange::pack(Neighbour& to) const {
  to.message.clear();
  for (const TextEnd& end : to.sent) {
    const Part& part = parts_[end.subsystem];
    to.message.push_back(part.fresh[end.index]);
    if (part.fresh[end.index] == 0) continue;
    const std::string& text = part.outputs[end.index];
    const std::size_t size = text.size();
    const char* const bytes = reinterpret_cast<const char*>(&size);
    to.message.insert(to.message.end(), bytes, bytes + sizeof size);
    to.message.insert(to.message.end(), text.begin(), text.end());
  }
}

void TextExchange::unpack(const Neighbour& from, std::span<const char> message) {
  const char* next = message.data();
  for (const TextEnd& end : from.received) {
    if (*next++ == 0) continue;
    std::size_t size = 0;
    std::memcpy(&size, next, sizeof size);
    next += sizeof size;
    set_input(end, {next, size});
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

void TextExchange::set_input(const TextEnd& to, std::string_view text) {
  Part& part = parts_[to.subsystem];
  part.inputs[to.index] = text;
  part.changed[to.index] = 1;
}

bool TextExchange::feed(Touched& touched) {
  bool any = false;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    Part& part = parts_[k];
    if (std::ranges::find(part.changed, 1) == part.changed.end()) continue;
    own_.attempt(k, [&] { own_[k].texts()->take(part.inputs, part.changed); });
    std::ranges::fill(part.changed, 0);
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
