#include "subsystem/isolated/hosted_subsystem.hpp"

#include "subsystem/grazes.hpp"
#include "subsystem/isolated/recipe.hpp"
#include "support/exception_words.hpp"
#include "support/foreign_call.hpp"

namespace concord {

void HostedSubsystem::put_status(Ending ending) {
  CallStatus status;
  status.ending = ending;
  if (subsystem_ && ending != Ending::foreign_end) {
    const SubsystemDescription& description = subsystem_->description();
    status.initializing = subsystem_->initializing();
    status.retraces = subsystem_->retraces();
    status.events = description.events;
    status.capabilities = description.capabilities;
    status.equations =
        started_ && description.capabilities.equations && subsystem_->equations() != nullptr;
    status.texts = subsystem_->texts() != nullptr;
    status.counters = subsystem_->counters();
    const bool runs = started_ && !status.initializing;
    if (runs && description.events) status.next_time_event = subsystem_->next_time_event();
  }
  answer_.clear();
  answer_.put(status);
}

void HostedSubsystem::fail(Ending ending, const std::string& words) {
  put_status(ending);
  answer_.put(words);
}

template <class... Results>
void HostedSubsystem::reply(Outcome outcome, const Results&... results) {
  if (outcome == Outcome::failed) return fail(Ending::failed, subsystem_->failure());
  put_status(Ending::done);
  answer_.put(results...);
}

HostedSubsystem::Answer HostedSubsystem::answer_to(std::span<const std::byte> request) {
  bool goes_on = true;
  try {
    surviving([&] {
      MessageReader asked(request);
      const auto function = asked.taken<RemoteFunction>();
      if (function == RemoteFunction::end) {
        subsystem_.reset();
        goes_on = false;
        done();
      } else {
        answer(function, asked);
      }
    });
  } catch (const InputError& error) {
    fail(Ending::input_error, error.what());
  } catch (const EndOfSimulation& error) {
    fail(Ending::end_of_simulation, error.what());
  } catch (const RecoverableFailure& failure) {
    fail(Ending::recoverable_failure, failure.what());
  } catch (...) {
    goes_on = goes_on && !foreign_code_has_ended();
    fail(foreign_code_has_ended() ? Ending::foreign_end : Ending::simulation_error,
         in_words(std::current_exception()));
  }
  return {answer_.bytes(), goes_on};
}

void HostedSubsystem::make(MessageReader& asked) {
  auto recipe = asked.taken_list<std::byte>();
  if (recipe != made_from_) {
    recipe_ = read_recipe(recipe);
    made_from_ = std::move(recipe);
  }
  if (maker_) recipe_.calls.reset();
  if (!recipe_.calls || !log_ || log_->place().path != recipe_.calls->path)
    log_ = recipe_.calls ? std::make_shared<CallLog>(*recipe_.calls) : nullptr;
  const CallLog::Use use(log_);
  subsystem_.reset();
  started_ = false;
  subsystem_ = maker_ ? maker_->make(recipe_) : recipe_.make();
  outputs_.resize(subsystem_->description().outputs.size());
  tell(subsystem_->description());
}

OdeModel& HostedSubsystem::model() const {
  OdeModel* const model = subsystem_->equations();
  if (model == nullptr) throw SimulationError("it has no equations any more");
  return *model;
}

TextPorts& HostedSubsystem::text_ports() const {
  TextPorts* const ports = subsystem_->texts();
  if (ports == nullptr) throw SimulationError("it has no texts");
  return *ports;
}

Recipe HostedSubsystem::read_recipe(std::vector<std::byte> written) {
  Recipe recipe;
  Archive reading(std::move(written));
  recipe.io(reading);
  return recipe;
}

template <class Told>
void HostedSubsystem::tell(Told told) {
  Archive written;
  pass(written, told);
  done(written.bytes());
}

/// Another version of the model may ask over the network.
void HostedSubsystem::ensure_size(std::size_t size, std::size_t wanted, const char* what) {
  if (size != wanted)
    throw SimulationError("it was asked for " + std::to_string(size) + " " + what + " and has " +
                          std::to_string(wanted) + ": both ends need the same model");
}

void HostedSubsystem::ensure_states(std::size_t size) const {
  ensure_size(size, subsystem_->description().states.size(), "states");
}

void HostedSubsystem::ensure_inputs(std::size_t size) const {
  ensure_size(size, subsystem_->description().inputs.size(), "inputs");
}

void HostedSubsystem::read_inputs(MessageReader& asked) {
  asked.take(inputs_);
  ensure_inputs(inputs_.size());
}

void HostedSubsystem::read_states_and_inputs(MessageReader& asked) {
  asked.take(x_, u_);
  ensure_states(x_.size());
  ensure_inputs(u_.size());
}

void HostedSubsystem::advance(MessageReader& asked) {
  const auto step = asked.taken<MacroStep>();
  const auto continuity = asked.taken<InputContinuity>();
  const auto wanted = asked.taken<Wanted>();
  asked.take(polynomials_);
  ensure_inputs(polynomials_.size());
  const Outcome outcome = subsystem_->advance(step, polynomials_, continuity, wanted, outputs_);
  reply(outcome, outputs_, subsystem_->integration_errors());
}

void HostedSubsystem::follow(MessageReader& asked) {
  const auto step = asked.taken<MacroStep>();
  asked.take(polynomials_, shares_, x_, errors_);
  ensure_inputs(polynomials_.size());
  const Outcome outcome = subsystem_->follow(step, polynomials_, {shares_, x_, errors_});
  reply(outcome, subsystem_->integration_errors());
}

/// At a point where the subsystem need not be.
void HostedSubsystem::answer_there(RemoteFunction function, MessageReader& asked) {
  StatePoint point;
  asked.take(point.t, point.h, x_, inputs_, point.input_curvatures, point.wanted);
  ensure_states(x_.size());
  ensure_inputs(inputs_.size());
  point.x = x_;
  point.inputs = inputs_;
  if (function == RemoteFunction::outputs_at)
    return reply(subsystem_->outputs_at(point, outputs_), outputs_);
  if (function == RemoteFunction::linearize_at)
    return reply(subsystem_->linearize_at(point, linearization_), linearization_);
  const bool slopes = function == RemoteFunction::derivatives_at;
  result_.resize(slopes ? x_.size() : outputs_.size());
  reply(slopes ? subsystem_->derivatives_at(point, result_)
               : subsystem_->output_curvatures_at(point, result_),
        result_);
}

void HostedSubsystem::point_outputs(MessageReader& asked) {
  const auto wanted = asked.taken<Wanted>();
  read_inputs(asked);
  reply(subsystem_->point_outputs(inputs_, wanted, outputs_), outputs_);
}

void HostedSubsystem::output_curvatures(MessageReader& asked) {
  read_inputs(asked);
  result_.resize(outputs_.size());
  reply(subsystem_->output_curvatures(inputs_, result_), result_);
}

void HostedSubsystem::happen(MessageReader& asked) {
  const auto pass = asked.taken<EventPass>();
  const auto slack = asked.taken<double>();
  read_inputs(asked);
  EventChange change = EventChange::nothing;
  happened_.clear();
  const Outcome outcome = subsystem_->happen(pass, inputs_, slack, change, happened_);
  reply(outcome, change, happened_);
}

void HostedSubsystem::answer_about_events(RemoteFunction function, MessageReader& asked) {
  auto* const teller = dynamic_cast<TellsGrazes*>(subsystem_.get());
  if (function == RemoteFunction::tells_grazes) return done(teller != nullptr);
  if (teller == nullptr) throw SimulationError("it tells nothing of its events");
  switch (function) {
    case RemoteFunction::grazes:
      read_inputs(asked);
      return done(teller->grazes(inputs_));
    case RemoteFunction::take_errors:
      read_inputs(asked);
      asked.take(x_, u_, result_);
      ensure_states(x_.size());
      ensure_inputs(u_.size());
      ensure_size(result_.size(), teller->discrete_count(), "discrete variables");
      return done(teller->take_errors(inputs_, {x_, u_}, result_));
    case RemoteFunction::jumps: {
      const auto jumps = teller->jumps();
      return done(std::vector<Jump>(jumps.begin(), jumps.end()));
    }
    case RemoteFunction::discrete_count:
      return done(teller->discrete_count());
    default: {
      read_inputs(asked);
      asked.take(errors_);
      ensure_size(errors_.size(), teller->discrete_count(), "discrete variables");
      x_.resize(subsystem_->description().states.size());
      result_.resize(outputs_.size());
      const bool known = teller->pass_discrete(inputs_, errors_, x_, result_);
      return done(known, x_, result_);
    }
  }
}

void HostedSubsystem::write_memory() {
  Archive archive;
  const bool passed = subsystem_->io(archive);
  done(passed, passed ? std::string() : subsystem_->failure(), archive.bytes());
}

void HostedSubsystem::read_memory(MessageReader& asked) {
  asked.take(memory_);
  Archive archive(memory_);
  const bool passed = subsystem_->io(archive);
  done(passed, passed ? std::string() : subsystem_->failure());
}

void HostedSubsystem::start_from(MessageReader& asked) {
  const auto t = asked.taken<double>();
  asked.take(x_, memory_);
  const bool begun = subsystem_->start_from(t, x_, memory_);
  done(begun, begun ? std::string() : subsystem_->failure());
}

/// What can be asked where none is here.
void HostedSubsystem::answer_without(RemoteFunction function, MessageReader& asked) {
  switch (function) {
    case RemoteFunction::make:
      return make(asked);
    case RemoteFunction::describe:
      return tell(maker_
                      ? maker_->describe()
                      : SubsystemInterface{read_recipe(asked.taken_list<std::byte>()).describe()});
    case RemoteFunction::release:
      subsystem_.reset();
      started_ = false;
      return done();
    default:
      throw SimulationError("there is no subsystem");
  }
}

void HostedSubsystem::answer(RemoteFunction function, MessageReader& asked) {
  if (!subsystem_ || function <= RemoteFunction::release) return answer_without(function, asked);
  const std::size_t n_st = subsystem_->description().states.size();
  switch (function) {
    case RemoteFunction::note_use:
      asked.take(fed_, looked_at_);
      subsystem_->note_use(fed_, looked_at_);
      return done();
    case RemoteFunction::start: {
      const auto first = asked.taken<MacroStep>();
      started_ = true;
      subsystem_->start(first, asked.taken<double>());
      return done();
    }
    case RemoteFunction::end_initialization:
      read_inputs(asked);
      return reply(subsystem_->end_initialization(inputs_));
    case RemoteFunction::enter:
      subsystem_->enter(asked.taken<SmoothInterval>());
      return done();
    case RemoteFunction::advance:
      return advance(asked);
    case RemoteFunction::follow:
      return follow(asked);
    case RemoteFunction::point_outputs:
      return point_outputs(asked);
    case RemoteFunction::output_curvatures:
      return output_curvatures(asked);
    case RemoteFunction::states:
      return done(subsystem_->states());
    case RemoteFunction::state_derivatives:
      read_inputs(asked);
      result_.resize(n_st);
      return reply(subsystem_->state_derivatives(inputs_, result_), result_);
    case RemoteFunction::linearize:
      read_inputs(asked);
      return reply(subsystem_->linearize(inputs_, linearization_), linearization_);
    case RemoteFunction::keeps: {
      asked.take(known_);
      read_inputs(asked);
      return done(subsystem_->keeps(known_, inputs_));
    }
    case RemoteFunction::derivatives_at:
    case RemoteFunction::outputs_at:
    case RemoteFunction::linearize_at:
    case RemoteFunction::output_curvatures_at:
      return answer_there(function, asked);
    case RemoteFunction::retrace: {
      const auto step = asked.taken<MacroStep>();
      asked.take(polynomials_, x_);
      ensure_states(x_.size());
      ensure_inputs(polynomials_.size());
      return reply(subsystem_->retrace(step, polynomials_, x_, outputs_), x_, outputs_);
    }
    case RemoteFunction::next_event:
      read_inputs(asked);
      return done(subsystem_->next_event(inputs_));
    case RemoteFunction::happen:
      return happen(asked);
    case RemoteFunction::set_parameter: {
      const auto parameter = asked.taken<std::size_t>();
      return reply(subsystem_->set_parameter(parameter, asked.taken<double>()));
    }
    case RemoteFunction::parameter:
      return done(subsystem_->parameter(asked.taken<std::size_t>()));
    case RemoteFunction::save:
      subsystem_->save();
      return done();
    case RemoteFunction::restore:
      subsystem_->restore();
      return done();
    case RemoteFunction::start_from:
      return start_from(asked);
    case RemoteFunction::write_memory:
      return write_memory();
    case RemoteFunction::read_memory:
      return read_memory(asked);
    case RemoteFunction::complete_step: {
      const auto t = asked.taken<double>();
      read_states_and_inputs(asked);
      return done(subsystem_->complete_step(t, x_, u_));
    }
    case RemoteFunction::tells_grazes:
    case RemoteFunction::grazes:
    case RemoteFunction::take_errors:
    case RemoteFunction::jumps:
    case RemoteFunction::discrete_count:
    case RemoteFunction::pass_discrete:
      return answer_about_events(function, asked);
    case RemoteFunction::put_out_texts: {
      std::vector<Texts> texts(asked.taken<std::size_t>());
      text_ports().put_out(texts);
      return done(texts);
    }
    case RemoteFunction::take_texts: {
      std::vector<Texts> texts;
      asked.take(texts);
      text_ports().take(texts);
      return done();
    }
    case RemoteFunction::model_interface:
      return tell(model().interface());
    default:
      return answer_about_model(function, asked);
  }
}

void HostedSubsystem::answer_about_model(RemoteFunction function, MessageReader& asked) {
  if (function == RemoteFunction::model_set_parameter) {
    const auto parameter = asked.taken<std::size_t>();
    return done(model().set_parameter(parameter, asked.taken<double>()));
  }
  const SubsystemDescription& d = subsystem_->description();
  const std::size_t n_st = d.states.size(), n_in = d.inputs.size(), n_out = d.outputs.size();
  const auto t = asked.taken<double>();
  read_states_and_inputs(asked);
  Linearization& l = linearization_;
  switch (function) {
    case RemoteFunction::model_derivatives:
      result_.resize(n_st);
      model().derivatives(t, x_, u_, result_);
      return done(result_);
    case RemoteFunction::model_outputs:
      result_.resize(n_out);
      model().outputs(t, x_, u_, result_);
      return done(result_);
    case RemoteFunction::model_jacobians:
      l.f_x.resize(n_st * n_st);
      l.f_u.resize(n_st * n_in);
      l.g_x.resize(n_out * n_st);
      l.g_u.resize(n_out * n_in);
      return done(model().jacobians(t, x_, u_, {l.f_x, l.f_u, l.g_x, l.g_u}), l.f_x, l.f_u, l.g_x,
                  l.g_u);
    case RemoteFunction::model_time_derivatives:
      l.f_t.resize(n_st);
      l.g_t.resize(n_out);
      return done(model().time_derivatives(t, x_, u_, {l.f_t, l.g_t}), l.f_t, l.g_t);
    case RemoteFunction::model_output_curvatures: {
      asked.take(dudt_);
      const auto d2udt2 = asked.taken_list<double>();
      result_.resize(n_out);
      return done(model().output_curvatures(t, x_, u_, {dudt_, d2udt2}, result_), result_);
    }
    default:
      asked.take(dxdt_, dudt_);
      result_.resize(n_out);
      return done(model().output_slopes(t, x_, u_, {dxdt_, dudt_}, result_), result_);
  }
}

}  // namespace concord
