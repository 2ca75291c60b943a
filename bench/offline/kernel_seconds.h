// The time that each kernel takes on this machine, in seconds of a thread's CPU time. The lower
// bounds of the stages are computed from it.
//
// The minimum number of bytes, blocks and columns that a stage needs is computed by hand and
// multiplied by these times. Each is measured once per process, on first use, as the fastest of ten
// slices of 20 ms, on one thread with the caches to itself; so a bound and the time compared with
// it are measured on the same machine at about the same time.
#pragma once

#include <cstddef>

namespace tinyot::bench {

// Per byte: AES in counter mode XORed onto data, in spans of 16 KB of 1 MB.
double prg_seconds();
// Per hash: H, two AES blocks, in spans of 1024 blocks of 1 MB.
double hash_seconds();
// Per column: the 128 x tau matrix of the privacy amplification times tau x 4096.
double amplification_seconds(std::size_t tau);
// Per column: 128 x 4096 to blocks.
double transposition_seconds();
// Per byte: sums of products in GF(2^128), of 32 blocks.
double row_hash_seconds();
// Per byte: SHA-256, in spans of 16 KB.
double digest_seconds();
// Per block: a block at a random position among `blocks`, prefetched as in the buckets.
double gather_seconds(std::size_t blocks);
// Per byte sent and received: a channel in memory, with messages of 1 MB.
double stream_seconds();
// The group of the base OTs: a multiple of the base point, a multiple of any point, a hash to the
// group.
double times_base_seconds();
double times_seconds();
double hash_to_group_seconds();

}  // namespace tinyot::bench
