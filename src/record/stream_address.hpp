#pragma once

#include <string>

namespace concord {

/// Where rows of a run are streamed: "tcp://127.0.0.1:5600#token". Only who knows the token gets
/// any.
struct StreamAddress {
  std::string endpoint;  ///< "tcp://127.0.0.1:5600"; with port * any free one
  std::string token;
  bool has_token = false;

  /// Whether nobody on another machine gets there.
  bool is_local() const;
  std::string text() const { return endpoint + (has_token ? "#" + token : ""); }
};

/// That nobody can guess.
std::string new_token();

bool is_stream_address(const std::string& text);

/// Throws InputError: `what`, the text, what it should be.
StreamAddress read_stream_address(const std::string& text, const std::string& what);

}  // namespace concord
