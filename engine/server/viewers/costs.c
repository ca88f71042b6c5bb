/* SPDX-License-Identifier: MIT */
#include "engine/server/viewers/costs.h"

#include "base/clock.h"
#include "engine/server/viewers/work.h"

static bool is_training(struct server *server)
{
    pthread_mutex_lock(&server->queue.lock);
    const struct record *current = server->queue.current;
    bool yes = current && !atomic_load(&current->control.paused);
    pthread_mutex_unlock(&server->queue.lock);
    return yes;
}

void server_pay(struct server *server, double now)
{
    struct budget *budget = &server->budget;
    server_charge_tasks(server);
    budget_pay(budget, now);
    bool used_up = !budget_allows(budget, BUDGET_ANSWERS) || !budget_allows(budget, BUDGET_WORK);
    if (used_up && !is_training(server))
        budget_forgive(budget);
}

void server_reset_costs(struct server *server)
{
    server->charged = clock_thread_seconds();
}

void server_charge_costs(struct server *server, enum budget_part part)
{
    double now = clock_thread_seconds();
    budget_charge(&server->budget, part, now - server->charged);
    server->charged = now;
}
