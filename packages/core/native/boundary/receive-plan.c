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
	/* The network, and whether the streams are those of the caller. */
	static const struct {
		const char *text;
		bool network_all;
		enum stream streams;
	} OUTLINES[] = {
		{ "none", false, STREAM_FRAMES },
		{ "all", true, STREAM_FRAMES },
		{ "none direct", false, STREAM_DIRECT },
		{ "all direct", true, STREAM_DIRECT },
	};
	struct plan outline = { .form = FORM_NAMESPACES };

	for (size_t i = 0; i < COUNT_OF(OUTLINES); i++)
		if (strcmp(frame->payload, OUTLINES[i].text) == 0) {
			outline.network_all = OUTLINES[i].network_all;
			for (int stream = 0; stream < 3; stream++)
				outline.streams[stream] = OUTLINES[i].streams;
			return outline;
		}
	errno = EINVAL;
	die("plan", "unknown head start");
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
