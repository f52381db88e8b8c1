// The audit logs of the host's clients, which stay open between their runs.
import type { AuditLog } from '../runtime/audit/index.js'

import { openRunLog } from '../run/record.js'
import type { OpenRunLog } from '../run/record.js'
import { auditPathOf } from '../settings/own-folders.js'

interface OpenLogs {
  readonly open: OpenRunLog
  readonly close: () => Promise<void>
}

const MOST_OPEN = 16

/** The log of the place that was opened longest ago is closed for a new one. */
export const keepLogsOpen = (): OpenLogs => {
  const logs = new Map<string, Promise<AuditLog>>()
  const forget = (path: string): void => {
    const log = logs.get(path)
    logs.delete(path)
    void log?.then((opened) => opened.close()).catch(() => undefined)
  }
  return {
    open: async (environment, home) => {
      const path = auditPathOf(environment, home)
      const opening = logs.get(path) ?? openRunLog(environment, home)
      logs.set(path, opening)
      for (const oldest of [...logs.keys()].slice(0, -MOST_OPEN)) forget(oldest)
      try {
        const { places, append } = await opening
        return {
          places,
          append: async (events) => {
            await append(events).catch((error: unknown) => {
              // Whatever became of it, the next run opens it as if it were the first.
              if (logs.get(path) === opening) forget(path)
              throw error
            })
          },
          close: () => Promise.resolve(),
        }
      } catch (error) {
        if (logs.get(path) === opening) logs.delete(path)
        throw error
      }
    },
    close: async () => {
      await Promise.allSettled([...logs.values()].map(async (log) => (await log).close()))
    },
  }
}
