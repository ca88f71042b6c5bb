/* SPDX-License-Identifier: MIT */
#include "engine/train/run/control.h"

void run_control_init(struct run_control *control)
{
    atomic_init(&control->stop, RUN_STOP_NONE);
    atomic_init(&control->lr, 0.0);
    atomic_init(&control->epochs, 0);
    atomic_init(&control->paused, false);
}

void run_control_keep_epochs(struct run_control *control, long epochs)
{
    long none = 0;
    atomic_compare_exchange_strong(&control->epochs, &none, epochs);
}

void run_control_stop(struct run_control *control, enum run_stop how)
{
    int asked = atomic_load(&control->stop);
    while (asked < (int)how && !atomic_compare_exchange_weak(&control->stop, &asked, how))
        ;
    if (how >= RUN_STOP_STEP)
        atomic_store(&control->paused, false);
}

bool run_control_cancel_stop(struct run_control *control)
{
    int asked = RUN_STOP_EPOCH;
    return atomic_compare_exchange_strong(&control->stop, &asked, RUN_STOP_NONE) ||
           asked == RUN_STOP_NONE;
}

bool run_control_set_epochs(struct run_control *control, long epochs)
{
    long asked = atomic_load(&control->epochs);
    while (asked != RUN_EPOCHS_FINAL)
        if (atomic_compare_exchange_weak(&control->epochs, &asked, epochs))
            return true;
    return false;
}

enum run_stop run_control_stop_asked(const struct run_control *control)
{
    return (enum run_stop)atomic_load(&control->stop);
}
