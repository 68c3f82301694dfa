#pragma once

/// Belongs to the public interface: seen from outside the library in every kind of build.
#define CONCORD_API __attribute__((visibility("default")))
