import { parseAbsolutePath } from '../policy/index.js'

import type { CellSettings, Pool, Sandbox } from './sandbox-interface.js'
import { ownerOf } from './plan/workspace-owner.js'
import type { Identity } from './plan/workspace-owner.js'

type Runs = Pick<Sandbox, 'run' | 'attach' | 'startsElsewhere' | 'warm' | 'close'>

/** Root's sandbox: each call runs as the owner of its write roots, through a sandbox for that owner. */
export const runsAsOwner = (own: Runs, openAs: (identity: Identity) => Promise<Runs>): Runs => {
  const others = new Map<string, Promise<Runs>>()
  const identityFor = ({ boundary, cwd }: Pick<CellSettings, 'boundary' | 'cwd'>): Identity | undefined =>
    ownerOf(boundary, parseAbsolutePath(cwd, 'cwd'))
  const sandboxFor = (settings: CellSettings): Promise<Runs> | undefined => {
    const identity = identityFor(settings)
    if (identity === undefined) return undefined
    const key = `${identity.uid}:${identity.gid}`
    const known = others.get(key)
    if (known !== undefined) return known
    const opened = openAs(identity)
    others.set(key, opened)
    opened.catch(() => others.delete(key))
    return opened
  }
  return {
    run: async (request) => ((await sandboxFor(request)) ?? own).run(request),
    attach: async (request) => ((await sandboxFor(request)) ?? own).attach(request),
    startsElsewhere: async (settings) => identityFor(settings) === undefined && own.startsElsewhere(settings),
    warm: (settings) => {
      const opened = sandboxFor(settings)
      return opened === undefined ? own.warm(settings) : whenOpened(opened.then((sandbox) => sandbox.warm(settings)))
    },
    close: async () => {
      await Promise.all([
        own.close(),
        ...[...others.values()].map(async (opened) => (await opened.catch(() => undefined))?.close()),
      ])
    },
  }
}

const whenOpened = (opened: Promise<Pool>): Pool => {
  let pool: Pool | undefined
  let isClosed = false
  opened.then(
    (ready) => {
      pool = ready
      if (isClosed) ready.close()
    },
    // The next call reports it.
    () => undefined,
  )
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
