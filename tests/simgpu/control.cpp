/* SPDX-License-Identifier: MIT */
#include <cstdlib>

#include "tests/simgpu/machine.hpp"

/* What tests ask of the machine: simgpu.h. */

extern "C" const int simgpu_has_libraries; /* library.c */

using namespace simgpu;

namespace
{
void throw_away(machine &m)
{
    for (cudaStream_t s : m.streams)
        delete s;
    for (cudaStream_t s : m.ended)
        delete s;
    for (cudaEvent_t e : m.events)
        delete e;
    for (cudaGraph_t g : m.graphs)
        delete g;
    for (cudaGraphExec_t e : m.executables)
        delete e;
    for (device &d : m.devices)
        delete d.null_stream;
    for (auto &[at, a] : m.memory)
        release_memory(reinterpret_cast<void *>(at), a);
    m.streams.clear();
    m.ended.clear();
    m.events.clear();
    m.graphs.clear();
    m.executables.clear();
    m.memory.clear();
    m.library.clear();
    m.captures.clear();
    m.devices.clear();
    m.calls.clear();
    m.failures.clear();
    m.hanging.clear();
    m.refused_engines.clear();
    m.adding_engines.clear();
    m.wrong_engines.clear();
    m.narrow_engines.clear();
    m.stored_plans.clear();
    m.costs.clear();
    m.has_costs = m.short_autotune = false;
    m.usual_cost = 0;
}

void mark_engine(std::set<int> machine::*list, int engine, bool in)
{
    guard held(the_machine().lock);
    if (in)
        (the_machine().*list).insert(engine);
    else
        (the_machine().*list).erase(engine);
}

device *device_numbered(int number)
{
    auto &all = the_machine().devices;
    return number >= 0 && static_cast<size_t>(number) < all.size()
               ? &all[static_cast<size_t>(number)]
               : nullptr;
}
} // namespace

extern "C" {

void simgpu_reset(const simgpu_options *options)
{
    machine &m = the_machine();
    guard held(m.lock);
    static const simgpu_options usual = {3, 256u << 20, SIMGPU_LAZY, 1, false, false};
    throw_away(m);
    m.options = options ? *options : usual;
    m.devices.resize(static_cast<size_t>(m.options.devices));
    m.luck = m.options.seed * static_cast<unsigned>(simgpu_has_libraries);
    m.faults = 0;
    m.first_fault.clear();
    m.refuse_epilogues = false;
    m.nccl_error = 0;
    m.check_races = true;
    m.steps_asked = 1;
    m.sampled = 0;
    m.loaded.clear();
    m.runs.clear();
    m.barriers.clear();
    m.ignored_barrier = {};
    m.generation++;
    m.changed.notify_all();
}

void simgpu_fail_call(const char *function, int nth, int status)
{
    guard held(the_machine().lock);
    the_machine().failures[function] = {the_machine().calls[function] + nth, status};
}

void simgpu_hang_call(const char *function, int nth)
{
    guard held(the_machine().lock);
    the_machine().hanging[function] = the_machine().calls[function] + nth;
}

void simgpu_hang(int number, int operations)
{
    guard held(the_machine().lock);
    if (device *d = device_numbered(number))
        d->hang_at = d->operations + operations;
}

void simgpu_break(int number, int status)
{
    guard held(the_machine().lock);
    if (device *d = device_numbered(number))
        d->breaks_with = static_cast<cudaError_t>(status);
}

int simgpu_faults(void)
{
    guard held(the_machine().lock);
    return the_machine().faults;
}

const char *simgpu_first_fault(void)
{
    guard held(the_machine().lock);
    return the_machine().first_fault.c_str();
}

int simgpu_live_objects(void)
{
    guard held(the_machine().lock);
    const machine &m = the_machine();
    return static_cast<int>(m.library.size() + m.memory.size() + m.streams.size() +
                            m.events.size() + m.graphs.size() + m.executables.size());
}

size_t simgpu_used_memory(int number)
{
    guard held(the_machine().lock);
    const device *d = device_numbered(number);
    return d ? d->used : 0;
}

size_t simgpu_peak_memory(int number)
{
    guard held(the_machine().lock);
    const device *d = device_numbered(number);
    return d ? d->peak : 0;
}

long simgpu_calls(const char *function)
{
    guard held(the_machine().lock);
    auto found = the_machine().calls.find(function);
    return found == the_machine().calls.end() ? 0 : found->second;
}

long simgpu_operations(int number)
{
    guard held(the_machine().lock);
    const device *d = device_numbered(number);
    return d ? d->operations : 0;
}

void simgpu_cost(const char *operation, double seconds)
{
    guard held(the_machine().lock);
    the_machine().has_costs = true;
    if (operation)
        the_machine().costs[operation] = seconds;
    else
        the_machine().usual_cost = seconds;
}

void simgpu_short_autotune(void)
{
    guard held(the_machine().lock);
    the_machine().has_costs = the_machine().short_autotune = true;
}

void simgpu_sample_blocks(int multiprocessors)
{
    guard held(the_machine().lock);
    the_machine().sampled = multiprocessors;
}

void simgpu_hasten(int operations)
{
    guard held(the_machine().lock);
    the_machine().steps_asked = operations;
}

void simgpu_check_races(bool check)
{
    guard held(the_machine().lock);
    the_machine().check_races = check;
}

bool simgpu_barrier(size_t i, const char **kernel, int *line)
{
    guard held(the_machine().lock);
    const auto &all = the_machine().barriers;
    if (i >= all.size())
        return false;
    auto found = std::next(all.begin(), static_cast<long>(i));
    *kernel = found->first.c_str();
    *line = found->second;
    return true;
}

void simgpu_ignore_barrier(const char *kernel, int line)
{
    guard held(the_machine().lock);
    the_machine().ignored_barrier = {kernel, line};
}

void simgpu_refuse_engine(int engine, bool refuse)
{
    mark_engine(&machine::refused_engines, engine, refuse);
}

void simgpu_adding_engine(int engine, bool adds)
{
    mark_engine(&machine::adding_engines, engine, adds);
}

void simgpu_wrong_engine(int engine, bool wrong)
{
    mark_engine(&machine::wrong_engines, engine, wrong);
}

void simgpu_narrow_engine(int engine, bool narrow)
{
    mark_engine(&machine::narrow_engines, engine, narrow);
}

void simgpu_refuse_epilogues(bool refuse)
{
    guard held(the_machine().lock);
    the_machine().refuse_epilogues = refuse;
}

void simgpu_nccl_error(int result)
{
    guard held(the_machine().lock);
    the_machine().nccl_error = result;
}

} /* extern "C" */
