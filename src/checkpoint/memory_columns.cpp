#include "checkpoint/memory_columns.hpp"

#include <map>
#include <set>
#include <sstream>
#include <unordered_map>

#include "files/hdf5_io.hpp"
#include "support/hdf5_error.hpp"

namespace concord {
namespace {

using Bytes = std::vector<std::byte>;

/// Which lanes: what is common, what others remember of subsystems, what these remember.
constexpr const char* groups[] = {"run", "network", "subsystems"};

struct Column {
  std::string path;
  char type = 'c';
  std::size_t bytes = 1;  ///< of a value
  Bytes data{};
  std::size_t read = 0;  ///< bytes that are in lanes already
};

/// An entry of a lane: values of a column, or a count.
struct Part {
  std::size_t column;
  std::size_t count;
  bool is_count;
};

/// All columns, and what each layout means in each group.
class Columns {
 public:
  explicit Columns(const LaneLayouts& layouts) : layouts_(layouts) {
    const std::size_t subsystems = layouts.of.size() / 2;
    for (std::size_t lane = 0; lane < layouts.of.size(); ++lane)
      find_parts(lane == 0 ? 0 : lane <= subsystems ? 1 : 2, layouts.of[lane]);
    std::set<std::string> parents;
    for (const Column& column : all_)
      for (std::size_t i = column.path.find('/'); i != std::string::npos;
           i = column.path.find('/', i + 1))
        parents.insert(column.path.substr(0, i));
    for (Column& column : all_)
      if (parents.contains(column.path)) column.path += "/values";
  }

  std::vector<Column>& all() { return all_; }

  /// Calls `use(part, column)` for each part of a lane.
  template <class Use>
  void walk(std::size_t group, std::size_t lane, const Use& use) {
    for (const Part& part : parts_.at({group, layouts_.of[lane]})) use(part, all_[part.column]);
  }

 private:
  void find_parts(std::size_t group, std::uint32_t layout) {
    const auto [place, is_new] = parts_.try_emplace({group, layout});
    if (!is_new) return;
    std::istringstream lines(layouts_.texts.at(layout));
    char type = 'c';
    std::size_t bytes = 0, count = 0;
    for (std::string name;
         lines >> type >> bytes >> count && lines.get() == ' ' && std::getline(lines, name);)
      place->second.push_back(
          {type == 'n' ? 0 : column(group, name, type, bytes), count, type == 'n'});
  }

  std::size_t column(std::size_t group, const std::string& name, char type, std::size_t bytes) {
    std::string path = groups[group] + std::string("/") + (name.empty() ? "values" : name);
    for (;; path += "_") {
      const auto [place, is_new] = by_path_.try_emplace(path, all_.size());
      if (is_new) all_.push_back({path, type, bytes});
      const Column& found = all_[place->second];
      if (found.type == type && found.bytes == bytes) return place->second;
    }
  }

