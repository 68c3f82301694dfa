#include "cli/page_server.hpp"

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <netinet/in.h>
#include <openssl/crypto.h>
#include <sys/socket.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "concord/errors.hpp"
#include "record/stream_address.hpp"
#include "support/callback_guard.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

constexpr const char* loopback = "127.0.0.1";
constexpr int most_bytes = 65536, most_header_bytes = 16384;  // of a request
constexpr int most_seconds = 5;                               // that a connection may say nothing
constexpr int forbidden = 403;                                // which libevent does not name

/// Nothing from elsewhere, nothing to elsewhere.
constexpr std::pair<const char*, const char*> headers[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
     "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"Cache-Control", "no-store"},
    {"Referrer-Policy", "no-referrer"},
    {"X-Content-Type-Options", "nosniff"}};

bool is_values(const std::string& text) {
  const auto values = nlohmann::json::parse(text, nullptr, false);
  return values.is_object() &&
         std::ranges::all_of(values, [](const auto& value) { return value.is_number(); });
}

timeval duration_until(PageServer::Clock::time_point until) {
  using std::chrono::microseconds;
  const auto left = std::chrono::ceil<microseconds>(until - PageServer::Clock::now()).count();
  return {left / 1'000'000, left % 1'000'000};
}

/// What stands behind the ? of an address.
class Query {
 public:
  explicit Query(const evhttp_uri* uri) {
    const char* const text = uri == nullptr ? nullptr : evhttp_uri_get_query(uri);
    evhttp_parse_query_str(text == nullptr ? "" : text, &words_);
  }
  ~Query() { evhttp_clear_headers(&words_); }
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  std::string text(const char* name) const {
    const char* const found = evhttp_find_header(&words_, name);
    return found == nullptr ? "" : found;
  }
  double number(const char* name, double otherwise) const {
    return parse_number(text(name)).value_or(otherwise);
  }
  std::size_t count(const char* name) const {
    const double count = number(name, 0.0);
    return count >= 0.0 && count < 1e15 ? static_cast<std::size_t>(count) : 0;
  }

 private:
  evkeyvalq words_{};
};

}  // namespace

/// Of libevent, which is single-threaded: all happens within `answer`.
class PageServer::Listener {
 public:
  Listener(std::string page, int port)
      : page_(std::move(page)),
        token_(new_token()),
        base_(event_base_new()),
        http_(evhttp_new(base_.get())) {
    evhttp_set_allowed_methods(http_.get(), EVHTTP_REQ_GET | EVHTTP_REQ_POST);
    evhttp_set_max_body_size(http_.get(), most_bytes);
    evhttp_set_max_headers_size(http_.get(), most_header_bytes);
    evhttp_set_timeout(http_.get(), most_seconds);
    evhttp_set_gencb(http_.get(), &Listener::take, this);
    evhttp_bound_socket* const bound =
        evhttp_bind_socket_with_handle(http_.get(), loopback, static_cast<std::uint16_t>(port));
    if (bound == nullptr)
      throw InputError("cannot listen at " + (loopback + (":" + std::to_string(port))) +
                       "; choose another port with --port");
    sockaddr_in place{};
    socklen_t size = sizeof place;
    getsockname(evhttp_bound_socket_get_fd(bound), reinterpret_cast<sockaddr*>(&place), &size);
    address = std::string("http://") + loopback + ":" + std::to_string(ntohs(place.sin_port)) +
              "/?token=" + token_;
  }

  /// The last answers are on their way.
  ~Listener() {
    constexpr auto patience = std::chrono::seconds(1);
    answers_ = nullptr;
    for (const auto until = Clock::now() + patience; unsent_ > 0 && Clock::now() < until;)
      wait(std::min(until, Clock::now() + std::chrono::milliseconds(10)));
  }

  void answer(Clock::time_point until, const Answers& answers) {
    answers_ = &answers;
    wait(until);
    answers_ = nullptr;
    guard_.rethrow();
  }

  std::string address;

 private:
  struct Free {
    void operator()(event_base* base) const { event_base_free(base); }
    void operator()(evhttp* http) const { evhttp_free(http); }
    void operator()(evbuffer* buffer) const { evbuffer_free(buffer); }
  };

