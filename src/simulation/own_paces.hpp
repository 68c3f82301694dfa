#pragma once

#include <mpi.h>

#include <string>

#include "network/model.hpp"

namespace concord {

/// -cosim_paces auto: starts the model on trial, finds the groups of subsystems that are fast
/// together in the linearised network, and makes one subsystem of each, integrated with steps of
/// its own. Model::paces tells which, or why there are none. The same on any number of ranks.
/// Throws InputError. Collective.
void find_paces(Model& model, MPI_Comm comm);

/// The same groups as in the run from which this one goes on, where the option asks for them and
/// the model can have them.
void take_paces(Model& model, Paces paces);

/// Of four digits, 1/s.
std::string rate_in_words(double rate);

/// "860 to 1340 1/s"
std::string rates_in_words(const PaceGroup& group);

/// "a, b (860 to 1340 1/s) by themselves; the rest follows 1.02 1/s: up to 33 % fewer right-hand
/// sides", or "one: all subsystems take part in what is fast".
std::string described(const Paces& paces);

}  // namespace concord
