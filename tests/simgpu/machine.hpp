/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_TESTS_SIMGPU_MACHINE_HPP
#define DPARTUI_TESTS_SIMGPU_MACHINE_HPP

#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <cuda_runtime_api.h>

#include "tests/simgpu/simgpu.h"

/* The simulated machine, for the files of the simulator. All of it is guarded by machine::lock. */
namespace simgpu
{

/* One recording of an event. */
struct record {
    bool done = false;
    double when = 0; /* seconds */
    cudaStream_t stream = nullptr;
};

/* A kernel, blocks and threads of a launch, and its shared memory. */
using kernel_launch = std::tuple<const void *, std::array<unsigned, 6>, size_t>;

/* What a stream has to do. */
struct operation {
    std::string name;
    std::function<cudaError_t()> run;
    /* NULL: can always run. Else whether it can now; when not, `push` makes what it waits for go
     * one step on, false when that cannot. */
    std::function<bool()> ready;
    std::function<bool()> push;
};

/* A piece of a graph: runs after the pieces named. */
struct node {
    operation what;
    std::vector<size_t> after;
};

struct capture {
    cudaStream_t origin;
    cudaStreamCaptureMode mode;
    const void *thread; /* that began it */
    bool invalid = false;
    std::vector<node> nodes;
};

struct allocation {
    size_t size;
    int device; /* -1: host */
    bool mapped;
};

struct device {
    size_t used = 0, peak = 0;
    long operations = 0;
    long hang_at = -1; /* no further operations when so many have run */
    cudaError_t broken = cudaSuccess, breaks_with = cudaSuccess;
    double clock = 0;    /* seconds, see simgpu_cost */
    std::set<int> peers; /* whose memory kernels here may use */
    cudaStream_t null_stream = nullptr;
};

struct machine {
    std::recursive_mutex lock;
    std::condition_variable_any changed; /* something was queued or has run */
    simgpu_options options{};
    std::vector<device> devices;
    std::map<uintptr_t, allocation> memory; /* by address */
    /* Of the program. */
    std::set<cudaStream_t> streams;
    std::set<cudaStream_t> ended; /* destroyed with work that could not be done */
    std::set<cudaEvent_t> events;
    std::set<cudaGraph_t> graphs;
    std::set<cudaGraphExec_t> executables;
    std::vector<std::shared_ptr<capture>> captures;
    std::map<std::string, long> calls;
    std::map<std::string, std::pair<long, int>> failures; /* call number, status */
    std::map<std::string, long> hanging;                  /* call number */
    /* What cuDNN, cuBLASLt and NCCL gave the program, by its handle. */
    std::map<const void *, std::shared_ptr<void>> library;
    int faults = 0;
    std::string first_fault;
    unsigned luck = 1;
    std::set<int> refused_engines, adding_engines, wrong_engines, narrow_engines; /* of cuDNN */
    std::map<std::string, std::shared_ptr<void>> stored_plans; /* of cuDNN, by their texts */
    bool refuse_epilogues = false;
    int nccl_error = 0;
    bool has_costs = false, short_autotune = false;
    double usual_cost = 0;
    std::map<std::string, double> costs; /* seconds, by the operation's name */
    bool check_races = true, check_now = false;
    std::map<kernel_launch, unsigned> runs;         /* of kernels */
    int sampled = 0;                                /* simgpu_sample_blocks */
    int steps_asked = 1;                            /* simgpu_hasten */
    std::set<std::pair<int, const void *>> loaded;  /* kernels, by device */
    std::set<std::pair<std::string, int>> barriers; /* of kernels that ran: name, line */
    std::pair<std::string, int> ignored_barrier;
    unsigned long generation = 0; /* resets */
};
machine &the_machine();

using guard = std::unique_lock<std::recursive_mutex>;

/* Of the calling thread. */
struct caller {
    int device = 0;
    cudaError_t last_error = cudaSuccess;
    cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
    unsigned long generation = 0;
};
caller &this_caller();

/* Count a call of the named function; whether it is to fail, and how. */
bool asked_to_fail(const char *function, int *status);

void fault(const char *format, ...) __attribute__((format(printf, 1, 2)));
unsigned random_number(unsigned below);
double now();

/*
 * The beginning of every function of the runtime: holds the lock for its life. `failed()`: the
 * function has to return status() at once. A function ends with `return call.end(status)`.
 */
class api_call
{
  public:
    /* `unsafe`: may not be called while a stream is captured (cudaStreamCaptureMode). */
    explicit api_call(const char *function, bool unsafe = false);
    bool failed() const
    {
        return failure != cudaSuccess;
    }
    cudaError_t status();
    cudaError_t end(cudaError_t result);
    guard &lock()
    {
        return held;
    }

  private:
    guard held;
    cudaError_t failure = cudaSuccess;
};

/* The device has done an operation: its clock advances. */
void spend(int device, const std::string &operation);

/* Captures. What cannot be done in one ends it as invalid; `status` is handed through. */
cudaError_t spoil(capture *c, cudaError_t status);
/* The calling thread may not do `what` in its own capture: spoils that and says so. */
bool capture_forbids(const char *what);
/* Spoils the captures of the device's streams (`blocking`: of those that the device's own stream
 * waits for) where there are any: what is done would wait for them. */
bool captures_spoiled(int device, bool blocking);
/*
 * Have a kernel's code on the current device. That is done at its first use, and not inside a
 * capture: drivers before CUDA 12.3 refuse to load code there.
 */
cudaError_t load_kernel(const void *kernel, const char *name);

/* Streams. NULL is the current device's own. */
cudaStream_t stream_of(cudaStream_t stream);
bool stream_exists(cudaStream_t stream);
/* Queue or capture. */
cudaError_t enqueue(cudaStream_t stream, operation what);
/* One operation further, here or in what it waits for; false: nothing could be done. */
bool step(cudaStream_t stream);
/* Until nothing is queued. An error when that can never be. */
cudaError_t drain(cudaStream_t stream, guard &held);
cudaError_t drain_device(int device, guard &held);

/* Objects of the other libraries: the handle is the object's address. */
template <typename T> T *lib_make(std::shared_ptr<T> object)
{
    T *handle = object.get();
    the_machine().library[handle] = std::move(object);
    return handle;
}
/* NULL when there is none (any more). */
template <typename T> std::shared_ptr<T> lib_find(const T *handle)
{
    auto found = the_machine().library.find(handle);
    if (found == the_machine().library.end())
        return nullptr;
    return std::static_pointer_cast<T>(found->second);
}
inline bool lib_drop(const void *handle)
{
    return the_machine().library.erase(handle) > 0;
}

/* To the host's system. */
void release_memory(void *p, const allocation &a);
/* The allocation that holds size bytes from p; NULL: none does. */
const allocation *find_memory(const void *p, size_t size);
/* What a library is given: memory that the stream's device may use. */
bool device_can_use(int device, const void *p, size_t size);

} // namespace simgpu

struct CUstream_st {
    int device;
    bool blocking; /* for the device's own stream */
    bool released = false, stepping = false;
    std::deque<simgpu::operation> queue;
    std::shared_ptr<simgpu::capture> capturing;
    std::vector<size_t> tail; /* nodes that the next captured one comes after */
};

struct CUevent_st {
    int device;
    bool timing;
    std::shared_ptr<simgpu::record> last;
    std::shared_ptr<simgpu::capture> captured;
    std::vector<size_t> tail;
};

struct CUgraph_st {
    std::vector<simgpu::node> nodes;
};

struct CUgraphExec_st {
    std::shared_ptr<const std::vector<simgpu::node>> nodes;
    int device;
};

#endif
