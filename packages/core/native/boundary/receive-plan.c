/*
 * The plan of a cell, as the host sends it. A head start tells what is known of a plan while it is still being made:
 * the keeper enters its namespaces, the longest step of all, while the host looks into the write roots. It has nothing
 * of the cell yet, and ends if no plan comes.
 */
#include "boundary/receive-plan.h"
#include "wire/read-frame.h"
#include "wire/report.h"

#include <sys/prctl.h>

static struct frame expect_frame(int from)
{
	struct frame frame;

	if (!read_frame(from, &frame))
		exit(EXIT_REFUSED); /* nobody there to tell */
	return frame;
}

static struct plan plan_in(const struct frame *frame)
{
	struct plan plan;

	errno = EINVAL;
	if (frame->kind != FRAME_PLAN)
		die("plan", "expected a plan");
	const char *wrong = parse_plan(frame->payload, frame->length, &plan);
	if (wrong)
		die("plan", wrong);
	return plan; /* points into the frame, which lives as long as the cell */
}

static struct plan outline_in(const struct frame *frame)
{
	struct plan outline = { .form = FORM_NAMESPACES };
	/* "none" or "all", and whether the streams are the caller's. */
	bool direct = strstr(frame->payload, " direct") != NULL;

	outline.network_all = strncmp(frame->payload, "all", 3) == 0;
	for (int i = 0; i < 3; i++)
		outline.streams[i] = direct ? STREAM_DIRECT : STREAM_FRAMES;
	return outline;
}

static struct plan follow_outline(const struct plan *outline, const struct frame *frame)
{
	struct plan plan = plan_in(frame);

	errno = EINVAL;
	if (plan.form != outline->form || plan.network_all != outline->network_all || plan.cgroup ||
	    memcmp(plan.streams, outline->streams, sizeof plan.streams) != 0)
		die("plan", "it is not what the head start was for");
	return plan;
}

struct plan await_plan(const struct plan *outline, int from)
{
	/* A supervisor that died before this closed its end, and nothing comes. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		die("keeper", NULL);
	struct frame frame = expect_frame(from);
	close(from);
	return follow_outline(outline, &frame);
}

struct plan hand_plan_on(const struct plan *outline, int host, int keeper)
{
	struct frame frame = expect_frame(host);
	struct plan plan = follow_outline(outline, &frame);

	/* A keeper that failed has told why, and is found dead soon. */
	write_frame(keeper, FRAME_PLAN, frame.payload, frame.length);
	close(keeper);
	return plan;
}

struct plan receive_plan(int host, bool *is_head_start)
{
	struct frame first = expect_frame(host);

	*is_head_start = first.kind == FRAME_HEAD_START;
	return *is_head_start ? outline_in(&first) : plan_in(&first);
}
