#include "cli/page_server.hpp"

#include <httplib.h>
#include <openssl/crypto.h>

#include <condition_variable>
#include <deque>
#include <future>
#include <limits>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "concord/errors.hpp"
#include "record/stream_address.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

using PageJson = nlohmann::json;

constexpr std::size_t most_bytes = 65536;  // of what somebody sets
constexpr int most_seconds = 5;            // that anybody may take for a request

/// Nothing from elsewhere, nothing to elsewhere.
const httplib::Headers headers = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
     "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"Cache-Control", "no-store"},
    {"Referrer-Policy", "no-referrer"},
    {"X-Content-Type-Options", "nosniff"}};

double number_of(const httplib::Request& request, const char* name, double otherwise) {
  return request.has_param(name) ? parse_number(request.get_param_value(name)).value_or(otherwise)
                                 : otherwise;
}

std::size_t count_of(const httplib::Request& request, const char* name) {
  const double count = number_of(request, name, 0.0);
  return count >= 0.0 && count < 1e15 ? static_cast<std::size_t>(count) : 0;
}

bool is_values(const std::string& text) {
  const PageJson values = PageJson::parse(text, nullptr, false);
  return values.is_object() &&
         std::ranges::all_of(values, [](const PageJson& value) { return value.is_number(); });
}

}  // namespace

/// Come from the threads of the server to the one that answers.
class PageServer::Questions {
 public:
  Questions(std::string page, int port) : page_(std::move(page)), token_(new_token()) {
    server_.set_default_headers(headers);
    server_.set_payload_max_length(most_bytes);
    server_.set_read_timeout(most_seconds);
    server_.set_write_timeout(most_seconds);
    server_.set_keep_alive_timeout(1);
    server_.set_socket_options([](socket_t socket) {  // not SO_REUSEPORT: the port is one's own
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    server_.set_pre_routing_handler([this](const auto& request, auto& response) {
      if (is_known(request.get_param_value("token")))
        return httplib::Server::HandlerResponse::Unhandled;
      refuse(response, 403, "the address lacks the token that 'concord watch' has printed");
      return httplib::Server::HandlerResponse::Handled;
    });
    server_.Get("/", [this](const auto&, auto& response) {
      response.set_content(page_, "text/html; charset=utf-8");
    });
    server_.Get("/news", [this](const auto& request, auto& response) {
      const double start = -std::numeric_limits<double>::infinity();
      ask(response, {{number_of(request, "since", start), count_of(request, "events"),
                      count_of(request, "sets")},
                     ""});
    });
    server_.Post("/set", [this](const auto& request, auto& response) {
      if (is_values(request.body))
        ask(response, {{}, request.body});
      else
        refuse(response, 400, "what is to be set is said as {\"car.pedal\": 0.5}");
    });
    const std::string host = "127.0.0.1";
    const bool bound =
        port == 0 ? (port = server_.bind_to_any_port(host)) > 0 : server_.bind_to_port(host, port);
    if (!bound)
      throw InputError("cannot listen at " + host + ":" + std::to_string(port) +
                       "; choose another port with --port");
    address = "http://" + host + ":" + std::to_string(port) + "/?token=" + token_;
    thread_ = std::thread([this] { server_.listen_after_bind(); });
  }

  ~Questions() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
      waiting_.clear();
    }
    while (!server_.is_running()) std::this_thread::yield();
    server_.stop();
    thread_.join();
  }

  void answer(Clock::time_point until, const Answers& answers) {
    std::unique_lock lock(mutex_);
    come_.wait_until(lock, until, [this] { return !waiting_.empty(); });
    for (; !waiting_.empty(); lock.lock()) {
      Question question = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      if (question.values.empty()) {
        question.reply.set_value(answers.news(question.known));
      } else {
        answers.set(question.values);
        question.reply.set_value("{}");
      }
    }
  }

  std::string address;

 private:
  struct Question {
    Known known;
    std::string values;  ///< to be set; empty: asks for news
    std::promise<std::string> reply{};
  };

  static void refuse(httplib::Response& response, int status, const std::string& why) {
    response.status = status;
    response.set_content(why + "\n", "text/plain; charset=utf-8");
  }

  bool is_known(const std::string& token) const {
    return token.size() == token_.size() &&
           CRYPTO_memcmp(token.data(), token_.data(), token_.size()) == 0;
  }

  void ask(httplib::Response& response, Question question) {
    auto reply = question.reply.get_future();
    {
      const std::lock_guard lock(mutex_);
      if (closed_) return refuse(response, 503, "'concord watch' ends");
      waiting_.push_back(std::move(question));
    }
    come_.notify_one();
    try {
      response.set_content(reply.get(), "application/json");
    } catch (const std::future_error&) {
      refuse(response, 503, "'concord watch' ends");
    }
  }

  const std::string page_, token_;
  httplib::Server server_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable come_;
  std::deque<Question> waiting_;
  bool closed_ = false;
};

PageServer::PageServer(std::string page, int port)
    : questions_(std::make_unique<Questions>(std::move(page), port)) {}
PageServer::~PageServer() = default;

const std::string& PageServer::address() const { return questions_->address; }

void PageServer::answer(Clock::time_point until, const Answers& answers) {
  questions_->answer(until, answers);
}

}  // namespace concord
