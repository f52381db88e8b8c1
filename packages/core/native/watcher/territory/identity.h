#pragma once

#include "wire/system.h"

struct identity {
	uint32_t device_major, device_minor;
	uint64_t inode;
	int64_t born; /* nanoseconds; 0 where the file system does not say. Numbers of inodes are given again. */
};

struct identities {
	struct identity *list;
	size_t count;
	uint64_t lost; /* how many were not remembered: then every object counts as one of them */
};

bool has_other_names(const struct statx *status);
struct identity identity_of(const struct statx *status);
int compare_identities(const void *left, const void *right);
bool is_same_object(const struct identity *left, const struct identity *right);
void add_identity(struct identities *all, const struct identity *identity);
bool is_among(const struct identities *sorted, const struct statx *status);
