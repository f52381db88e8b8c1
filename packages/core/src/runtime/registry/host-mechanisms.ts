// The mechanisms of this host, for a registry that gives calls only to hosts that have them.
import { CordonError } from '../../errors/index.js'
import { openSandbox } from '../../sandbox/index.js'
import type { SandboxOptions } from '../../sandbox/index.js'

export const mechanismsHere = async (settings: SandboxOptions | undefined): Promise<readonly string[]> => {
  const sandbox = await openSandbox({ ...settings, nursery: 'none' })
  try {
    return sandbox.mechanisms()
  } finally {
    await sandbox.close()
  }
}

/** None on a host without a sandbox. Tools that need none can still be called. */
export const mechanismsIfAny = async (settings: SandboxOptions | undefined): Promise<readonly string[]> => {
  try {
    return await mechanismsHere(settings)
  } catch (error) {
    if (error instanceof CordonError) return []
    throw error
  }
}
