#pragma once

#include <string>

#include "cli/page_server.hpp"
#include "cli/watched_run.hpp"

namespace concord {

/// The page of a run that goes on, which asks a PageServer for news.
std::string watch_page();

/// What a page does not know yet.
struct PageNews {
  WatchedRun run;
  bool over = false;  ///< the run is
  int exit_code = 0;  ///< then
  WatchedRows rows;   ///< behind those that it has
  Latest<ToldEvent> events;
  std::vector<StreamTarget> targets;  ///< for sliders
  Latest<ToldSet> sets;
  double every = 0.0;  ///< s, after which to ask again
};

/// As the page takes it, JSON.
std::string in_json(const PageNews& news, const PageServer::Known& known);

}  // namespace concord
