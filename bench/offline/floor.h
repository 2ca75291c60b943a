// What the stages' floors are made of: how fast this machine runs each kernel, in seconds of a
// thread's CPU time.
//
// A stage counts on paper how many bytes, blocks and columns it cannot do without, and multiplies
// them by these. Each is measured once a process, when it is first asked for, as the fastest of ten
// slices of 20 ms, by one thread with the caches to itself; so a floor and what is compared with it
// are of the same machine in the same minute.
#pragma once

#include <cstddef>

namespace tinyot::bench {

// CPU time of the calling thread so far.
double thread_seconds();

// AES in counter mode onto data, by spans of 16 KB in 1 MB: a byte.
double prg_seconds();
// H, two AES blocks, by spans of 1024 in 1 MB: a hash.
double hash_seconds();
// The 128 x tau matrix of the privacy amplification times tau x 4096: a column.
double amplification_seconds(std::size_t tau);
// 128 x 4096 to blocks: a column.
double transposition_seconds();
// Sums of products in GF(2^128), by 32 blocks: a byte.
double row_hash_seconds();
// SHA-256, by spans of 16 KB: a byte.
double digest_seconds();
// A block at a random place among `blocks`, fetched as long before as the buckets do it.
double gather_seconds(std::size_t blocks);
// A channel in memory, by messages of 1 MB: a byte sent and received.
double stream_seconds();
// The group of the seed OTs: a multiple of the base point, of any point, a hash to the group.
double times_base_seconds();
double times_seconds();
double hash_to_group_seconds();

}  // namespace tinyot::bench
