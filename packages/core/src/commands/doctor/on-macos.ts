// `cordon doctor` on macOS: whether the experimental Seatbelt backend passes its self-test there.
import { CordonError } from '../../errors/index.js'
import { openSandbox } from '../../sandbox/index.js'

import type { Diagnosis, Examined } from './diagnosis.js'

const WITHOUT_CELLS =
  'in-process tools, the gate, rules, approvals, the registry, the audit log and the proxy work without it'

export const examineMac = async (host: Diagnosis['host']): Promise<Examined> => {
  const nothing = { host, form: null, forms: null, walls: [], mechanisms: null }
  const native = {
    what: 'cells of the launcher',
    because: `namespaces, Landlock and seccomp are mechanisms of Linux; ${WITHOUT_CELLS}`,
    fix: 'run the tools on a Linux host, or in a virtual machine with Linux',
  }
  try {
    const sandbox = await openSandbox({ backend: 'seatbelt' })
    await sandbox.close()
    return {
      ...nothing,
      holds: true,
      backend: 'seatbelt',
      why: 'experimental; its attacks on this Mac were refused (docs/macos.md says what is not held)',
      findings: [native],
    }
  } catch (error) {
    if (!(error instanceof CordonError)) throw error
    const seatbelt = {
      what: 'the experimental Seatbelt backend',
      because: error.message,
      fix: error.fix ?? 'see docs/macos.md',
    }
    return { ...nothing, holds: false, backend: null, why: error.message, findings: [native, seatbelt] }
  }
}
