import { fail } from '../../errors/index.js'
import type { Form } from '../../policy/index.js'

import type { HostFacts } from './host-facts.js'
import { problemOf } from './requirements.js'

/**
 * The requested form, or the strongest one that this host supports. `mounts` has one barrier for files instead of two,
 * so it has to be requested.
 */
export const chooseForm = (wanted: Form | 'auto', host: HostFacts): Form => {
  const order: readonly Form[] = wanted === 'auto' ? ['namespaces', 'landlock'] : [wanted]
  const chosen = order.find((form) => host[form].held)
  if (chosen !== undefined) return chosen
  const problem = order.map((form) => `${form}: ${problemOf(host[form]) ?? ''}`).join('; ')
  throw fail('host-cannot-hold', { mechanism: order.join(' or '), problem, fix: otherFormFor(host) })
}

const otherFormFor = ({ wall, mounts }: HostFacts): string => {
  if (wall !== undefined) return 'leave the form to Cordon (--form auto), or the backend (--backend auto)'
  const doctor = 'run `cordon doctor`: it says what is missing and how to get it'
  return mounts.held
    ? `${doctor}; or accept a cell without Landlock: --form mounts (sandbox: { form: 'mounts' }), see SECURITY.md`
    : doctor
}
