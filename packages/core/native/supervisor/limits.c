/* The limits that no kernel mechanism enforces for all processes of a cell together: the supervisor looks. */
#include "supervisor/limits.h"
#include "boundary/scratch.h"
#include "processes/descendants.h"

#include <linux/magic.h>
#include <sys/statfs.h>
#include <sys/wait.h>

#define MOST_CPU_WAITING 10000 /* milliseconds, for starting and loading */

static void tell_violation(struct call *call, const char *limit, uint64_t allowed, uint64_t used, const char *effect)
{
	tell(call, "{\"event\":\"violation\",\"kind\":\"%s\",\"limit\":%lu,\"used\":%lu,\"effect\":\"%s\"}", limit,
	     allowed, used, effect);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t counted_cpu(const struct call *call)
{
	uint64_t nanoseconds;

	if (call->cpu_counter < 0 || read(call->cpu_counter, &nanoseconds, sizeof nanoseconds) != sizeof nanoseconds)
		return 0;
	return nanoseconds / 1000000;
}

/* Returns the processor time so far. */
static uint64_t note(struct call *call, const struct consumption *used)
{
	call->cpu = larger(call->cpu, larger(used->cpu, counted_cpu(call)));
	call->largest = (long)larger(call->largest, used->largest);
	return call->cpu;
}

void note_usage(struct call *call)
{
	if (!call->started || call->killed || call->exit_known)
		return;
	struct consumption used = measure_descendants(call->keeper);
	note(call, &used);
}

/* Its usage is noted already, or noting it would give a bomb time to grow. */
static void stop_now(struct call *call, const char *limit, uint64_t allowed, uint64_t used)
{
	if (call->limit)
		return;
	call->limit = limit;
	tell_violation(call, limit, allowed, used, "ended");
	kill_cell(call);
}

void stop_for_limit(struct call *call, const char *limit, uint64_t allowed, uint64_t used)
{
	if (!call->limit)
		note_usage(call);
	stop_now(call, limit, allowed, used);
}

/* Limits that the kernel enforces by a signal of its own. */
void name_limit_of_signal(struct call *call)
{
	const struct limits *limits = &call->plan->limits;
	int signal = call->exit_known && WIFSIGNALED(call->exit_status) ? WTERMSIG(call->exit_status) : 0;

	if (signal == SIGXFSZ && limits->file_size)
		stop_for_limit(call, "fileSize", limits->file_size, limits->file_size);
	if (signal == SIGXCPU && limits->cpu)
		stop_for_limit(call, "cpu", limits->cpu, limits->cpu);
}

/* A full folder refuses more by itself (tmpfs), or the call is stopped here. */
uint64_t look_at_scratch(struct call *call)
{
	uint64_t limit = call->plan->limits.scratch;
	struct statfs status;

	if (call->plan->form == FORM_LANDLOCK) {
		uint64_t in_use = scratch_in_use(call->plan) + unlinked_bytes(call->keeper, call->plan->scratch);
		if (limit && in_use > limit)
			stop_for_limit(call, "scratch", limit, in_use);
		/* A wall or a container makes it in memory. Elsewhere it is usually on a disk. */
		return statfs(call->plan->scratch, &status) == 0 && status.f_type == TMPFS_MAGIC ? in_use : 0;
	}
	if (call->scratch < 0 || fstatfs(call->scratch, &status) < 0)
		return 0;
	uint64_t in_use = (status.f_blocks - status.f_bfree) * status.f_bsize;
	/* Nearly full is told, too: a tool that fails for want of space may be gone before the next look. */
	if (!call->scratch_told && (status.f_bfree <= status.f_blocks / 16 || status.f_ffree == 0)) {
		call->scratch_told = true;
		tell_violation(call, "scratch", limit, in_use, "refused");
	}
	return in_use;
}

static bool needs_measures(const struct limits *limits)
{
	return limits->memory || limits->cpu || limits->user_processes;
}

static bool needs_looks(const struct limits *limits)
{
	return needs_measures(limits) || limits->scratch;
}

void begin_clocks(struct call *call)
{
	if (call->begun || !call->started)
		return;
	if (call->plan->limits.cpu)
		call->cpu_before = larger(measure_descendants(call->keeper).cpu, counted_cpu(call));
	call->begun = true;
	call->began = milliseconds();
	call->next_look = call->began + 2;
}

/* Returns how many milliseconds there are before the next measure. */
static uint64_t measure(struct call *call, uint64_t in_scratch)
{
	const struct limits *limits = &call->plan->limits;

	/* Counted first, which is quick: a bomb grows while each of its processes is looked at. */
	uint64_t alive = count_descendants(call->keeper);
	if (limits->user_processes && alive > limits->user_processes) {
		stop_now(call, "processes", limits->user_processes, alive);
		return 50;
	}
	struct consumption used = measure_descendants(call->keeper);
	uint64_t cpu = larger(note(call, &used), read_cgroup(call->cgroup, "cpu.stat", "usage_usec") / 1000);
	if (limits->user_processes && used.tasks > limits->user_processes)
		stop_now(call, "processes", limits->user_processes, used.tasks);
	cpu -= call->cpu_before < cpu ? call->cpu_before : cpu;
	/* A program that waits for its call must not burn time. */
	if (!call->begun && cpu >= MOST_CPU_WAITING)
		stop_now(call, "cpu", MOST_CPU_WAITING, cpu);
	if (limits->cpu && call->begun && cpu >= limits->cpu)
		stop_now(call, "cpu", limits->cpu, cpu);
	if (!limits->memory)
		/* Few processes cannot become too many before the next look; many can. */
		return used.tasks < limits->user_processes / 8 ? 20 : 3;
	uint64_t in_files = memory_files_in_use(&call->memory_files);
	uint64_t exact = used.resident + in_files + in_scratch;
	if (exact > limits->memory / 2)
		exact = proportional_memory(call->keeper, in_files) + in_scratch;
	if (exact > limits->memory) {
		stop_now(call, "memory", limits->memory, exact);
		return 50;
	}
	/* A process fills one to three megabytes in a millisecond, page tables fastest. Look again well before the
	 * rest is full. */
	uint64_t until_full = (limits->memory - exact) / (8u << 20);
	return until_full < 3 ? 3 : until_full > 50 ? 50 : until_full;
}

void look_after_limits(struct call *call, uint64_t now)
{
	const struct limits *limits = &call->plan->limits;

	if (limits->wall && call->begun && now - call->began >= limits->wall)
		stop_for_limit(call, "wall", limits->wall, now - call->began);
	if (!needs_looks(limits) || now < call->next_look)
		return;
	uint64_t in_scratch = look_at_scratch(call);
	if (needs_measures(limits) && now >= call->next_measure)
		call->next_measure = now + measure(call, in_scratch);
	/* Often at first and less later: a look costs microseconds, and what a short call does should not go unseen. */
	uint64_t age = now - call->began;
	call->next_look = now + (age < 200 ? 2 : age < 1000 ? 10 : 25);
	if (needs_measures(limits) && call->next_measure < call->next_look)
		call->next_look = call->next_measure;
	/* A tool that makes looking expensive gets fewer looks; the streams and the wall clock come first. */
	uint64_t ended = milliseconds();
	if (call->next_look < ended + (ended - now))
		call->next_look = ended + (ended - now);
}

void look_at_cgroup(struct call *call)
{
	const struct limits *limits = &call->plan->limits;
	uint64_t processes = limits->processes ? limits->processes : limits->user_processes;

	if (call->cgroup->folder < 0)
		return;
	call->cpu = larger(call->cpu, read_cgroup(call->cgroup, "cpu.stat", "usage_usec") / 1000);
	call->memory_peak = read_cgroup(call->cgroup, "memory.peak", NULL);
	/* `oom`: for this limit, not because the whole machine was short of memory. */
	if (!call->limit && limits->memory && read_cgroup(call->cgroup, "memory.events", "oom") > 0 &&
	    read_cgroup(call->cgroup, "memory.events", "oom_kill") > 0) {
		call->limit = "memory";
		tell_violation(call, "memory", limits->memory, larger(call->memory_peak, limits->memory), "ended");
	}
	if (processes && read_cgroup(call->cgroup, "pids.events", "max") > 0)
		tell_violation(call, "processes", processes, processes + 1, "refused");
}

#define PATIENCE 3000 /* milliseconds */

void insist_on_end(const struct call *call, uint64_t now)
{
	if (call->killed && now - call->killed_at >= PATIENCE)
		kill(call->keeper, SIGKILL);
}

int time_to_wait(const struct call *call, uint64_t now)
{
	const struct limits *limits = &call->plan->limits;
	uint64_t until = UINT64_MAX;

	if (call->killed)
		return now - call->killed_at >= PATIENCE ? 100 : (int)(PATIENCE - (now - call->killed_at));
	if (!call->started)
		return -1;
	if (limits->wall && call->begun)
		until = call->began + limits->wall;
	if (needs_looks(limits) && call->next_look < until)
		until = call->next_look;
	if (until == UINT64_MAX)
		return -1;
	return until <= now ? 0 : (int)(until - now < 60000 ? until - now : 60000);
}
