#pragma once

#include "network/model.hpp"

namespace concord {

/// Where -cosim_accuracy or -cosim_order auto would take quintic inputs, looks whether subsystems
/// are stiff: of their outputs' second derivatives, of which quintic inputs are made, their
/// integrators' tolerances leave nothing, and cubic inputs reach the accuracy with fewer
/// macro-steps. Takes macro-steps on trial until one meets such an output: fifty, or more for a
/// tenth of the experiment, at most 400. Model::stiff tells what was found. Collective.
void find_stiffness(Model& model, MPI_Comm comm);

}  // namespace concord
