/*
 * Memory. A process that gets none ends, and with it the call (the watcher: all calls that it watches). Nothing goes on
 * with less: a list that lost an entry would be a process that is not measured, or a name that is not guarded. So this
 * file alone calls malloc() and its like (test/architecture checks that).
 */
#include "wire/memory.h"
#include "wire/report.h"

_Noreturn void out_of_memory(void)
{
	errno = ENOMEM;
	die("memory", NULL);
}

static void *had(void *memory)
{
	if (!memory)
		out_of_memory();
	return memory;
}

void *allocate(size_t count, size_t size)
{
	return had(calloc(count ? count : 1, size));
}

void *resize(void *memory, size_t size)
{
	return had(realloc(memory, size ? size : 1));
}

void *try_to_grow(void *array, size_t count, size_t size)
{
	/* Doubles at powers of two; starts with room for 32. */
	if ((count > 0 && count < 32) || (count & (count - 1)) != 0)
		return array;
	return reallocarray(array, count ? count * 2 : 32, size);
}

void *grow(void *array, size_t count, size_t size)
{
	return had(try_to_grow(array, count, size));
}

char *copy_text(const char *text)
{
	return had(strdup(text));
}

char *copy_part(const char *text, size_t length)
{
	return had(strndup(text, length));
}

void begin_text(struct text *text)
{
	*text = (struct text){ 0 };
	text->into = had(open_memstream(&text->bytes, &text->length));
}

void end_text(struct text *text)
{
	bool whole = !ferror(text->into);

	/* What did not fit is found out here at the latest. */
	if (fclose(text->into) != 0 || !whole)
		out_of_memory();
}
