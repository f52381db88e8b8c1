/*
 * Fuzz target: the places of mounts, as a container tells them.
 * needs: relay/mount-point.c
 *
 * Beyond memory errors: a place lies in its line. A place of any bytes, written as the kernel writes it, is read as the
 * same.
 */
#include "relay/mount-point.h"
#include "fuzz/fuzz.h"

#define BEFORE "36 35 98:0 /root "
#define BEHIND " rw,noatime - ext3 /dev/root rw\n"

static void check_line(const uint8_t *data, size_t size)
{
	char *line = exact_copy(data, size, 1);

	line[size] = '\0';
	const char *point = mount_point_in(line);
	HOLDS(!point || (point >= line && point + strlen(point) <= line + size));
	free(line);
}

static void check_echo(const uint8_t *data, size_t size)
{
	char *line = malloc(sizeof BEFORE + 4 * size + sizeof BEHIND), *place = exact_copy(data, size, 1);

	if (!line)
		abort();
	place[size] = '\0';
	char *to = stpcpy(line, BEFORE "/");
	for (const char *from = place; *from; from++)
		if (strchr(" \t\n\\", *from))
			to += sprintf(to, "\\%03o", (unsigned char)*from);
		else
			*to++ = *from;
	stpcpy(to, BEHIND);
	const char *point = mount_point_in(line);
	HOLDS(point && point[0] == '/' && strcmp(point + 1, place) == 0);
	free(place);
	free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_line(data, size);
	check_echo(data, size);
	return 0;
}
