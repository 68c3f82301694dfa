#pragma once

#include <hdf5.h>

#include <utility>

namespace concord {

/// Owns one HDF5 identifier and closes it with `Close`. Converts to hid_t, so that HDF5's own
/// functions are called on it directly.
template <herr_t (*Close)(hid_t)>
class Hdf5Handle {
 public:
  Hdf5Handle() = default;
  explicit Hdf5Handle(hid_t id) noexcept : id_(id) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    if (this != &other) {
      close();
      id_ = std::exchange(other.id_, H5I_INVALID_HID);
    }
    return *this;
  }
  Hdf5Handle(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(const Hdf5Handle&) = delete;
  ~Hdf5Handle() { close(); }

  operator hid_t() const noexcept { return id_; }
  explicit operator bool() const noexcept { return id_ >= 0; }

  /// Closes now and gives HDF5's result; nothing happens to an empty handle.
  herr_t close() noexcept {
    return id_ >= 0 ? Close(std::exchange(id_, H5I_INVALID_HID)) : herr_t{0};
  }

 private:
  hid_t id_ = H5I_INVALID_HID;
};

using Hdf5File = Hdf5Handle<H5Fclose>;
using Hdf5Group = Hdf5Handle<H5Gclose>;
using Hdf5Dataset = Hdf5Handle<H5Dclose>;
using Hdf5Attribute = Hdf5Handle<H5Aclose>;
using Hdf5Dataspace = Hdf5Handle<H5Sclose>;
using Hdf5Datatype = Hdf5Handle<H5Tclose>;
using Hdf5Properties = Hdf5Handle<H5Pclose>;
using Hdf5Object = Hdf5Handle<H5Oclose>;

}  // namespace concord
