// session_vectors DIRECTORY           writes the recorded sessions with all of their bytes
// session_vectors digests DIRECTORY   writes the digests of their messages
// doc/testing.md, Recorded sessions, has both formats.
#include <cstdio>
#include <exception>
#include <string_view>

#include "tests/vectors/vector_files.h"

int main(int argc, char** argv) {
  const bool has_digests = argc == 3 && std::string_view(argv[1]) == "digests";
  if (argc != 2 && !has_digests) {
    std::fprintf(stderr, "usage: session_vectors [digests] DIRECTORY\n");
    return 2;
  }
  try {
    if (has_digests)
      tinyot::test::write_digests(argv[2]);
    else
      tinyot::test::write_sessions(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "session_vectors: %s\n", error.what());
    return 1;
  }
}
