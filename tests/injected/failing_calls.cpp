/// Preloaded: counts a program's calls of the operating system, of the heap, HDF5 and MPI by kind,
/// and makes one of them fail, once, or ends the program there. Environment:
///   CALLS_REPORT    file of a Report, made before; the counts of all processes that are meant add
///   up CALLS_PROGRAM   name of the program that is meant; others that inherit the environment are
///   not CALLS_RANK      rank that is meant; without: all CALLS_FOLDER    calls for files count
///   within this folder only; without: everywhere CALLS_KIND      kind that is to fail, a name in
///   `kinds`; without: none, all are counted CALLS_NUMBER    which of them, from 1 CALLS_FAILURE
///   name of an errno, or "short" (half of the bytes), "kill" (SIGKILL before the call),
///                   "kill_half" (SIGKILL when half of its bytes are written)
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <hdf5.h>
#include <mpi.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
}

namespace {

enum Kind {
  allocate,
  write_,
  sync_,
  truncate_,
  rename_,
  entry,
  open_,
  close_,
  read_,
  map,
  lock,
  process,
  hdf5,
  mpi,
  number_of_kinds
};
constexpr const char* kinds[] = {"allocate", "write",   "sync",  "truncate", "rename",
                                 "entry",    "open",    "close", "read",     "map",
                                 "lock",     "process", "hdf5",  "mpi"};
static_assert(std::size(kinds) == number_of_kinds);

/// What the driver reads, also after a SIGKILL: shared memory.
struct Report {
  std::atomic<std::uint64_t> counts[number_of_kinds];
  std::atomic<std::uint64_t> failed;
  char place[8192];  ///< of the call that failed: libraries and functions, the innermost first
};

constexpr int kill_before = -1, kill_half = -2, half = -3;

struct Plan {
  Report* report = nullptr;
  Kind kind = number_of_kinds;
  std::uint64_t number = 0;
  int failure = 0;
  const char* folder = nullptr;
};
Plan plan;
bool armed = false;
[[gnu::tls_model("initial-exec")]] thread_local bool busy = false;

int failure_named(const char* name) {
  const struct {
    const char* name;
    int number;
  } known[] = {
      {"ENOSPC", ENOSPC}, {"EIO", EIO},          {"EINTR", EINTR},        {"ENOMEM", ENOMEM},
      {"EMFILE", EMFILE}, {"EACCES", EACCES},    {"EAGAIN", EAGAIN},      {"ENOLCK", ENOLCK},
      {"short", half},    {"kill", kill_before}, {"kill_half", kill_half}};
  for (const auto& one : known)
    if (std::strcmp(one.name, name) == 0) return one.number;
  std::abort();
}

bool is_meant() {
  const char* program = std::getenv("CALLS_PROGRAM");
  if (program == nullptr || std::strcmp(program, program_invocation_short_name) != 0) return false;
  const char* meant = std::getenv("CALLS_RANK");
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  return meant == nullptr || (rank != nullptr && std::strcmp(meant, rank) == 0);
}

[[gnu::constructor]] void begin() {
  const char* path = std::getenv("CALLS_REPORT");
  if (path == nullptr || !is_meant()) return;
  const int file = static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC));
  void* place = reinterpret_cast<void*>(
      syscall(SYS_mmap, nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  if (file < 0 || place == MAP_FAILED) std::abort();
  syscall(SYS_close, file);
  plan.report = static_cast<Report*>(place);
  plan.folder = std::getenv("CALLS_FOLDER");
  if (const char* kind = std::getenv("CALLS_KIND")) {
    const auto* found = std::find_if(std::begin(kinds), std::end(kinds), [&](const char* name) {
      return std::strcmp(name, kind) == 0;
    });
    plan.kind = static_cast<Kind>(found - std::begin(kinds));
    plan.number = std::strtoull(std::getenv("CALLS_NUMBER"), nullptr, 10);
    plan.failure = failure_named(std::getenv("CALLS_FAILURE"));
  }
  void* frame = nullptr;
  backtrace(&frame, 1);  // loads what it needs
  pthread_atfork(nullptr, nullptr, [] { armed = false; });
  armed = true;
}

void note_place() {
  void* frames[48];
  const int count = backtrace(frames, 48);
  char* to = plan.report->place;
  std::size_t left = sizeof plan.report->place;
  for (int i = 0; i < count; ++i) {
    Dl_info info{};
    if (dladdr(frames[i], &info) == 0 || info.dli_fname == nullptr) continue;
    const char* slash = std::strrchr(info.dli_fname, '/');
    const int length =
        std::snprintf(to, left, "%s %s+%#lx\n", slash != nullptr ? slash + 1 : info.dli_fname,
                      info.dli_sname != nullptr ? info.dli_sname : "?",
                      static_cast<unsigned long>(reinterpret_cast<std::uintptr_t>(frames[i]) -
                                                 reinterpret_cast<std::uintptr_t>(info.dli_fbase)));
    if (length < 0 || static_cast<std::size_t>(length) >= left) return;
    to += length, left -= static_cast<std::size_t>(length);
  }
}

[[noreturn]] void end_process() {
  syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
  for (;;) pause();
}

/// Whether this call is the one; those that the program does not survive do not come back.
bool fails(Kind kind) {
  if (!armed || busy) return false;
  const std::uint64_t number = ++plan.report->counts[kind];
  if (kind != plan.kind || number != plan.number) return false;
  busy = true;
  note_place();
  busy = false;
  plan.report->failed = 1;
  if (plan.failure == kill_before) end_process();
  errno = plan.failure > 0 ? plan.failure : EIO;
  return true;
}

bool is_inside(const char* path) {
  return plan.folder == nullptr || path[0] != '/' ||
         std::strncmp(path, plan.folder, std::strlen(plan.folder)) == 0;
}

/// Of a file; of a pipe, a socket and a terminal not.
bool is_inside(int file) {
  if (!armed || busy) return false;
  char link[64], path[4096];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const auto length = syscall(SYS_readlink, link, path, sizeof path - 1);
  if (length <= 0) return false;
  path[length] = '\0';
  return path[0] == '/' && std::strncmp(path, "/dev/", 5) != 0 && is_inside(path);
}

template <class What>
bool fails_at(Kind kind, What file) {
  const int before = errno;
  const bool inside = is_inside(file);
  errno = before;
  return inside && fails(kind);
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// What becomes of a call that fails; `transfer` moves so many bytes.
template <class Transfer>
ssize_t broken(std::size_t bytes, const Transfer& transfer) {
  if (plan.failure > 0) return -1;
  const ssize_t moved = transfer(std::max<std::size_t>(bytes / 2, 1));
  if (plan.failure == kill_half) end_process();
  return moved;
}

template <class Call, class Transfer>
ssize_t moved(Kind kind, int file, std::size_t bytes, const Call& call, const Transfer& transfer) {
  return fails_at(kind, file) ? broken(bytes, transfer) : call();
}

mode_t mode_of(int flags, va_list more) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
}

}  // namespace

