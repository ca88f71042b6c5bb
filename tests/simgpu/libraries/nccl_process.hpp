/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_TESTS_SIMGPU_NCCL_PROCESS_HPP
#define DPARTUI_TESTS_SIMGPU_NCCL_PROCESS_HPP

#include "tests/simgpu/libraries/nccl.hpp"

/*
 * Communicators of several processes, where the environment has SIMGPU_NCCL_DIR: a folder that all
 * of them see, of which a unique id names a file that they map. Each rank has an area there, into
 * which it copies what it gives to an operation; when all have, each takes the result from all. As
 * nobody but this process can make its streams go on, a thread does, as a GPU would by itself.
 */
namespace simgpu
{

struct shared_world;

class processes
{
  public:
    /* NULL, with what nccl_say was told: there is no such file, or it is of another size. */
    static std::shared_ptr<processes> open(const char *path, int size);
    ~processes();
    /* A rank of this process takes its place. */
    ncclResult_t join(int rank, int device);
    bool complete() const;
    /* Has one come with a GPU that another has? Then all are refused. */
    bool refused() const;
    /* `aborted`: those that still wait for it hear that it has gone. */
    void leave(int rank, bool aborted);
    /* Has a rank gone that nobody expected to? */
    bool lost() const;
    /* Offer a part of operation `number`; false: it is not its turn yet. */
    bool give(int rank, size_t number, const void *data, size_t bytes);
    bool given_by_all(size_t number) const;
    const void *area(int rank) const;
    void taken(int rank, size_t number);

  private:
    std::string path;
    shared_world *all = nullptr;
};

/* What ncclGetUniqueId gives; false: the folder's name is too long. */
bool processes_id(char *id, size_t size);

/* One rank's part of an operation of such a communicator, for its stream. */
operation processes_operation(const std::shared_ptr<ncclComm> &comm,
                              const std::shared_ptr<collective> &c, size_t number);

} // namespace simgpu

#endif
