#pragma once

#include <mpi.h>

#include <filesystem>
#include <optional>

#include "record/results_content.hpp"
#include "record/results_file.hpp"

namespace concord {

/// The files of a run: the results file, which holds its rows, or stands above parts that hold them
/// one after the other (-cosim_record_split). Parts lie in a folder beside it, "run.h5.parts", as
/// "<run>-0001.h5": those of two runs never meet, and the file under the results file's name, which
/// changes in one go, decides which ones are seen.
///
/// What changes files is for the first rank and throws Hdf5Error or std::system_error; afterwards
/// every rank calls `share`.
class RunFiles {
 public:
  /// `layout` has the parts.
  RunFiles(const std::filesystem::path& path, ResultsLayout& layout);

  /// The results file, and that which rows are appended to.
  const std::filesystem::path& path() const { return path_; }
  const std::filesystem::path& rows() const { return rows_; }
  /// How much lies in parts before it.
  const Lengths& before() const { return before_; }

  /// Throws InputError where what is in the way is not an earlier result of this model.
  void require_free() const;
  /// Of what is in the way; "": there is nothing, or it has none.
  std::string run_there() const;
  /// The file without rows, not under its name yet; then under its name.
  void create();
  void appear();
  /// In the place of `appear`.
  void withdraw();

  /// What keeps a run from going on from `left`.
  std::optional<ResultsObstacle> obstacle(const ResultsPosition& left) const;
  /// Where nothing does: rows are appended to those before `left`. Files that are there are not
  /// changed but replaced, by whole ones.
  void go_on(const ResultsPosition& left);
  /// Gives what is in the way another name, which it returns.
  std::filesystem::path set_aside() const;
  /// The part with rows up to `written` is full; closed by all ranks. The next one is shown when
  /// its first rows are in it: HDF5 writes what refers to them first, so that a kill in between
  /// would leave a part that cannot be read.
  void begin_part(const Lengths& written);
  void show_part();
  /// No more rows behind `written`.
  void end(const ResultsEnd& end, const Lengths& written);
  /// After the end.
  void compress() const;
  /// What is written is on the disk, whatever becomes of the machine.
  void sync() const;

  /// What the first rank knows. Collective.
  void share(MPI_Comm comm);

 private:
  std::filesystem::path folder() const;
  std::filesystem::path part(std::size_t index) const;
  void add_part();
  void drop_part();
  ResultsLayout layout_of_part() const;
  void keep_parts(const ResultsPosition& left);
  void make_first_part(const ResultsPosition& left);

  std::filesystem::path path_, unfinished_, rows_;
  ResultsLayout& layout_;
  Lengths before_;
  bool shown_ = true;  ///< the last part
};

}  // namespace concord
