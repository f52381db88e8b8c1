import { basename, dirname } from 'node:path'

import type { OwnFile } from '../own-files/own-file.js'

import type { AuditPlaces } from './audit-files.js'

/** Log and anchor, and the files whose names begin like theirs: full files, torn lines, locks. */
export const auditOwnFiles = ({ log, anchor }: AuditPlaces): readonly OwnFile[] =>
  [log, anchor].map((path) => ({
    path: dirname(path),
    prefix: basename(path),
    access: 'withheld',
    what: `the folder of the audit log ${log}`,
    fix: 'give the log a folder of its own, outside of what is granted: CORDON_AUDIT=FOLDER/audit.jsonl',
  }))
