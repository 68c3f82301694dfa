#include <gtest/gtest.h>

#include "simulation/step_reports.hpp"

namespace concord {
namespace step_parts_test {

CouplingReport attempt(CouplingStatus status, int evaluations) {
  CouplingReport report;
  report.status = status;
  report.evaluations = evaluations;
  report.iterations = evaluations - 1;
  return report;
}

TEST(StepReports, AnAcceptedMacroStepCostsWhatAllItsAttemptsHave) {
  StepReports reports;
  CommunicationPoint point;
  for (const int rejected : {2, 0}) {
    reports.begin();
    for (int k = 0; k < rejected; ++k) {
      reports.current().coupling = attempt(CouplingStatus::not_converged, 5);
      reports.reject(reports.reason());
    }
    reports.current().coupling = attempt(CouplingStatus::converged, 3);
    reports.accept({1.0, 2.0}, point);
    const StepReport& report = reports.current();
    EXPECT_EQ(report.rejections, rejected);
    EXPECT_EQ(report.rejected_for[static_cast<std::size_t>(Rejection::coupling)], rejected);
    EXPECT_EQ(report.coupling.evaluations, 3 + 5 * rejected);
    EXPECT_EQ(report.coupling.iterations, 2 + 4 * rejected);
    EXPECT_EQ(report.point, &point);
  }
  EXPECT_EQ(reports.current().index, 2);
}

TEST(StepReports, TheReasonIsWhatTheAttemptCameTo) {
  StepReports reports;
  reports.current().coupling = attempt(CouplingStatus::converged, 1);
  EXPECT_EQ(reports.reason(), Rejection::error);
  reports.current().coupling = attempt(CouplingStatus::not_converged, 1);
  EXPECT_EQ(reports.reason(), Rejection::coupling);
  reports.current().coupling = attempt(CouplingStatus::failed, 1);
  EXPECT_EQ(reports.reason(), Rejection::subsystem);
}

}  // namespace step_parts_test
}  // namespace concord
