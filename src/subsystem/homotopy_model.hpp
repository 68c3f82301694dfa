#pragma once

namespace concord {

/// Equations that say with what the search for a point begins: homotopy(actual, simplified) stands
/// for part actual + (1 - part) simplified (Modelica 3.6, 3.7.4.4). Everywhere but in such a search
/// part is 1.
class HomotopyModel {
 public:
  virtual ~HomotopyModel() = default;

  /// From now on, with exact derivatives of that; events stay those of actual. False where nothing
  /// in the equations depends on it.
  virtual bool go_along_homotopy(double part) = 0;
};

}  // namespace concord
