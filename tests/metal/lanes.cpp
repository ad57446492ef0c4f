// Runs the workgroups of a kernel, one after the other, and in each one team of lanes up to where it waits for the other
// teams, and in a team one lane at a time: a lane goes on until it waits for others, or ends. Of two groups, and of two
// runs of a kernel, one goes through its teams and lanes forward and one backward; of two runs, groups too. So what a
// kernel needs a barrier for goes wrong without it, whichever lane waits for which.
#include <sys/mman.h>
#include <xmmintrin.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "lanes.h"

using uint = uint32_t;
using wharf::Lane, wharf::team_lanes;

#define SHOWN extern "C" __attribute__((visibility("default")))

namespace {

constexpr uint most_lanes = 1024;
constexpr size_t stack_bytes = 256 << 10;
constexpr size_t page_bytes = 4 << 10;
constexpr uint slot_bytes = 64;

enum class State { ready, at_barrier, at_share, ended };

using Main = void (*)(const Lane&, void* const*, const uint*);

struct Fiber {
    void* top;
    State state;
    const void* place; // in the kernel, where it waits
    Lane lane;
};

struct Job {
    Main main;
    void* const* buffers;
    const uint* sizes;
} job;

Fiber fibers[most_lanes];
char slots[most_lanes][slot_bytes];
char* stacks;
void* scheduler;
Fiber* running;
uint lanes;
bool backward;

extern "C" void wharf_switch(void** save, void* to);
asm(R"(
.text
.globl wharf_switch
wharf_switch:
    push %rbp
    push %rbx
    push %r12
    push %r13
    push %r14
    push %r15
    mov %rsp, (%rdi)
    mov %rsi, %rsp
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbx
    pop %rbp
    ret
)");

void wait(State state, const void* place) {
    running->state = state;
    running->place = place;
    wharf_switch(&running->top, scheduler);
}

void begin() {
    job.main(running->lane, job.buffers, job.sizes);
    wait(State::ended, nullptr);
    abort();
}

void prepare(uint i) {
    Fiber& fiber = fibers[i];
    char* end = stacks + (i + 1) * stack_bytes;
    auto* top = reinterpret_cast<uint64_t*>(end) - 8;
    memset(top, 0, 64);
    // Where the switch returns to; the stack is then as after a call.
    top[6] = reinterpret_cast<uint64_t>(&begin);
    fiber.top = top;
    fiber.state = State::ready;
}

void resume(uint i) {
    running = &fibers[i];
    running->state = State::ready;
    wharf_switch(&scheduler, running->top);
    running = nullptr;
}

uint of_team(uint first) { return lanes - first < team_lanes ? lanes - first : team_lanes; }

// Whether all lanes from one on wait like this, at one place.
bool all_wait(uint first, uint many, State state) {
    for (uint i = first; i < first + many; i++)
        if (fibers[i].state != state || fibers[i].place != fibers[first].place) return false;
    return true;
}

void resume_all(uint first, uint many) {
    for (uint i = 0; i < many; i++) resume(first + (backward ? many - 1 - i : i));
}

void run_team(uint first) {
    do resume_all(first, of_team(first));
    while (all_wait(first, of_team(first), State::at_share));
}

// Null, or what is wrong.
const char* run_group() {
    uint teams = (lanes + team_lanes - 1) / team_lanes;
    do
        for (uint i = 0; i < teams; i++) run_team((backward ? teams - 1 - i : i) * team_lanes);
    while (all_wait(0, lanes, State::at_barrier));
    for (uint i = 0; i < lanes; i++)
        if (fibers[i].state != State::ended) return "lanes wait where others of them are not";
    return nullptr;
}

// Between two stacks lies a page that nobody may touch.
bool has_stacks() {
    if (stacks) return true;
    void* all = mmap(nullptr, most_lanes * stack_bytes, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) return false;
    for (uint i = 0; i < most_lanes; i++)
        if (mprotect(static_cast<char*>(all) + i * stack_bytes, page_bytes, PROT_NONE)) return false;
    stacks = static_cast<char*>(all);
    return true;
}

}  // namespace

SHOWN void wharf_barrier() { wait(State::at_barrier, __builtin_return_address(0)); }

SHOWN const void* wharf_share(const void* mine, uint bytes) {
    const Lane& lane = running->lane;
    if (bytes > slot_bytes) abort();
    memcpy(slots[lane.index], mine, bytes);
    wait(State::at_share, __builtin_return_address(0));
    return slots[lane.index - lane.place];
}

SHOWN void wharf_team_read() { wait(State::at_share, __builtin_return_address(0)); }
SHOWN uint wharf_team_size() { return of_team(running->lane.index - running->lane.place); }
SHOWN uint wharf_place() { return running->lane.place; }

// Runs all groups. Answers null, or what is wrong with the kernel.
SHOWN const char* wharf_run(Main main, bool waits, bool last_first, const uint* groups, const uint* size,
    void* const* buffers, const uint* sizes, void (*spoil)()) {
    if (!has_stacks()) return "no memory for the stacks of lanes";
    lanes = size[0] * size[1] * size[2];
    if (lanes > most_lanes) return "more lanes than a workgroup has";
    uint count = groups[0] * groups[1] * groups[2];
    job = {main, buffers, sizes};
    // Metal's GPUs take subnormal numbers for zero.
    uint mode = _mm_getcsr();
    _mm_setcsr(mode | 0x8040);
    const char* wrong = nullptr;
    for (uint done = 0; done < count && !wrong; done++) {
        uint g = last_first ? count - 1 - done : done;
        spoil();
        backward = last_first != (done % 2 == 1);
        for (uint n = 0; n < lanes; n++) {
            uint i = backward ? lanes - 1 - n : n;
            Lane& lane = fibers[i].lane;
            lane = {{g % groups[0], g / groups[0] % groups[1], g / groups[0] / groups[1]},
                {groups[0], groups[1], groups[2]},
                {i % size[0], i / size[0] % size[1], i / size[0] / size[1]}, {size[0], size[1], size[2]}, i,
                i % team_lanes, i / team_lanes};
            if (waits) prepare(i);
            else main(lane, buffers, sizes);
        }
        if (waits) wrong = run_group();
    }
    _mm_setcsr(mode);
    return wrong;
}
