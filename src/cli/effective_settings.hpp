#pragma once

#include "network/model.hpp"
#include "settings/settings.hpp"

namespace concord {

/// "parallel: all subsystems at once" or "sequential: [a, b]".
std::string described_schedule(const Method& method, const Model& model);

/// "none" or the times in s.
/// Those at known times, and whose else there may be.
std::string described_events(const std::vector<double>& events, const Model& model);

/// What was given and counts for nothing, for the reader of a run: options, events outside.
void print_without_effect(const Settings& settings);

/// After a run: options of solvers that were not there to read them.
void print_unread_options();

/// The model's events at which nothing happens: before the start, after the stop.
std::vector<double> events_outside(const Settings& settings);

/// -cosim_view: a line for each choice of the method, with what belongs to it.
void print_effective(const Settings& settings, const Model& model);

}  // namespace concord
