/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/server/viewers/parts.h"

/*
 * What viewers may cost a run. While the budget is used up, requests wait; events and states do
 * not.
 */

/* Bring the budget up to date. */
void server_pay(struct server *server, double now);
/* What this thread has done since the last charge is free, or is charged. */
void server_reset_costs(struct server *server);
void server_charge_costs(struct server *server, enum budget_part part);
