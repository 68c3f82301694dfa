#include "cli/command_line.hpp"

int main(int argc, char** argv) { return concord::command_line(argc, argv); }
