#include "CxxPeers.h"

#include <array>
#include <cstring>
#include <string>

#include <boost/interprocess/allocators/allocator.hpp>
#include <boost/interprocess/containers/map.hpp>
#include <boost/interprocess/managed_shared_memory.hpp>
#include <boost/interprocess/sync/interprocess_sharable_mutex.hpp>
#include <boost/interprocess/sync/scoped_lock.hpp>
#include <boost/interprocess/sync/sharable_lock.hpp>

namespace ip = boost::interprocess;

namespace {
using Key = std::array<unsigned char, 16>;
using Value = std::array<unsigned char, 100>;
using Allocator = ip::allocator<std::pair<const Key, Value>, ip::managed_shared_memory::segment_manager>;
using Map = ip::map<Key, Value, std::less<Key>, Allocator>;

Key key_at(const void *bytes) {
  Key key;
  std::memcpy(key.data(), bytes, key.size());
  return key;
}
}  // namespace

struct boost_table {
  std::string name;
  ip::managed_shared_memory segment;
  ip::interprocess_sharable_mutex *mutex;
  Map *map;
};

extern "C" boost_table *boost_create(const char *name, size_t capacity_bytes) {
  try {
    ip::managed_shared_memory segment(ip::create_only, name, capacity_bytes);
    auto *mutex = segment.construct<ip::interprocess_sharable_mutex>("mutex")();
    auto *map = segment.construct<Map>("map")(std::less<Key>(), Allocator(segment.get_segment_manager()));
    return new boost_table{name, std::move(segment), mutex, map};
  } catch (const ip::interprocess_exception &) {
    return nullptr;
  }
}

extern "C" void boost_destroy(boost_table *t) {
  ip::shared_memory_object::remove(t->name.c_str());
  delete t;
}

extern "C" void boost_put(boost_table *t, const void *key, const void *value) {
  ip::scoped_lock<ip::interprocess_sharable_mutex> lock(*t->mutex);
  std::memcpy((*t->map)[key_at(key)].data(), value, sizeof(Value));
}

extern "C" uint64_t boost_get_all(boost_table *t, const void *keys, size_t count, void *buffer) {
  uint64_t sum = 0;
  auto *key = static_cast<const unsigned char *>(keys);
  for (size_t i = 0; i < count; i++, key += sizeof(Key)) {
    ip::sharable_lock<ip::interprocess_sharable_mutex> lock(*t->mutex);
    const auto found = t->map->find(key_at(key));
    if (found == t->map->end()) continue;
    std::memcpy(buffer, found->second.data(), sizeof(Value));
    sum += sizeof(Value);
  }
  return sum;
}
