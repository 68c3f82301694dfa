#include "subsystem/ode/erk_pair.hpp"

#include <arkode/arkode.h>
#include <arkode/arkode_butcher_erk.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "subsystem/ode/error_ratio.hpp"
#include "support/sundials_handle.hpp"

namespace concord {

namespace {

using sundials_handle::ButcherTable;

/// Prince and Dormand 1981, table 2, which ARKODE lacks: c, A row by row, b of order 8 and 7.
ButcherTable prince_dormand() {
  constexpr int n = 13;
  double c[n] = {0.0,
                 1.0 / 18,
                 1.0 / 12,
                 1.0 / 8,
                 5.0 / 16,
                 3.0 / 8,
                 59.0 / 400,
                 93.0 / 200,
                 5490023248.0 / 9719169821.0,
                 13.0 / 20,
                 1201146811.0 / 1299019798.0,
                 1.0,
                 1.0};
  double a[n][n] = {
      {},
      {1.0 / 18.0},
      {1.0 / 48.0, 1.0 / 16.0},
      {1.0 / 32.0, 0.0, 3.0 / 32.0},
      {5.0 / 16.0, 0.0, -75.0 / 64.0, 75.0 / 64.0},
      {3.0 / 80.0, 0.0, 0.0, 3.0 / 16.0, 3.0 / 20.0},
      {29443841.0 / 614563906.0, 0.0, 0.0, 77736538.0 / 692538347.0, -28693883.0 / 1125000000.0,
       23124283.0 / 1800000000.0},
      {16016141.0 / 946692911.0, 0.0, 0.0, 61564180.0 / 158732637.0, 22789713.0 / 633445777.0,
       545815736.0 / 2771057229.0, -180193667.0 / 1043307555.0},
      {39632708.0 / 573591083.0, 0.0, 0.0, -433636366.0 / 683701615.0, -421739975.0 / 2616292301.0,
       100302831.0 / 723423059.0, 790204164.0 / 839813087.0, 800635310.0 / 3783071287.0},
      {246121993.0 / 1340847787.0, 0.0, 0.0, -37695042795.0 / 15268766246.0,
       -309121744.0 / 1061227803.0, -12992083.0 / 490766935.0, 6005943493.0 / 2108947869.0,
       393006217.0 / 1396673457.0, 123872331.0 / 1001029789.0},
      {-1028468189.0 / 846180014.0, 0.0, 0.0, 8478235783.0 / 508512852.0,
       1311729495.0 / 1432422823.0, -10304129995.0 / 1701304382.0, -48777925059.0 / 3047939560.0,
       15336726248.0 / 1032824649.0, -45442868181.0 / 3398467696.0, 3065993473.0 / 597172653.0},
      {185892177.0 / 718116043.0, 0.0, 0.0, -3185094517.0 / 667107341.0,
       -477755414.0 / 1098053517.0, -703635378.0 / 230739211.0, 5731566787.0 / 1027545527.0,
       5232866602.0 / 850066563.0, -4093664535.0 / 808688257.0, 3962137247.0 / 1805957418.0,
       65686358.0 / 487910083.0},
      {403863854.0 / 491063109.0, 0.0, 0.0, -5068492393.0 / 434740067.0, -411421997.0 / 543043805.0,
       652783627.0 / 914296604.0, 11173962825.0 / 925320556.0, -13158990841.0 / 6184727034.0,
       3936647629.0 / 1978049680.0, -160528059.0 / 685178525.0, 248638103.0 / 1413531060.0, 0.0}};
  double b[n] = {14005451.0 / 335480064.0,
                 0.0,
                 0.0,
                 0.0,
                 0.0,
                 -59238493.0 / 1068277825.0,
                 181606767.0 / 758867731.0,
                 561292985.0 / 797845732.0,
                 -1041891430.0 / 1371343529.0,
                 760417239.0 / 1151165299.0,
                 118820643.0 / 751138087.0,
                 -528747749.0 / 2220607170.0,
                 1.0 / 4.0};
  double d[n] = {13451932.0 / 455176623.0,
                 0.0,
                 0.0,
                 0.0,
                 0.0,
                 -808719846.0 / 976000145.0,
                 1757004468.0 / 5645159321.0,
                 656045339.0 / 265891186.0,
                 -3867574721.0 / 1518517206.0,
                 465885868.0 / 322736535.0,
                 53011238.0 / 667516719.0,
                 2.0 / 45.0,
                 0.0};
  return ButcherTable(ARKodeButcherTable_Create(n, 8, 7, c, &a[0][0], b, d));
}

ButcherTable load(ErkPair::Table table) {
  switch (table) {
    case ErkPair::Table::verner:
      return ButcherTable(ARKodeButcherTable_LoadERK(ARKODE_VERNER_8_5_6));
    case ErkPair::Table::prince_dormand:
      return prince_dormand();
    default:
      return ButcherTable(ARKodeButcherTable_LoadERK(ARKODE_DORMAND_PRINCE_7_4_5));
  }
}

}  // namespace

ErkPair::ErkPair(Table which) {
  const ButcherTable table = load(which);
  if (!table || table->d == nullptr) throw std::logic_error("ARKODE has no such embedded pair");
  const auto n = static_cast<std::size_t>(table->stages);
  embedded_order_ = table->p;
  a_.resize(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    std::copy_n(table->A[i], n, a_.begin() + static_cast<std::ptrdiff_t>(i * n));
    b_.push_back(table->b[i]);
    c_.push_back(table->c[i]);
    error_.push_back(table->b[i] - table->d[i]);
  }
  error_ratio_ = concord::error_ratio(*table);
  ends_at_last_stage_ = c_.back() == 1.0 && std::equal(b_.begin(), b_.end(), table->A[n - 1]);
}

/// Measured on a driven pendulum, h = 1e-3 to 1 s, rtol = 1e-4 to 1e-12. Where one micro-step
/// suffices Dormand-Prince and Cash-Karp cost 6 or 7 evaluations of f, Verner 9, Fehlberg 8(7) 14;
/// pairs of order 3 and 4 are cheaper but soon need several. With many micro-steps Cash-Karp takes
/// 0.75 of Dormand-Prince's evaluations for twice its error, and Verner wins below 1e-9 (by 1.3 at
/// 1e-10, 1.6 at 1e-12). Dormand-Prince it is, because its last stage is the new point: where f
/// fails there, the micro-step can still be made smaller.
const ErkPair& erk_pair(double rtol) {
  static const ErkPair usual(ErkPair::Table::dormand_prince), sharp(ErkPair::Table::verner);
  return rtol < 0.999e-9 ? sharp : usual;
}

const ErkPair& long_erk_pair() {
  static const ErkPair pair(ErkPair::Table::prince_dormand);
  return pair;
}

/// result = size (coefficient(0) slopes(0) + ...), in this order: of few lanes one after the other,
/// which costs less than to begin a vectorised loop for each stage.
template <class Coefficient>
void ErkStages::combine(std::size_t stages, const Coefficient& coefficient,
                        std::span<const double> sizes, std::span<double> result) const {
  constexpr std::size_t few = 8;
  const double* __restrict const size = sizes.data();
  for (std::size_t first = 0; first < row_ && lanes_ < few; first += lanes_) {
    for (std::size_t k = 0; k < lanes_; ++k) {
      const double* const slope = slopes_.data() + first + k;
      double sum = size[k] * coefficient(0) * slope[0];
      for (std::size_t j = 1; j < stages; ++j) sum += size[k] * coefficient(j) * slope[j * row_];
      result[first + k] = sum;
    }
  }
  if (lanes_ < few) return;
  for (std::size_t first = 0; first < row_; first += lanes_) {
    double* __restrict const sum = result.data() + first;
    for (std::size_t k = 0; k < lanes_; ++k) sum[k] = size[k] * coefficient(0) * slopes_[first + k];
    for (std::size_t j = 1; j < stages; ++j) {
      const double factor = coefficient(j);
      const double* __restrict const slopes = slopes_.data() + j * row_ + first;
      for (std::size_t k = 0; k < lanes_; ++k) sum[k] += size[k] * factor * slopes[k];
    }
  }
}

std::span<const double> ErkStages::point(std::size_t stage, std::span<const double> sizes,
                                         std::span<const double> x) {
  combine(
      stage, [&](std::size_t j) { return pair_.a(stage, j); }, sizes, point_);
  for (std::size_t i = 0; i < row_; ++i) point_[i] += x[i];
  return point_;
}

std::span<const double> ErkStages::end(std::span<const double> sizes, std::span<const double> x) {
  if (pair_.ends_at_last_stage()) return point_;
  combine(
      pair_.stages(), [&](std::size_t j) { return pair_.b(j); }, sizes, point_);
  for (std::size_t i = 0; i < row_; ++i) point_[i] += x[i];
  return point_;
}

std::span<const double> ErkStages::error(std::span<const double> sizes) {
  combine(
      pair_.stages(), [&](std::size_t j) { return pair_.error(j); }, sizes, error_);
  return error_;
}

bool ErkStages::advance() {
  if (!pair_.ends_at_last_stage()) return false;
  std::ranges::copy(slopes(pair_.stages() - 1), slopes_.begin());
  return true;
}

}  // namespace concord
