/* SPDX-License-Identifier: MIT */
#include "tests/simgpu/libraries/nccl_process.hpp"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace simgpu
{
namespace
{
constexpr int most_ranks = 8;
constexpr size_t area_bytes = 64u << 20; /* of which only what is written takes memory */

struct shared_rank {
    std::atomic<int> process; /* 0: has not come */
    std::atomic<bool> left, aborted;
    std::atomic<size_t> given, taken; /* operations */
    int device;
    char host[64];
};

/* Make all streams go on, as long as the process lives. */
void work_on_streams()
{
    for (;;) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        guard held(the_machine().lock);
        std::vector<cudaStream_t> list(the_machine().streams.begin(), the_machine().streams.end());
        for (cudaStream_t stream : list)
            for (int i = 0; i < 20 && the_machine().streams.count(stream) && step(stream); i++)
                ;
    }
}

void start_working()
{
    static std::once_flag once;
    std::call_once(once, [] { std::thread(work_on_streams).detach(); });
}

/* As the real one tells hosts apart. */
void host_id(char *id, size_t size)
{
    const char *told = getenv("NCCL_HOSTID");
    if (told)
        snprintf(id, size, "%s", told);
    else if (gethostname(id, size) != 0)
        id[0] = '\0';
    id[size - 1] = '\0';
}
} // namespace

struct shared_world {
    std::atomic<int> size;
    std::atomic<bool> refused;
    shared_rank ranks[most_ranks];
    alignas(4096) char areas[most_ranks][area_bytes];
};

bool processes_id(char *id, size_t size)
{
    static std::atomic<unsigned> number;
    return snprintf(id, size, "%s/nccl-%ld-%u", getenv("SIMGPU_NCCL_DIR"),
                    static_cast<long>(getpid()), ++number) < static_cast<int>(size);
}

std::shared_ptr<processes> processes::open(const char *path, int size)
{
    int file = ::open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600), unset = 0;
    if (size > most_ranks || file < 0 || ftruncate(file, sizeof(shared_world)) != 0) {
        nccl_say(ncclSystemError, "too many ranks, or their file cannot be made");
        if (file >= 0)
            close(file);
        return nullptr;
    }
    void *memory = mmap(nullptr, sizeof(shared_world), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (memory == MAP_FAILED) {
        nccl_say(ncclSystemError, "the ranks' file cannot be mapped");
        return nullptr;
    }
    auto made = std::make_shared<processes>();
    made->path = path;
    made->all = static_cast<shared_world *>(memory);
    if (!made->all->size.compare_exchange_strong(unset, size) && unset != size) {
        nccl_say(ncclInvalidArgument, "ranks do not agree about their number");
        return nullptr;
    }
    start_working();
    return made;
}

processes::~processes()
{
    unlink(path.c_str()); /* who comes later finds nobody there */
    if (all)
        munmap(all, sizeof *all);
}

ncclResult_t processes::join(int rank, int device)
{
    shared_rank &self = all->ranks[rank];
    host_id(self.host, sizeof self.host);
    self.device = device;
    for (int i = 0; i < all->size; i++)
        if (all->ranks[i].process && all->ranks[i].device == device &&
            strcmp(all->ranks[i].host, self.host) == 0)
            all->refused = true;
    if (all->refused)
        return nccl_say(ncclInvalidUsage, "Duplicate GPU detected");
    self.process = getpid();
    return ncclSuccess;
}

bool processes::complete() const
{
    for (int i = 0; i < all->size; i++)
        if (!all->ranks[i].process)
            return false;
    unlink(path.c_str()); /* all have mapped it */
    return true;
}

bool processes::refused() const
{
    return all->refused;
}

void processes::leave(int rank, bool aborted)
{
    all->ranks[rank].aborted = aborted;
    all->ranks[rank].left = true;
}

bool processes::lost() const
{
    for (int i = 0; i < all->size; i++) {
        const shared_rank &rank = all->ranks[i];
        const bool gone = rank.process && kill(rank.process, 0) != 0 && errno == ESRCH;
        if (rank.aborted || (gone && !rank.left))
            return true;
    }
    return false;
}

bool processes::give(int rank, size_t number, const void *data, size_t bytes)
{
    if (all->ranks[rank].given != number)
        return false; /* an earlier one, on another stream */
    for (int i = 0; i < all->size; i++)
        if (all->ranks[i].taken < number)
            return false; /* it still reads this rank's area */
    if (bytes > area_bytes)
        fault("NCCL: %zu bytes are more than a rank's area has", bytes);
    else if (data)
        memcpy(all->areas[rank], data, bytes);
    all->ranks[rank].given = number + 1;
    return true;
}

bool processes::given_by_all(size_t number) const
{
    for (int i = 0; i < all->size; i++)
        if (all->ranks[i].given <= number)
            return false;
    return true;
}

const void *processes::area(int rank) const
{
    return all->areas[rank];
}

void processes::taken(int rank, size_t number)
{
    all->ranks[rank].taken = number + 1;
}

namespace
{
cudaError_t take(const ncclComm &comm, collective &c, size_t number)
{
    processes &between = *comm.all->between;
    auto self = static_cast<size_t>(comm.rank);
    collective gathered = c;
    for (size_t i = 0; i < gathered.parts.size(); i++)
        gathered.parts[i].send = between.area(static_cast<int>(i));
    const part &mine = c.parts[self];
    if (nccl_received(c, self)) {
        const std::vector<char> result = nccl_result(gathered, self);
        if (!device_can_use(comm.all->devices[self], mine.receive, result.size()))
            return cudaErrorIllegalAddress;
        memcpy(mine.receive, result.data(), result.size());
    }
    between.taken(comm.rank, number);
    c.parts[self].queued = false;
    return cudaSuccess;
}
} // namespace

operation processes_operation(const std::shared_ptr<ncclComm> &comm,
                              const std::shared_ptr<collective> &c, size_t number)
{
    auto self = static_cast<size_t>(comm->rank);
    operation what;
    what.name = "NCCL operation";
    what.ready = [=] {
        part &mine = c->parts[self];
        const size_t bytes = nccl_sent(*c, self);
        if (comm->aborted)
            return true;
        if (!mine.arrived)
            mine.arrived =
                comm->all->between->give(comm->rank, number, bytes ? mine.send : nullptr, bytes);
        return mine.arrived && comm->all->between->given_by_all(number);
    };
    what.push = [] { return false; };
    what.run = [=] { return comm->aborted ? cudaSuccess : take(*comm, *c, number); };
    return what;
}

} // namespace simgpu
