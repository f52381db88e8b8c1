import type { Boundary } from '../../policy/index.js'
import { parseAbsolutePath } from '../../policy/index.js'

import { ownerOf } from './workspace-owner.js'
import type { Identity } from './workspace-owner.js'

interface Settings {
  readonly boundary: Boundary
  readonly cwd: string
}

interface Ready<Input, Result> {
  readonly run: (input: Input) => Promise<Result>
  readonly ready: () => Promise<void>
  readonly size: () => number
  readonly close: () => void
}

/** What of a sandbox runs something. */
interface Runs<Request extends Settings, Attached extends Settings, Warm extends Settings, Input, Result> {
  readonly run: (request: Request) => Promise<Result>
  readonly attach: (request: Attached) => Promise<Result>
  readonly warm: (settings: Warm) => Ready<Input, Result>
  readonly close: () => Promise<void>
}

/** A sandbox of root whose calls run as the owner of their write roots, each owner's through a sandbox of its own. */
export const forOwners = <Request extends Settings, Attached extends Settings, Warm extends Settings, Input, Result>(
  own: Runs<Request, Attached, Warm, Input, Result>,
  openAs: (identity: Identity) => Promise<Runs<Request, Attached, Warm, Input, Result>>,
): Runs<Request, Attached, Warm, Input, Result> => {
  const others = new Map<string, Promise<typeof own>>()
  const sandboxFor = (settings: Settings): Promise<typeof own> | undefined => {
    const identity = ownerOf(settings.boundary, parseAbsolutePath(settings.cwd, 'cwd'))
    if (identity === undefined) return undefined
    const key = `${String(identity.uid)}:${String(identity.gid)}`
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

const whenOpened = <Input, Result>(opened: Promise<Ready<Input, Result>>): Ready<Input, Result> => {
  let pool: Ready<Input, Result> | undefined
  let isClosed = false
  opened.then(
    (ready) => {
      pool = ready
      if (isClosed) ready.close()
    },
    // Who runs a call hears of it.
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