extern "C" {

// The heap.
void* malloc(size_t size) { return fails(allocate) ? nullptr : __libc_malloc(size); }
void* calloc(size_t count, size_t size) {
  return fails(allocate) ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* block, size_t size) {
  return size > 0 && fails(allocate) ? nullptr : __libc_realloc(block, size);
}
void* memalign(size_t alignment, size_t size) {
  return fails(allocate) ? nullptr : __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void** block, size_t alignment, size_t size) {
  if (fails(allocate)) return ENOMEM;
  *block = __libc_memalign(alignment, size);
  return *block == nullptr ? ENOMEM : 0;
}

// Bytes of files.
#define CALL_OF_BYTES(KIND, NAME, BUFFER, OFFSET)                                     \
  ssize_t NAME(int file, BUFFER bytes, size_t size, OFFSET offset) {                  \
    static auto* const real = next<decltype(NAME)>(#NAME);                            \
    const auto some = [&](size_t count) { return real(file, bytes, count, offset); }; \
    return moved(                                                                     \
        KIND, file, size, [&] { return some(size); }, some);                          \
  }
CALL_OF_BYTES(write_, pwrite, const void*, off_t)
CALL_OF_BYTES(write_, pwrite64, const void*, off64_t)
CALL_OF_BYTES(read_, pread, void*, off_t)
CALL_OF_BYTES(read_, pread64, void*, off64_t)

#define CALL_OF_STREAM(KIND, NAME, BUFFER)                                    \
  ssize_t NAME(int file, BUFFER bytes, size_t size) {                         \
    static auto* const real = next<decltype(NAME)>(#NAME);                    \
    const auto some = [&](size_t count) { return real(file, bytes, count); }; \
    return moved(                                                             \
        KIND, file, size, [&] { return some(size); }, some);                  \
  }
CALL_OF_STREAM(write_, write, const void*)
CALL_OF_STREAM(read_, read, void*)

ssize_t writev(int file, const iovec* pieces, int number) {
  static auto* const real = next<decltype(writev)>("writev");
  const auto first = [&](size_t) {
    return ::syscall(SYS_write, file, pieces->iov_base, (pieces->iov_len + 1) / 2);
  };
  return moved(
      write_, file, 1, [&] { return real(file, pieces, number); }, first);
}

size_t fwrite(const void* bytes, size_t size, size_t count, FILE* file) {
  static auto* const real = next<decltype(fwrite)>("fwrite");
  if (!fails_at(write_, fileno(file))) return real(bytes, size, count, file);
  const ssize_t moved = broken(count, [&](size_t some) {
    const size_t written = real(bytes, size, some, file);
    std::fflush(file);
    return static_cast<ssize_t>(written);
  });
  return moved < 0 ? 0 : static_cast<size_t>(moved);
}

// What else is done with open files; one that fails to close is closed.
#define CALL_OF_FILE(KIND, NAME, PARAMETERS, ARGUMENTS)    \
  int NAME PARAMETERS {                                    \
    static auto* const real = next<int PARAMETERS>(#NAME); \
    return fails_at(KIND, file) ? -1 : real ARGUMENTS;     \
  }
CALL_OF_FILE(sync_, fsync, (int file), (file))
CALL_OF_FILE(sync_, fdatasync, (int file), (file))
CALL_OF_FILE(truncate_, ftruncate, (int file, off_t size) noexcept, (file, size))
CALL_OF_FILE(truncate_, ftruncate64, (int file, off64_t size) noexcept, (file, size))
CALL_OF_FILE(truncate_, fallocate, (int file, int mode, off_t from, off_t size),
             (file, mode, from, size))
CALL_OF_FILE(lock, flock, (int file, int operation) noexcept, (file, operation))

#define CALL_THAT_GIVES_THE_REASON(NAME, OFFSET)                                           \
  int NAME(int file, OFFSET from, OFFSET size) {                                           \
    static auto* const real = next<int(int, OFFSET, OFFSET)>(#NAME);                       \
    return fails_at(truncate_, file) ? std::max(plan.failure, 1) : real(file, from, size); \
  }
CALL_THAT_GIVES_THE_REASON(posix_fallocate, off_t)
CALL_THAT_GIVES_THE_REASON(posix_fallocate64, off64_t)

int close(int file) {
  static auto* const real = next<int(int)>("close");
  const bool failed = fails_at(close_, file);
  const int reason = errno, result = real(file);
  if (failed) errno = reason;
  return failed ? -1 : result;
}

int fclose(FILE* file) {
  static auto* const real = next<int(FILE*)>("fclose");
  const bool failed = fails_at(close_, fileno(file));
  const int reason = errno, result = real(file);
  if (failed) errno = reason;
  return failed ? EOF : result;
}

// Files by name.
#define CALL_OF_PATH(KIND, NAME, PARAMETERS, ARGUMENTS)    \
  int NAME PARAMETERS {                                    \
    static auto* const real = next<int PARAMETERS>(#NAME); \
    return fails_at(KIND, path) ? -1 : real ARGUMENTS;     \
  }
CALL_OF_PATH(rename_, rename, (const char* path, const char* to) noexcept, (path, to))
CALL_OF_PATH(entry, link, (const char* path, const char* to) noexcept, (path, to))
CALL_OF_PATH(entry, unlink, (const char* path) noexcept, (path))
CALL_OF_PATH(entry, remove, (const char* path) noexcept, (path))
CALL_OF_PATH(entry, rmdir, (const char* path) noexcept, (path))
CALL_OF_PATH(entry, mkdir, (const char* path, mode_t mode) noexcept, (path, mode))

#define CALL_THAT_OPENS(NAME)                                             \
  int NAME(const char* path, int flags, ...) {                            \
    static auto* const real = next<int(const char*, int, mode_t)>(#NAME); \
    va_list more;                                                         \
    va_start(more, flags);                                                \
    const mode_t mode = mode_of(flags, more);                             \
    va_end(more);                                                         \
    return fails_at(open_, path) ? -1 : real(path, flags, mode);          \
  }
CALL_THAT_OPENS(open)
CALL_THAT_OPENS(open64)

#define CALL_THAT_OPENS_A_STREAM(NAME)                         \
  FILE* NAME(const char* path, const char* mode) {             \
    static auto* const real = next<decltype(NAME)>(#NAME);     \
    return fails_at(open_, path) ? nullptr : real(path, mode); \
  }
CALL_THAT_OPENS_A_STREAM(fopen)
CALL_THAT_OPENS_A_STREAM(fopen64)

// Memory and processes.
#define CALL_THAT_MAPS(NAME, OFFSET)                                                             \
  void* NAME(void* at, size_t size, int protection, int flags, int file, OFFSET from) noexcept { \
    if (fails(map)) return MAP_FAILED;                                                           \
    return reinterpret_cast<void*>(syscall(SYS_mmap, at, size, protection, flags, file, from));  \
  }
CALL_THAT_MAPS(mmap, off_t)
CALL_THAT_MAPS(mmap64, off64_t)

pid_t fork() noexcept {
  static auto* const real = next<pid_t()>("fork");
  return fails(process) ? -1 : real();
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*work)(void*),
                   void* argument) noexcept {
  static auto* const real = next<decltype(pthread_create)>("pthread_create");
  return fails(process) ? EAGAIN : real(thread, attributes, work, argument);
}

// HDF5, without a word on its stack of errors.
#define CALL_OF_HDF5(RESULT, NAME, PARAMETERS, ARGUMENTS)          \
  RESULT NAME PARAMETERS {                                         \
    static auto* const real = next<RESULT PARAMETERS>(#NAME);      \
    return fails(hdf5) ? static_cast<RESULT>(-1) : real ARGUMENTS; \
  }
CALL_OF_HDF5(hid_t, H5Fcreate, (const char* path, unsigned flags, hid_t made, hid_t access),
             (path, flags, made, access))
CALL_OF_HDF5(hid_t, H5Fopen, (const char* path, unsigned flags, hid_t access),
             (path, flags, access))
CALL_OF_HDF5(herr_t, H5Fflush, (hid_t file, H5F_scope_t scope), (file, scope))
CALL_OF_HDF5(herr_t, H5Dwrite,
             (hid_t data, hid_t type, hid_t memory, hid_t file, hid_t transfer, const void* bytes),
             (data, type, memory, file, transfer, bytes))
CALL_OF_HDF5(herr_t, H5Dread,
             (hid_t data, hid_t type, hid_t memory, hid_t file, hid_t transfer, void* bytes),
             (data, type, memory, file, transfer, bytes))
CALL_OF_HDF5(herr_t, H5Dset_extent, (hid_t data, const hsize_t size[]), (data, size))
CALL_OF_HDF5(hid_t, H5Dcreate2,
             (hid_t place, const char* name, hid_t type, hid_t space, hid_t links, hid_t made,
              hid_t access),
             (place, name, type, space, links, made, access))
CALL_OF_HDF5(hid_t, H5Dopen2, (hid_t place, const char* name, hid_t access), (place, name, access))
CALL_OF_HDF5(hid_t, H5Gcreate2,
             (hid_t place, const char* name, hid_t links, hid_t made, hid_t access),
             (place, name, links, made, access))
CALL_OF_HDF5(hid_t, H5Acreate2,
             (hid_t place, const char* name, hid_t type, hid_t space, hid_t made, hid_t access),
             (place, name, type, space, made, access))
CALL_OF_HDF5(herr_t, H5Awrite, (hid_t attribute, hid_t type, const void* value),
             (attribute, type, value))
CALL_OF_HDF5(herr_t, H5Aread, (hid_t attribute, hid_t type, void* value), (attribute, type, value))
CALL_OF_HDF5(ssize_t, H5Fget_file_image, (hid_t file, void* bytes, size_t size),
             (file, bytes, size))

herr_t H5Fclose(hid_t file) {
  static auto* const real = next<herr_t(hid_t)>("H5Fclose");
  const bool failed = fails(hdf5);
  const herr_t result = real(file);
  return failed ? -1 : result;
}

// MPI: the communicator's error handler decides, as after an error of the library's own.
#define CALL_OF_MPI(NAME, COMM, PARAMETERS, ARGUMENTS) \
  int NAME PARAMETERS {                                \
    if (!fails(mpi)) return P##NAME ARGUMENTS;         \
    PMPI_Comm_call_errhandler(COMM, MPI_ERR_OTHER);    \
    return MPI_ERR_OTHER;                              \
  }
CALL_OF_MPI(MPI_Allreduce, comm,
            (const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
            (from, to, count, type, op, comm))
CALL_OF_MPI(MPI_Bcast, comm, (void* data, int count, MPI_Datatype type, int root, MPI_Comm comm),
            (data, count, type, root, comm))
CALL_OF_MPI(MPI_Barrier, comm, (MPI_Comm comm), (comm))
CALL_OF_MPI(MPI_Ibarrier, comm, (MPI_Comm comm, MPI_Request* request), (comm, request))
CALL_OF_MPI(MPI_Allgather, comm,
            (const void* from, int sent, MPI_Datatype type, void* to, int count, MPI_Datatype other,
             MPI_Comm comm),
            (from, sent, type, to, count, other, comm))
CALL_OF_MPI(MPI_Allgatherv, comm,
            (const void* from, int sent, MPI_Datatype type, void* to, const int counts[],
             const int places[], MPI_Datatype other, MPI_Comm comm),
            (from, sent, type, to, counts, places, other, comm))
CALL_OF_MPI(MPI_Gather, comm,
            (const void* from, int sent, MPI_Datatype type, void* to, int count, MPI_Datatype other,
             int root, MPI_Comm comm),
            (from, sent, type, to, count, other, root, comm))
CALL_OF_MPI(MPI_Gatherv, comm,
            (const void* from, int sent, MPI_Datatype type, void* to, const int counts[],
             const int places[], MPI_Datatype other, int root, MPI_Comm comm),
            (from, sent, type, to, counts, places, other, root, comm))
CALL_OF_MPI(MPI_Send, comm,
            (const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm),
            (data, count, type, to, tag, comm))
CALL_OF_MPI(MPI_Isend, comm,
            (const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
             MPI_Request* request),
            (data, count, type, to, tag, comm, request))
CALL_OF_MPI(MPI_Recv, comm,
            (void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status* status),
            (data, count, type, from, tag, comm, status))
CALL_OF_MPI(MPI_Irecv, comm,
            (void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Request* request),
            (data, count, type, from, tag, comm, request))
CALL_OF_MPI(MPI_Startall, MPI_COMM_WORLD, (int count, MPI_Request requests[]), (count, requests))
CALL_OF_MPI(MPI_Wait, MPI_COMM_WORLD, (MPI_Request * request, MPI_Status* status),
            (request, status))
CALL_OF_MPI(MPI_Waitall, MPI_COMM_WORLD, (int count, MPI_Request requests[], MPI_Status statuses[]),
            (count, requests, statuses))
CALL_OF_MPI(MPI_Comm_dup, comm, (MPI_Comm comm, MPI_Comm* made), (comm, made))
CALL_OF_MPI(MPI_Comm_split, comm, (MPI_Comm comm, int color, int key, MPI_Comm* made),
            (comm, color, key, made))
}