  const LaneLayouts& layouts_;
  std::vector<Column> all_;
  std::unordered_map<std::string, std::size_t> by_path_;
  std::map<std::pair<std::size_t, std::uint32_t>, std::vector<Part>> parts_;
};

template <class Memory, class Use>
void each_lane(Memory& memory, const Use& use) {
  use(0, 0, memory.common);
  const std::size_t n = memory.own.size();
  for (std::size_t k = 0; k < n; ++k) use(1, 1 + k, memory.own[k]);
  for (std::size_t k = 0; k < n; ++k) use(2, 1 + n + k, memory.themselves[k]);
}

struct Stored {
  hid_t type;
  std::size_t width;  ///< numbers in a value
};

Stored stored_as(const Column& column) {
  const std::size_t n = column.bytes;
  if (column.type == 'd') return {H5T_NATIVE_DOUBLE, n / sizeof(double)};
  if (column.type == 'f') return {H5T_NATIVE_FLOAT, n / sizeof(float)};
  const bool is_signed = column.type == 'i';
  if (column.type == 'c' || n == 1) return {is_signed ? H5T_NATIVE_INT8 : H5T_NATIVE_UINT8, n};
  if (n == 2) return {is_signed ? H5T_NATIVE_INT16 : H5T_NATIVE_UINT16, 1};
  if (n == 4) return {is_signed ? H5T_NATIVE_INT32 : H5T_NATIVE_UINT32, 1};
  return {is_signed ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64, 1};
}

void write(hid_t file, const Column& column) {
  const Stored stored = stored_as(column);
  const hsize_t extents[] = {column.data.size() / column.bytes, stored.width};
  const Hdf5Dataspace space(
      hdf5_check(H5Screate_simple(stored.width > 1 ? 2 : 1, extents, nullptr)));
  const Hdf5Properties links(hdf5_check(H5Pcreate(H5P_LINK_CREATE)));
  hdf5_check(H5Pset_create_intermediate_group(links, 1));
  const Hdf5Dataset dataset(hdf5_check(
      H5Dcreate2(file, column.path.c_str(), stored.type, space, links, H5P_DEFAULT, H5P_DEFAULT)));
  hdf5_check(H5Dwrite(dataset, stored.type, H5S_ALL, H5S_ALL, H5P_DEFAULT, column.data.data()));
}

void read(hid_t file, Column& column) {
  const Stored stored = stored_as(column);
  const Hdf5Dataset dataset(hdf5_check(H5Dopen2(file, column.path.c_str(), H5P_DEFAULT)));
  const auto extents = shape_of(dataset);
  if (extents.empty() || (extents.size() > 1 ? extents[1] : 1) != stored.width)
    throw Hdf5Error("'" + column.path + "' has another shape");
  column.data.resize(extents[0] * column.bytes);
  hdf5_check(H5Dread(dataset, stored.type, H5S_ALL, H5S_ALL, H5P_DEFAULT, column.data.data()));
}

}  // namespace

std::vector<std::uint32_t> LaneLayouts::take(const LaneLayouts& others) {
  std::unordered_map<std::string, std::uint32_t> known;
  for (const std::string& text : texts) known.emplace(text, known.size());
  std::vector<std::uint32_t> places, result;
  for (const std::string& text : others.texts) {
    const auto [place, is_new] = known.emplace(text, known.size());
    places.push_back(place->second);
    if (is_new) texts.push_back(text);
  }
  for (const std::uint32_t layout : others.of) result.push_back(places[layout]);
  return result;
}

LaneLayouts layouts_of(const ArchiveSchema& schema) {
  LaneLayouts result;
  std::unordered_map<std::string, std::uint32_t> known;
  for (const auto& lane : schema.lanes) {
    std::string text;
    for (const ArchiveSchema::Entry& entry : lane) {
      (text += entry.type) += ' ';
      (text += std::to_string(entry.bytes)) += ' ';
      (text += std::to_string(entry.count)) += ' ';
      (text += schema.names[entry.name]) += '\n';
    }
    const auto [place, is_new] =
        known.try_emplace(text, static_cast<std::uint32_t>(result.texts.size()));
    if (is_new) result.texts.push_back(std::move(text));
    result.of.push_back(place->second);
  }
  return result;
}

void write_columns(hid_t file, const Archive::Memory& memory, const LaneLayouts& layouts) {
  Columns columns(layouts);
  each_lane(memory, [&](std::size_t group, std::size_t lane, const Bytes& bytes) {
    auto at = bytes.begin();
    columns.walk(group, lane, [&](const Part& part, Column& column) {
      const auto size = static_cast<std::ptrdiff_t>(part.is_count ? sizeof(std::size_t)
                                                                  : part.count * column.bytes);
      if (size > bytes.end() - at) throw Hdf5Error("a layout is longer than what it describes");
      if (!part.is_count) column.data.insert(column.data.end(), at, at + size);
      at += size;
    });
  });
  for (const Column& column : columns.all()) write(file, column);
}

Archive::Memory read_columns(hid_t file, const LaneLayouts& layouts) {
  Columns columns(layouts);
  for (Column& column : columns.all()) read(file, column);
  Archive::Memory memory;
  memory.own.resize(layouts.of.size() / 2);
  memory.themselves.resize(layouts.of.size() / 2);
  each_lane(memory, [&](std::size_t group, std::size_t lane, Bytes& bytes) {
    columns.walk(group, lane, [&](const Part& part, Column& column) {
      if (part.is_count) {
        const auto* count = reinterpret_cast<const std::byte*>(&part.count);
        bytes.insert(bytes.end(), count, count + sizeof part.count);
        return;
      }
      const std::size_t size = part.count * column.bytes;
      if (size > column.data.size() - column.read)
        throw Hdf5Error("'" + column.path + "' is too short");
      const auto begin = column.data.begin() + static_cast<std::ptrdiff_t>(column.read);
      bytes.insert(bytes.end(), begin, begin + static_cast<std::ptrdiff_t>(size));
      column.read += size;
    });
  });
  return memory;
}

}  // namespace concord
