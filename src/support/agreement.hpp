#pragma once

#include <mpi.h>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace concord {

/// The largest of all ranks' values; no message on one rank.
int agree_on_largest(MPI_Comm comm, int value);
double agree_on_largest(MPI_Comm comm, double value);
/// All at once, in place.
void agree_on_largest(MPI_Comm comm, std::span<double> values);
double agree_on_sum(MPI_Comm comm, double value);
void agree_on_sum(MPI_Comm comm, std::span<double> values);

/// The text of the lowest rank that has one, on every rank; nothing if no rank has one. Collective.
std::optional<std::string> agree_on_text(MPI_Comm comm, const std::optional<std::string>& own);

/// The numbers of a rank that has some, on every rank: all that have any have the same. Collective.
std::vector<double> known_to_some(MPI_Comm comm, std::vector<double> own);

/// The texts of all ranks one after the other, by rank.
std::string joined_texts(MPI_Comm comm, const std::string& own);

/// Runs `work`, which does not communicate, on every rank. If it throws, or foreign code in it ends
/// (support/foreign_call.hpp), on some ranks, every rank throws the worst failure, InputError
/// before others, of the lowest rank that has it: no rank waits for one that failed.
void together(MPI_Comm comm, const std::function<void()>& work);

/// Runs `work`, which communicates, and so must fail on every rank or on none: every rank then
/// throws what the lowest says. A rank that stays alone with its failure for five seconds, because
/// the others wait for it inside of `work`, prints it with its rank and ends all (MPI_Abort).
void collectively(MPI_Comm comm, const std::function<void()>& work);

/// `collectively`, again and again on the same ranks.
class Collective {
 public:
  /// Collective, as the destructor is.
  explicit Collective(MPI_Comm comm);
  ~Collective();
  Collective(const Collective&) = delete;
  Collective& operator=(const Collective&) = delete;
  void operator()(const std::function<void()>& work) const;

 private:
  MPI_Comm comm_;
  MPI_Comm meeting_ = MPI_COMM_NULL;  ///< where ranks that have failed wait for the others
};

/// Runs `action` on every rank of comm and lets the ranks agree: the message of the lowest rank on
/// which it threw, the same on every rank, or nothing when it went well everywhere. Collective;
/// `action` must not communicate after the point where it may throw on some ranks only.
std::optional<std::string> failure_on_any_rank(MPI_Comm comm, const std::function<void()>& action);

}  // namespace concord
