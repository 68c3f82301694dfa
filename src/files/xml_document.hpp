#pragma once

#include <filesystem>
#include <pugixml.hpp>
#include <string>

#include "concord/errors.hpp"
#include "files/text_file.hpp"

namespace concord {

/// An XML file without document type and entities, at most 256 MB. Throws InputError; `where` names
/// the file in messages.
inline void load_xml(pugi::xml_document& document, const std::filesystem::path& path,
                     const std::string& where) {
  constexpr std::uintmax_t largest = 256'000'000;
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) throw InputError(where + " is missing");
  if (size > largest) throw InputError(where + " is larger than 256 MB, which is refused");
  const auto result = document.load_file(path.c_str(), pugi::parse_default | pugi::parse_doctype);
  if (!result)
    throw InputError(where + " is not well-formed XML: " + result.description() + " in line " +
                     std::to_string(line_at(read_text_file(path, "an XML file"),
                                            static_cast<std::size_t>(result.offset))));
  for (const pugi::xml_node node : document.children())
    if (node.type() == pugi::node_doctype)
      throw InputError(where + " has a document type declaration, which is refused");
}

}  // namespace concord