  void wait(Clock::time_point until) {
    const timeval left = duration_until(until);
    if (left.tv_sec < 0 || left.tv_usec < 0) {
      event_base_loop(base_.get(), EVLOOP_NONBLOCK);
      return;
    }
    event_base_loopexit(base_.get(), &left);
    event_base_dispatch(base_.get());
  }

  static void take(evhttp_request* request, void* listener) {
    auto& self = *static_cast<Listener*>(listener);
    self.guard_.run(0, [&] { return self.reply_to(request), 0; });
    if (self.guard_.caught()) event_base_loopbreak(self.base_.get());
  }

  int reply_to(evhttp_request* request) {
    const evhttp_uri* const uri = evhttp_request_get_evhttp_uri(request);
    const char* const path = uri == nullptr ? nullptr : evhttp_uri_get_path(uri);
    const std::string place = path == nullptr ? "" : path;
    if (place == "/favicon.ico")  // which browsers ask for by themselves
      return send(request, HTTP_NOCONTENT, "image/x-icon", "");
    const Query query(uri);
    if (!is_known(query.text("token")))
      return refuse(request, forbidden,
                    "the address lacks the token that 'concord watch' has printed");
    const bool gives = evhttp_request_get_command(request) == EVHTTP_REQ_POST;
    if (answers_ == nullptr) return refuse(request, HTTP_SERVUNAVAIL, "'concord watch' ends");
    if (place == "/" && !gives) return send(request, HTTP_OK, "text/html", page_);
    if (place == "/news" && !gives) {
      const Known known{query.number("since", -std::numeric_limits<double>::infinity()),
                        query.count("events"), query.count("sets")};
      return send(request, HTTP_OK, "application/json", answers_->news(known));
    }
    if (place != "/set" || !gives) return refuse(request, HTTP_NOTFOUND, "nothing is here");
    const std::string values = body_of(request);
    if (!is_values(values))
      return refuse(request, HTTP_BADREQUEST, "what is to be set is said as {\"car.pedal\": 0.5}");
    answers_->set(values);
    return send(request, HTTP_OK, "application/json", "{}");
  }

  static std::string body_of(evhttp_request* request) {
    evbuffer* const body = evhttp_request_get_input_buffer(request);
    std::string text(evbuffer_get_length(body), '\0');
    evbuffer_remove(body, text.data(), text.size());
    return text;
  }

  bool is_known(const std::string& token) const {
    return token.size() == token_.size() &&
           CRYPTO_memcmp(token.data(), token_.data(), token_.size()) == 0;
  }

  int refuse(evhttp_request* request, int status, const std::string& why) {
    return send(request, status, "text/plain", why + "\n");
  }

  int send(evhttp_request* request, int status, const std::string& kind, const std::string& text) {
    evkeyvalq* const out = evhttp_request_get_output_headers(request);
    for (const auto& [name, value] : headers) evhttp_add_header(out, name, value);
    evhttp_add_header(out, "Content-Type", (kind + "; charset=utf-8").c_str());
    const std::unique_ptr<evbuffer, Free> body(evbuffer_new());
    evbuffer_add(body.get(), text.data(), text.size());
    ++unsent_;
    const auto sent = [](evhttp_request*, void* unsent) { --*static_cast<int*>(unsent); };
    evhttp_request_set_on_complete_cb(request, sent, &unsent_);
    evhttp_send_reply(request, status, nullptr, body.get());
    return status;
  }

  const std::string page_, token_;
  std::unique_ptr<event_base, Free> base_;
  std::unique_ptr<evhttp, Free> http_;
  CallbackGuard guard_;
  const Answers* answers_ = nullptr;  ///< null: it ends
  int unsent_ = 0;                    ///< replies
};

PageServer::PageServer(std::string page, int port)
    : listener_(std::make_unique<Listener>(std::move(page), port)) {}
PageServer::~PageServer() = default;

const std::string& PageServer::address() const { return listener_->address; }

void PageServer::answer(Clock::time_point until, const Answers& answers) {
  listener_->answer(until, answers);
}

}  // namespace concord
