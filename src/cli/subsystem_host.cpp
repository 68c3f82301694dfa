#include "subsystem/isolated/host.hpp"

int main(int argc, char** argv) { return concord::subsystem_host(argc, argv); }
