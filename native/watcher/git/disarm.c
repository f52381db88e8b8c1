/* Putting aside what would run in a repository that appeared. */
#include "watcher/git/disarm.h"
#include "watcher/git/config.h"
#include "watcher/git/repositories.h"
#include "wire/scope.h"

#include <fcntl.h>
#include <string.h>

void disarm(struct territory *territory, const struct found *found, was_put_aside *moved, void *context)
{
	bool hooks = ends_in_name(found->path, ".git/hooks");
	bool config = ends_in_name(found->path, ".git/config") || ends_in_name(found->path, ".git/config.worktree");
	bool repositories = ends_in_name(found->path, ".git/modules") || ends_in_name(found->path, ".git/worktrees");

	if (hooks && found->kind == 'd') {
		disarm_hooks(territory, found->path, moved, context);
		return;
	}
	if (repositories && found->kind == 'd') {
		disarm_repositories(territory, found->path, moved, context);
		return;
	}
	if (ends_in_name(found->path, ".git") && found->kind == 'f' && leads_to_own_repository(territory, found->path))
		return;
	if (config && found->kind == 'f') {
		/* O_NONBLOCK: it may be a pipe, which nobody will ever write to. */
		CLOSE_ON_RETURN int file = open_beneath(territory, found->path, O_RDONLY | O_NONBLOCK);
		if (file >= 0 && config_file_is_harmless(file, NULL))
			return;
	}
	/* A hooks folder or configuration that is a link, or anything else of a new repository that redirects git. */
	move_and_tell(territory, found->path, moved, context);
}
