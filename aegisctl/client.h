// One question to aegisd over its control socket, and the answer. Blocking, with a limit on the wait.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <expected>
#include <string>

namespace aegis {

// Exit statuses of aegisctl.
enum class Exit : int {
    ok = 0,
    failed = 1,
    usage = 2,
    unreachable = 3, // aegisd does not run, does not answer, or may not be asked by this user's permissions on the socket
    refused = 4,     // aegisd answered that this may not be done
};

struct Failure {
    Exit exit = Exit::failed;
    std::string text; // for the operator, one line
};

class Client {
public:
    Client(std::string socket, std::chrono::milliseconds timeout) : socket_(std::move(socket)), timeout_(timeout) {}

    // The answer's "result".
    std::expected<boost::json::value, Failure> ask(const boost::json::object& request) const;

private:
    std::string socket_;
    std::chrono::milliseconds timeout_;
};

} // namespace aegis
