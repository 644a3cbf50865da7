// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Dropout.h"
#include <cmath>

using namespace attn::reference;

Dropout::Dropout(double probability, int64_t seed)
    : seed(static_cast<uint64_t>(seed)),
      probability(seed < 0 ? 0 : probability) {}

double Dropout::factor(int64_t b, int64_t h, int64_t q, int64_t k) const {
  if (probability == 0)
    return 1;
  auto low = [](uint64_t x) { return static_cast<uint32_t>(x); };
  auto high = [](uint64_t x) { return static_cast<uint32_t>(x >> 32); };
  uint32_t c0 = low(k / 4), c1 = low(q), c2 = low(h), c3 = low(b);
  uint32_t key0 = low(seed), key1 = high(seed);
  for (int round = 0; round < 10; ++round) {
    uint64_t first = uint64_t(0xD2511F53) * c0,
             second = uint64_t(0xCD9E8D57) * c2;
    c0 = high(second) ^ c1 ^ key0;
    c1 = low(second);
    c2 = high(first) ^ c3 ^ key1;
    c3 = low(first);
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  uint32_t words[] = {c0, c1, c2, c3};
  double limit = std::min(std::round(std::ldexp(probability, 32)),
                          std::ldexp(1.0, 32) - 1);
  return words[k % 4] < limit ? 0 : 1 / (1 - probability);
}
