// Threads that stay: started when first wanted, asleep between jobs, shared by all encoders of the process.
#pragma once

#include <cstddef>
#include <functional>

namespace bytepair {

// Runs job(k) once for each k < n, on this thread and up to `threads` - 1 others; returns when all are done. Jobs must
// not throw. Several threads may call it at the same time: whoever comes while the others are busy works alone. Safe
// after fork(): a child starts its own.
void run_in_parallel(std::size_t n, unsigned threads, const std::function<void(std::size_t)>& job);

}  // namespace bytepair
