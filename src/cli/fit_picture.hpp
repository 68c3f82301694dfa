#pragma once

#include <Eigen/Core>
#include <filesystem>
#include <string>
#include <vector>

#include "files/time_table.hpp"

namespace concord {

/// A panel for each variable with its data as points and the fitted run, which has `answers` at the
/// rows of the tables, as a line. Throws InputError.
void draw_fit(const std::filesystem::path& path, const std::string& title,
              const std::vector<TimeTable>& tables, const Eigen::VectorXd& answers);

}  // namespace concord
