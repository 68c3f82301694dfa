#pragma once

namespace concord::fixed_sources {

/// The files of src/export/sources, of which every exported FMU carries what it needs.
extern const char* const functions;
extern const char* const calls;
extern const char* const instance;
extern const char* const events;
extern const char* const integrator;
extern const char* const delay;
extern const char* const fmi2;
extern const char* const fmi3;

/// Concord's licence, for them.
extern const char* const license;

}  // namespace concord::fixed_sources
