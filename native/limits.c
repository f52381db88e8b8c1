/* The limits that no kernel mechanism holds for all processes of a cell together: the supervisor looks. */
#include "supervise.h"

#include <sys/statfs.h>

static void tell_violation(struct call *call, const char *limit, uint64_t allowed, uint64_t used)
{
	tell(call, "{\"event\":\"violation\",\"kind\":\"%s\",\"attempted\":\"%llu\",\"detail\":\"limit %llu\"}", limit,
	     (unsigned long long)used, (unsigned long long)allowed);
}

void stop_for_limit(struct call *call, const char *limit, uint64_t allowed, uint64_t used)
{
	if (call->limit)
		return;
	call->limit = limit;
	tell_violation(call, limit, allowed, used);
	kill_cell(call);
}

/* Bytes of memory in the private folder. A full one stops by itself (tmpfs) or is stopped here, and is told. */
uint64_t look_at_scratch(struct call *call)
{
	uint64_t limit = call->plan->limits.scratch;
	struct statfs status;

	if (call->plan->form == FORM_LANDLOCK) {
		uint64_t in_use = scratch_in_use(call->plan) + unlinked_bytes(call->keeper, call->plan->scratch);
		if (limit && in_use > limit)
			stop_for_limit(call, "scratch", limit, in_use);
		return 0; /* on a disk */
	}
	if (call->scratch < 0 || fstatfs(call->scratch, &status) < 0)
		return 0;
	uint64_t in_use = (status.f_blocks - status.f_bfree) * status.f_bsize;
	if (!call->scratch_told && (status.f_bfree == 0 || status.f_ffree == 0)) {
		call->scratch_told = true;
		tell_violation(call, "scratch", limit, in_use);
	}
	return in_use;
}

static bool needs_looks(const struct plan *plan)
{
	return plan->limits.memory || plan->limits.cpu || plan->limits.scratch;
}

/* What no rlimit covers: all processes of the cell together. */
void look_after_limits(struct call *call, uint64_t now)
{
	const struct limits *limits = &call->plan->limits;
	struct consumption used;

	if (limits->wall && now - call->began >= limits->wall)
		stop_for_limit(call, "wall", limits->wall, now - call->began);
	if (!needs_looks(call->plan) || now < call->next_look)
		return;
	uint64_t in_scratch = look_at_scratch(call);
	if (!limits->memory && !limits->cpu) {
		call->next_look = now + 50;
		return;
	}
	measure_descendants(call->keeper, &used);
	if (limits->cpu && used.cpu >= limits->cpu)
		stop_for_limit(call, "cpu", limits->cpu, used.cpu);
	uint64_t headroom = limits->memory;
	if (limits->memory) {
		/* Memory files need not be mapped by anybody, so the exact look is taken now and then all the same. */
		uint64_t exact = used.resident + in_scratch;
		if (exact > limits->memory / 2 || (now - call->began) % 8 == 0)
			exact = proportional_memory(call->keeper) + in_scratch;
		if (exact > limits->memory)
			stop_for_limit(call, "memory", limits->memory, exact);
		else
			headroom = limits->memory - exact;
	}
	/* A process fills about a megabyte in a millisecond; look again well before the rest is full. */
	uint64_t pause = limits->memory ? headroom / (2u << 20) : 50;
	call->next_look = now + (pause < 3 ? 3 : pause > 50 ? 50 : pause);
}

int time_to_wait(const struct call *call, uint64_t now)
{
	const struct limits *limits = &call->plan->limits;
	uint64_t until = UINT64_MAX;

	if (!call->started || call->killed)
		return -1;
	if (limits->wall)
		until = call->began + limits->wall;
	if (needs_looks(call->plan) && call->next_look < until)
		until = call->next_look;
	if (until == UINT64_MAX)
		return -1;
	return until <= now ? 0 : (int)(until - now < 60000 ? until - now : 60000);
}
