#include "network/exchange.hpp"

#include <algorithm>

#include "support/agreement.hpp"
#include "support/ranks.hpp"

namespace concord {
namespace {

MPI_Datatype sample_type() {
  static const MPI_Datatype type = [] {
    MPI_Datatype sample = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(sizeof(Sample) / sizeof(double), MPI_DOUBLE, &sample);
    MPI_Type_commit(&sample);
    return sample;
  }();
  return type;
}

}  // namespace

Exchange::Exchange(MPI_Comm comm, const Network& network, const Partition& partition,
                   std::span<const std::size_t> input_local,
                   std::span<const std::size_t> output_local) {
  const int rank = rank_in(comm);
  std::vector<PetscSFNode> sources;
  std::size_t own_outputs = 0;
  for (std::size_t k = 0; k < network.n_subsystems(); ++k) {
    if (partition.rank_of(k) != rank) {
      continue;
    }
    own_outputs += network.outputs_of(k).size();
    for (std::size_t i = network.inputs_of(k).first; i < network.inputs_of(k).last; ++i) {
      if (!network.links()[i]) {
        continue;
      }
      const Link& link = *network.links()[i];
      const int owner = partition.rank_of(network.subsystem_of_output(link.output));
      const std::size_t position = output_local[link.output];
      if (owner == rank) {
        local_.push_back({input_local[i], {position, link.factor, link.offset, link.whole}});
      } else {
        remote_.push_back({input_local[i], {sources.size(), link.factor, link.offset, link.whole}});
        sources.push_back({owner, static_cast<PetscInt>(position)});
      }
    }
  }
  received_.resize(sources.size());
  crosses_ranks_ = agree_on_largest(comm, sources.empty() ? 0 : 1) != 0;
  if (crosses_ranks_) {
    petsc(PetscSFCreate(comm, messages_.out()));
    petsc(PetscSFSetGraph(messages_, static_cast<PetscInt>(own_outputs),
                          static_cast<PetscInt>(sources.size()), nullptr, PETSC_COPY_VALUES,
                          sources.data(), PETSC_COPY_VALUES));
    petsc(PetscSFSetUp(messages_));
  }
}

void Exchange::copy(const LocalLink& link, std::span<const Sample> from, std::span<Sample> to) {
  to[link.input] = link.link.arriving(from[link.link.output]);
}

void Exchange::copy(const std::vector<LocalLink>& links, std::span<const Sample> from,
                    std::span<Sample> to) {
  for (const auto& link : links) {
    copy(link, from, to);
  }
}

void Exchange::apply(std::span<const Sample> outputs, std::span<const std::size_t> wanted,
                     std::span<Sample> inputs) {
  if (crosses_ranks_) {
    apply(outputs, inputs);
    return;
  }
  for (const std::size_t input : wanted) {
    copy(*std::lower_bound(local_.begin(), local_.end(), input,
                           [](const LocalLink& link, std::size_t i) { return link.input < i; }),
         outputs, inputs);
  }
}

void Exchange::apply(std::span<const Sample> outputs, std::span<Sample> inputs) {
  if (crosses_ranks_) {
    petsc(
        PetscSFBcastBegin(messages_, sample_type(), outputs.data(), received_.data(), MPI_REPLACE));
  }
  copy(local_, outputs, inputs);
  if (crosses_ranks_) {
    petsc(PetscSFBcastEnd(messages_, sample_type(), outputs.data(), received_.data(), MPI_REPLACE));
    copy(remote_, received_, inputs);
  }
}

}  // namespace concord
