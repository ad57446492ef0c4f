// What kernels ask of those who run their lanes.
#pragma once
#include <cstdint>

namespace wharf {

constexpr uint32_t team_lanes = 32;

struct Lane {
    uint32_t group[3], groups[3], local[3], size[3], index, place, team;
};

}  // namespace wharf

extern "C" {
void wharf_barrier();
// Gives a value to the team, and tells where each of its lanes left one, 64 bytes apart.
const void* wharf_share(const void* mine, uint32_t bytes);
// The values of the team were read.
void wharf_team_read();
uint32_t wharf_team_size();
uint32_t wharf_place();
}
