import { parseAbsolutePath } from '../policy/index.js'

import type { Pool } from './pool.js'
import type { CellSettings, Sandbox } from './sandbox.js'
import { ownerOf } from './workspace-owner.js'
import type { Identity } from './workspace-owner.js'

/** A sandbox of root whose calls run as the owner of their write roots, each owner's through a sandbox of its own. */
export const forOwners = (own: Sandbox, openAs: (identity: Identity) => Promise<Sandbox>): Sandbox => {
  const others = new Map<string, Promise<Sandbox>>()
  const sandboxFor = (settings: CellSettings): Promise<Sandbox> | Sandbox => {
    const identity = ownerOf(settings.boundary, parseAbsolutePath(settings.cwd, 'cwd'))
    if (identity === undefined) return own
    const key = `${String(identity.uid)}:${String(identity.gid)}`
    const opened = others.get(key) ?? openAs(identity)
    others.set(key, opened)
    return opened
  }
  return {
    ...own,
    run: async (request) => (await sandboxFor(request)).run(request),
    attach: async (request) => (await sandboxFor(request)).attach(request),
    warm: (settings) => {
      const sandbox = sandboxFor(settings)
      return sandbox instanceof Promise ? whenOpened(sandbox.then((opened) => opened.warm(settings))) : sandbox.warm(settings)
    },
    close: async () => {
      await Promise.all([own.close(), ...[...others.values()].map(async (opened) => (await opened).close())])
    },
  }
}

const whenOpened = (opened: Promise<Pool>): Pool => {
  let pool: Pool | undefined
  let isClosed = false
  // Who runs a call hears of it.
  opened.then((ready) => {
    pool = ready
    if (isClosed) ready.close()
  }, () => undefined)
  return {
    run: async (input) => (await opened).run(input),
    ready: async () => (await opened).ready(),
    size: () => pool?.size() ?? 0,
    close: () => {
      isClosed = true
      pool?.close()
    },
  }
}
