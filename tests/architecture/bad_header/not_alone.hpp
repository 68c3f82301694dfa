#pragma once

/// A header that does not compile alone: it uses std::string without including it.
std::string not_alone();
