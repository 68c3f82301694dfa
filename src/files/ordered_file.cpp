#include "files/ordered_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "files/whole_file.hpp"
#include "support/hdf5_error.hpp"

namespace concord {
namespace {

using Bytes = std::vector<unsigned char>;

/// What HDF5 has written of its own at one place.
struct Piece {
  H5FD_mem_t kind;
  Bytes bytes;
};

bool write_at(int file, haddr_t address, const unsigned char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t written = pwrite(file, bytes, size, static_cast<off_t>(address));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written, address += static_cast<haddr_t>(written);
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

/// Of what lies behind the end, zeros.
bool read_at(int file, haddr_t address, unsigned char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t count = pread(file, bytes, size, static_cast<off_t>(address));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    if (count == 0) {
      std::fill_n(bytes, size, 0);
      return true;
    }
    bytes += count, address += static_cast<haddr_t>(count);
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

/// Distance of a node of an index from its leaves: HDF5 File Format Specification 3.0, III.A.1.
int level_of(const Bytes& bytes) {
  constexpr std::size_t signature = 4, level = 5;
  const bool node = bytes.size() > level && std::memcmp(bytes.data(), "TREE", signature) == 0;
  return node ? bytes[level] : 0;
}

/// H5FD_t comes first: HDF5 knows the file by it.
struct OrderedFile : H5FD_t {
  int file = -1;
  haddr_t end_of_addresses = 0;  ///< as HDF5 has it
  haddr_t told_end = 0;          ///< as the file has it
  bool has_to_fit = false;       ///< it ends at end_of_addresses
  bool read_only = false;
  std::map<haddr_t, Piece> pieces{};

  haddr_t length() const {
    struct stat status {};
    return fstat(file, &status) == 0 ? static_cast<haddr_t>(status.st_size) : 0;
  }

  bool read(haddr_t address, std::size_t size, unsigned char* to) const;
  void keep(H5FD_mem_t kind, haddr_t address, const unsigned char* bytes, std::size_t size);
  void forget(haddr_t begin, haddr_t end);
  bool commit();

 private:
  /// What is smaller is written first.
  std::tuple<int, int> place_of(haddr_t address, const Piece& piece) const {
    if (piece.kind == H5FD_MEM_SUPER) return {0, 0};
    if (address >= told_end) return {1, 0};
    if (piece.kind == H5FD_MEM_GHEAP || piece.kind == H5FD_MEM_LHEAP) return {2, 0};
    if (piece.kind == H5FD_MEM_BTREE) return {3, -level_of(piece.bytes)};
    return {4, 0};
  }
};

bool OrderedFile::read(haddr_t address, std::size_t size, unsigned char* to) const {
  if (!read_at(file, address, to, size)) return false;
  auto piece = pieces.upper_bound(address);
  if (piece != pieces.begin()) --piece;
  for (; piece != pieces.end() && piece->first < address + size; ++piece) {
    const Bytes& bytes = piece->second.bytes;
    const haddr_t first = std::max(piece->first, address);
    const haddr_t end = std::min(piece->first + bytes.size(), address + size);
    if (first < end)
      std::copy_n(bytes.data() + (first - piece->first), end - first, to + (first - address));
  }
  return true;
}

/// Whatever of it lies from `begin` to `end` is no more.
void OrderedFile::forget(haddr_t begin, haddr_t end) {
  auto piece = pieces.upper_bound(begin);
  if (piece != pieces.begin()) --piece;
  while (piece != pieces.end() && piece->first < end) {
    const haddr_t first = piece->first, last = first + piece->second.bytes.size();
    if (last <= begin) {
      ++piece;
      continue;
    }
    Piece old = std::move(piece->second);
    piece = pieces.erase(piece);
    const auto part = [&](haddr_t from, haddr_t to) {
      const auto bytes = old.bytes.begin();
      return Piece{old.kind, Bytes(bytes + static_cast<std::ptrdiff_t>(from - first),
                                   bytes + static_cast<std::ptrdiff_t>(to - first))};
    };
    if (first < begin) pieces.emplace(first, part(first, begin));
    if (last > end) pieces.emplace(end, part(end, last));
  }
}

void OrderedFile::keep(H5FD_mem_t kind, haddr_t address, const unsigned char* bytes,
                       std::size_t size) {
  forget(address, address + size);
  pieces[address] = {kind, Bytes(bytes, bytes + size)};
}

bool OrderedFile::commit() {
  const auto set_length = [&] {
    return 0 ==
           uninterrupted([&] { return ftruncate(file, static_cast<off_t>(end_of_addresses)); });
  };
  if (length() < end_of_addresses && !set_length()) return false;
  std::vector<std::pair<const haddr_t, Piece>*> all;
  all.reserve(pieces.size());
  for (auto& piece : pieces) all.push_back(&piece);
  std::stable_sort(all.begin(), all.end(), [&](const auto* a, const auto* b) {
    return place_of(a->first, a->second) < place_of(b->first, b->second);
  });
  for (const auto* piece : all) {
    const Bytes& bytes = piece->second.bytes;
    if (!write_at(file, piece->first, bytes.data(), bytes.size())) return false;
  }
  pieces.clear();
  told_end = end_of_addresses;
  if (!has_to_fit || length() <= end_of_addresses) return true;
  return set_length();
}

OrderedFile& ours(H5FD_t* file) { return *static_cast<OrderedFile*>(file); }
const OrderedFile& ours(const H5FD_t* file) { return *static_cast<const OrderedFile*>(file); }

/// Why the calling thread's last file that was closed may lack what was to be in it; 0: it does
/// not.
thread_local int close_failure = 0;

/// The reason goes where HDF5 keeps those of its own driver, in the same words.
herr_t result(bool done, const char* what) {
  if (done) return 0;
  const int reason = errno;
  H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_IO, H5E_CANTOPERATE,
           "%s: error message = '%s'", what, std::strerror(reason));
  return -1;
}

herr_t out_of_memory() {
  errno = ENOMEM;
  return result(false, "file access failed");
}

/// HDF5 does not survive a file that fails to close: it keeps a name for what is gone.
void closes(bool done) {
  if (!done && close_failure == 0) close_failure = errno;
}

H5FD_t* open_file(const char* name, unsigned flags, hid_t /*access*/, haddr_t /*most*/) try {
  int mode = (flags & H5F_ACC_RDWR) != 0 ? O_RDWR : O_RDONLY;
  if ((flags & H5F_ACC_TRUNC) != 0) mode |= O_TRUNC;
  if ((flags & H5F_ACC_CREAT) != 0) mode |= O_CREAT;
  if ((flags & H5F_ACC_EXCL) != 0) mode |= O_EXCL;
  auto opened = std::make_unique<OrderedFile>();
  opened->read_only = (flags & H5F_ACC_RDWR) == 0;
  opened->file = uninterrupted([&] { return open(name, mode | O_CLOEXEC, 0666); });
  if (result(opened->file >= 0, "unable to open file") < 0) return nullptr;
  opened->told_end = opened->length();
  return opened.release();
} catch (const std::bad_alloc&) {
  out_of_memory();
  return nullptr;
}

bool committed(OrderedFile& file) try { return file.commit(); } catch (const std::bad_alloc&) {
  errno = ENOMEM;
  return false;
}

herr_t close_file(H5FD_t* file) {
  const std::unique_ptr<OrderedFile> closed(&ours(file));
  if (!closed->pieces.empty()) closes(committed(*closed));
  closes(close_once(closed->file) == 0);
  return 0;
}

int compare_files(const H5FD_t* one, const H5FD_t* other) {
  struct stat a {
  }, b{};
  fstat(ours(one).file, &a);
  fstat(ours(other).file, &b);
  const auto key = [](const struct stat& status) { return std::tie(status.st_dev, status.st_ino); };
  return key(a) < key(b) ? -1 : key(b) < key(a) ? 1 : 0;
}

herr_t query_features(const H5FD_t* file, unsigned long* features) {
  const bool reads = file != nullptr && ours(file).read_only;
  if (features != nullptr)
    *features = reads ? H5FD_FEAT_ACCUMULATE_METADATA_READ | H5FD_FEAT_DATA_SIEVE : 0;
  return 0;
}

haddr_t get_end(const H5FD_t* file, H5FD_mem_t /*kind*/) { return ours(file).end_of_addresses; }

herr_t set_end(H5FD_t* file, H5FD_mem_t /*kind*/, haddr_t end) {
  ours(file).end_of_addresses = end;
  return 0;
}

haddr_t get_length(const H5FD_t* file, H5FD_mem_t /*kind*/) { return ours(file).length(); }

herr_t read_bytes(H5FD_t* file, H5FD_mem_t /*kind*/, hid_t /*transfer*/, haddr_t address,
                  std::size_t size, void* to) {
  return result(ours(file).read(address, size, static_cast<unsigned char*>(to)),
                "file read failed");
}

herr_t write_bytes(H5FD_t* file, H5FD_mem_t kind, hid_t /*transfer*/, haddr_t address,
                   std::size_t size, const void* from) try {
  OrderedFile& written = ours(file);
  const auto* bytes = static_cast<const unsigned char*>(from);
  if (kind == H5FD_MEM_DRAW) {
    written.forget(address, address + size);
    return result(write_at(written.file, address, bytes, size), "file write failed");
  }
  written.keep(kind, address, bytes, size);
  return 0;
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

herr_t flush_file(H5FD_t* file, hid_t /*transfer*/, hbool_t closing) {
  const bool done = committed(ours(file));
  if (!closing) return result(done, "file write failed");
  closes(done);
  return 0;
}

/// Before what says so is written: not yet.
herr_t truncate_file(H5FD_t* file, hid_t /*transfer*/, hbool_t /*closing*/) {
  ours(file).has_to_fit = true;
  return 0;
}

H5FD_class_t driver() {
  H5FD_class_t all{};
#if H5_VERSION_GE(1, 13, 0)
  constexpr int own_value = 512;  // from 256 on they are free to use, up to 511 for tests
  all.version = H5FD_CLASS_VERSION;
  all.value = static_cast<H5FD_class_value_t>(own_value);
#endif
  all.name = "concord_ordered";
  all.maxaddr = static_cast<haddr_t>(std::numeric_limits<off_t>::max());
  all.fc_degree = H5F_CLOSE_WEAK;
  all.open = open_file;
  all.close = close_file;
  all.cmp = compare_files;
  all.query = query_features;
  all.get_eoa = get_end;
  all.set_eoa = set_end;
  all.get_eof = get_length;
  all.read = read_bytes;
  all.write = write_bytes;
  all.flush = flush_file;
  all.truncate = truncate_file;
  constexpr std::array<H5FD_mem_t, H5FD_MEM_NTYPES> one_list = H5FD_FLMAP_DICHOTOMY;
  std::copy(one_list.begin(), one_list.end(), all.fl_map);
  return all;
}

}  // namespace

void close_in_order(Hdf5File& file) {
  if (!file) return;
  hdf5_check(H5Fflush(file, H5F_SCOPE_LOCAL));
  close_failure = 0;
  hdf5_check(file.close());
  if (close_failure != 0) throw Hdf5SystemError(std::strerror(close_failure));
}

void write_in_order(hid_t access) {
  static const H5FD_class_t kind = driver();
  static const hid_t registered = H5FDregister(&kind);
  hdf5_check(H5Pset_driver(access, hdf5_check(registered), nullptr));
}

}  // namespace concord
