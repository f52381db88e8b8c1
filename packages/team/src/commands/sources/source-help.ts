// Options by which `cordon log` and `cordon why` are about the registry of a team.
import { value } from 'cordon/commands'
import type { CommandSource } from 'cordon/commands'

import { STORE_OPTIONS } from '../../options/store-help.js'

type SourceHelp = Pick<CommandSource, 'description' | 'groups'>

export const LOG_SOURCE_HELP: SourceHelp = {
  description: [
    'With --store, --server or --database, export and verify work on the log of a team. prune removes',
    'entries older than --keep from the store that you name.',
  ],
  groups: [
    {
      title: 'log of a team (export, verify, prune)',
      options: [
        ...STORE_OPTIONS,
        value('keep', 'DAYS', 'keep entries younger than this, such as 400d (prune)', 'older-than retention'),
      ],
    },
  ],
}

export const WHY_SOURCE_HELP: SourceHelp = {
  description: [
    'For a call of a team, it also shows who asked, who approved or rejected, and the log entries. Use its',
    'whole id, or name the store and give the start or end of the id, or "last".',
  ],
  groups: [{ title: 'store, for a call of a team', options: STORE_OPTIONS }],
}

/** Variables do not count, so that the same command writes the same file everywhere. */
export const VERSIONS_SOURCE_HELP: SourceHelp = {
  description: [],
  groups: [{ title: 'registry, for the versions of tools (only if one is typed)', options: STORE_OPTIONS }],
}
