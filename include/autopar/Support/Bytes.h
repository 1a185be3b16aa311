//===- Bytes.h - Plain structs as bytes and back ----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Serialisation for caches: the program that writes them reads them on the same
// kind of machine. A struct lists its members in a function `bytesOf(io, it)`,
// which both writes and reads.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SUPPORT_BYTES_H
#define AUTOPAR_SUPPORT_BYTES_H

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace autopar {

/// Whether values of type `T` are written byte by byte: numbers, and structs of
/// integers without padding.
template <typename T>
inline constexpr bool isPlain =
    std::is_arithmetic_v<T> ||
    (std::has_unique_object_representations_v<T> && !std::is_pointer_v<T>);

class ByteWriter {
public:
  template <typename... Ts>
  void operator()(const Ts &...values) {
    (write(values), ...);
  }

  std::string bytes;

private:
  void append(const void *data, size_t size) {
    bytes.append(static_cast<const char *>(data), size);
  }
  /// Writes an integer with seven bits per byte, the lowest first; all bytes
  /// but the last have their highest bit set.
  void writeShort(uint64_t value) {
    for (; value > 0x7F; value >>= 7)
      bytes.push_back(static_cast<char>(value | 0x80));
    bytes.push_back(static_cast<char>(value));
  }
  template <typename T>
  void write(const T &value) {
    if constexpr (std::is_integral_v<T>)
      writeShort(static_cast<uint64_t>(value));
    else if constexpr (isPlain<T>)
      append(&value, sizeof(T));
    else
      bytesOf(*this, const_cast<T &>(value));
  }
  void write(const std::string &text) {
    writeShort(text.size());
    append(text.data(), text.size());
  }
  template <typename T>
  void write(const std::vector<T> &values) {
    writeShort(values.size());
    if constexpr (isPlain<T>)
      append(values.data(), values.size() * sizeof(T));
    else
      for (const T &value : values)
        write(value);
  }
  template <typename A, typename B>
  void write(const std::pair<A, B> &both) {
    (*this)(both.first, both.second);
  }
  template <typename T>
  void write(const std::optional<T> &value) {
    write(value.has_value());
    if (value)
      write(*value);
  }
  template <typename T>
  void write(const std::shared_ptr<T> &value) {
    if (!value)
      return write(uint64_t(0));
    auto [it, isNew] = numbers.try_emplace(value.get(), numbers.size() + 1);
    write(it->second);
    if (isNew)
      write(*value);
  }

  /// Numbers of the shared objects that were written, from 1 in the order of
  /// first use.
  std::unordered_map<const void *, uint64_t> numbers;
};

/// Reads what `ByteWriter` wrote. If the input ends too early, the remaining
/// values are left unchanged.
class ByteReader {
public:
  explicit ByteReader(std::string_view bytes) : bytes(bytes) {}

  template <typename... Ts>
  void operator()(Ts &...values) {
    (read(values), ...);
  }
  /// Returns the next `size` bytes; none if there are fewer.
  std::string_view take(uint64_t size) {
    if (failed || size > bytes.size()) {
      failed = true;
      return {};
    }
    std::string_view taken = bytes.substr(0, size);
    bytes.remove_prefix(size);
    return taken;
  }

  std::string_view rest() const { return bytes; }

  /// Whether the input ended before everything was read.
  bool failed = false;

private:
  void copy(void *to, uint64_t size) {
    std::string_view from = take(size);
    if (!from.empty())
      std::memcpy(to, from.data(), from.size());
  }
  /// Reads a number of elements, each of which takes at least `least` bytes.
  uint64_t readCount(uint64_t least) {
    uint64_t count = 0;
    read(count);
    failed |= count > bytes.size() / least;
    return failed ? 0 : count;
  }
  template <typename T>
  void read(T &value) {
    if constexpr (std::is_integral_v<T>) {
      uint64_t all = 0;
      unsigned char next = 0x80;
      for (unsigned shift = 0; next > 0x7F && shift < 64; shift += 7) {
        failed |= bytes.empty();
        if (failed)
          return;
        next = static_cast<unsigned char>(bytes.front());
        bytes.remove_prefix(1);
        all |= uint64_t(next & 0x7F) << shift;
      }
      value = static_cast<T>(all);
    } else if constexpr (isPlain<T>)
      copy(&value, sizeof(T));
    else
      bytesOf(*this, value);
  }
  void read(std::string &text) { text = take(readCount(1)); }
  template <typename T>
  void read(std::vector<T> &values) {
    values.resize(readCount(isPlain<T> ? sizeof(T) : 1));
    if constexpr (isPlain<T>)
      copy(values.data(), values.size() * sizeof(T));
    else
      for (T &value : values)
        read(value);
  }
  template <typename A, typename B>
  void read(std::pair<A, B> &both) {
    (*this)(both.first, both.second);
  }
  template <typename T>
  void read(std::optional<T> &value) {
    bool has = false;
    read(has);
    if (has)
      read(value.emplace());
  }
  template <typename T>
  void read(std::shared_ptr<T> &value) {
    uint64_t number = 0;
    read(number);
    failed |= number > shared.size() + 1;
    if (failed || number == 0)
      return;
    if (number > shared.size()) {
      auto own = std::make_shared<T>();
      shared.push_back(own);
      read(*own);
    }
    value = std::static_pointer_cast<T>(shared[number - 1]);
  }

  std::string_view bytes;
  /// The shared objects that were read; index + 1 is their number.
  std::vector<std::shared_ptr<void>> shared;
};

} // namespace autopar

#endif // AUTOPAR_SUPPORT_BYTES_H
