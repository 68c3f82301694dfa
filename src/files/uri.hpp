#pragma once

#include <string>

namespace concord {

/// A relative path as SSP writes it: a URI reference (RFC 3986), in which all but letters, digits
/// and -._~/ are percent-encoded.
std::string uri_of(const std::string& path);

/// The path that a relative URI reference names.
std::string path_of(const std::string& uri);

}  // namespace concord
