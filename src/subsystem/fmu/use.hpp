#pragma once

#include "subsystem/fmu/description/model_description.hpp"
#include "subsystem/integrator_settings.hpp"

namespace concord {

struct FmuSetup;

/// What is used of an FMU: what it claims, less what a trial has refuted, what options withhold,
/// and what a call has shown not to work. Nobody else asks what an FMU can do.
struct FmuUse {
  bool state = false;           ///< saving and restoring
  bool serializes = false;      ///< the saved state
  bool directional = false;     ///< directional derivatives
  bool variable_steps = false;  ///< co-simulation in steps of any size
  int input_order = 0;          ///< derivatives of inputs, up to this order: 0 to 3
  bool updates = false;         ///< FMI 3: inputs by intermediate update
  bool output_slopes = false;   ///< the first derivatives of outputs
  bool event_mode = false;      ///< of co-simulation
  bool stop_time = true;        ///< is told to it
  bool completed_step = false;  ///< model exchange wants to know of completed steps
  double internal_step = 0.0;   ///< steps are multiples of it; 0: none
  int micro_steps = 1;          ///< per macro-step where inputs vary
};

/// What the FMU claims in its role, as far as options ask for it.
FmuUse claimed_use(const FmuSetup& setup);

/// `use` without what the settings withhold.
FmuUse permitted(FmuUse use, const SubsystemSettings& settings);

/// Of co-simulation: the FMU's events end macro-steps, which it must let be of any size.
inline bool tells_events(const FmuUse& use) { return use.event_mode && use.variable_steps; }

/// Of co-simulation: steps that are taken back, whatever their size.
inline bool makes_trials(const FmuUse& use) { return use.state && use.variable_steps; }

/// Cubic inputs are handed to the FMU as they are: no micro-steps are needed.
inline bool takes_cubics(const FmuUse& use) { return use.input_order >= 3 || use.updates; }

}  // namespace concord
