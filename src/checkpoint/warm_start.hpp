#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "checkpoint/checkpoint_file.hpp"
#include "simulation/simulation_core.hpp"

namespace concord {

/// By what its subsystems are known in other runs.
std::vector<SubsystemPrint> prints_of_subsystems(const Model& model);

/// s: of the last point that the checkpoint holds. Throws InputError. Collective.
double time_of_checkpoint(MPI_Comm comm, const std::filesystem::path& path);

/// Before the start: subsystems of the simulation begin where those of the same names stood in the
/// checkpoint, with what is known of their states, discrete variables, past signals and FMUs;
/// everything else is a new run. What is told of it. Throws InputError where one does not fit.
/// Collective.
std::string begin_from_checkpoint(SimulationCore& simulation, const std::filesystem::path& path);

}  // namespace concord
