#include "cli/carried_libraries.hpp"

#include <elf.h>
#include <link.h>
#include <udunits2.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

#include "concord/errors.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;

/// Of the machine that runs the FMU: no other one fits its kernel and its loader.
bool is_of_c_library(const std::string& name) {
  for (const char* own : {"ld-linux", "libc.so", "libm.so", "libdl.so", "libpthread.so", "librt.so",
                          "libutil.so", "libresolv.so", "libmvec.so", "libnss_"})
    if (name.starts_with(own)) return true;
  return false;
}

int add_library(dl_phdr_info* info, std::size_t /*size*/, void* files) {
  const fs::path path = info->dlpi_name;
  const std::string name = path.filename().string();
  const bool wanted = path.is_absolute() && name.find(".so") != std::string::npos &&
                      !is_of_c_library(name) && !name.starts_with("libconcord");
  if (wanted) static_cast<std::map<std::string, fs::path>*>(files)->emplace(name, path);
  return 0;
}

template <class Struct>
std::optional<Struct> at(const std::string& content, std::size_t offset) {
  if (offset > content.size() || content.size() - offset < sizeof(Struct)) return std::nullopt;
  Struct result;
  std::memcpy(&result, content.data() + offset, sizeof result);
  return result;
}

std::vector<ElfW(Phdr)> segments(const std::string& content) {
  std::vector<ElfW(Phdr)> result;
  const auto header = at<ElfW(Ehdr)>(content, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return {};
  for (std::size_t i = 0; i < header->e_phnum; ++i)
    if (const auto segment = at<ElfW(Phdr)>(content, header->e_phoff + i * header->e_phentsize))
      result.push_back(*segment);
  return result;
}

/// Where in the file an address of the loaded library is.
std::size_t offset_of(const std::vector<ElfW(Phdr)>& segments, ElfW(Addr) address) {
  for (const auto& segment : segments)
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
        address - segment.p_vaddr < segment.p_filesz)
      return segment.p_offset + (address - segment.p_vaddr);
  return std::string::npos;
}

/// Where the texts of these entries of the dynamic section begin (System V ABI, chapter 5).
std::vector<std::size_t> places_of_texts(const std::string& content,
                                         std::initializer_list<ElfW(Sxword)> tags) {
  const auto all = segments(content);
  std::vector<std::size_t> places;
  std::size_t strings = std::string::npos;
  for (const auto& segment : all)
    for (std::size_t i = 0; segment.p_type == PT_DYNAMIC; ++i) {
      const auto entry = at<ElfW(Dyn)>(content, segment.p_offset + i * sizeof(ElfW(Dyn)));
      if (!entry || entry->d_tag == DT_NULL) break;
      if (entry->d_tag == DT_STRTAB) strings = offset_of(all, entry->d_un.d_ptr);
      if (std::find(tags.begin(), tags.end(), entry->d_tag) != tags.end())
        places.push_back(entry->d_un.d_val);
    }
  for (std::size_t& place : places) place += strings;
  if (strings == std::string::npos) places.clear();
  std::erase_if(places, [&](std::size_t place) { return place >= content.size(); });
  return places;
}

std::string content_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// Adds those of `loaded` that the file needs, and what these need.
void add_needed(const fs::path& file, const std::map<std::string, fs::path>& loaded,
                std::map<std::string, fs::path>& files) {
  const std::string content = content_of(file);
  for (const std::size_t place : places_of_texts(content, {DT_NEEDED})) {
    const auto found = loaded.find(content.c_str() + place);
    if (found != loaded.end() && files.insert(*found).second)
      add_needed(found->second, loaded, files);
  }
}

}  // namespace

std::map<std::string, fs::path> carried_files(const fs::path& binary) {
  if (std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr)
    throw InputError(
        "--with-libraries takes what a process alone loads; call export-fmu without mpirun");
  std::map<std::string, fs::path> loaded, files;
  dl_iterate_phdr(add_library, &loaded);
  add_needed(binary, loaded, files);
  for (const auto& [name, path] : loaded)
    if (name.starts_with("mca_") && files.emplace(name, path).second)
      add_needed(path, loaded, files);
  ut_status status = UT_SUCCESS;
  const fs::path units = fs::path(ut_get_path_xml(nullptr, &status)).parent_path();
  for (const auto& entry : fs::directory_iterator(units))
    if (entry.path().extension() == ".xml")
      files.emplace(entry.path().filename().string(), entry.path());
  return files;
}

/// In the table of strings, where it is overwritten: the new text is shorter.
std::string looking_beside(std::string content) {
  constexpr std::string_view beside = "$ORIGIN";
  for (const std::size_t begin : places_of_texts(content, {DT_RUNPATH, DT_RPATH})) {
    const std::size_t size = std::strlen(content.c_str() + begin);
    if (size < beside.size()) continue;
    content.replace(begin, size, size, '\0');
    content.replace(begin, beside.size(), beside);
  }
  return content;
}

}  // namespace concord
