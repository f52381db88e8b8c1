// Chooses the layout of a cell by its form and its wall, and adds the private folder and the files of the network.
import type { AbsolutePath } from '../../policy/index.js'
import { DEFAULT_LIMITS } from '../../policy/index.js'

import { objectAt } from '../grants/object-at.js'
import type { HostFacts } from './host-facts.js'
import { FORM_HAS, bringsMounts } from './host-facts.js'
import { layOutLandlock, privateRule } from './landlock-layout.js'
import { layOutNamespaces } from './layout.js'
import type { LayoutInput } from './layout.js'
import { NO_NETWORK_FILES, networkFiles, withFiles } from './network-files.js'
import { NOTHING_KEPT } from './plan.js'
import type { Plan, Step } from './plan.js'
import type { CellRequest } from './planned-cell.js'
import { newFolderIn, temporaryParentFor } from './private-folder.js'
import { hasOwnProc } from './requirements.js'

const TTY = '/dev/tty' as AbsolutePath

type Contents = Pick<LayoutInput, 'system' | 'survey' | 'loaded' | 'execute'> & Pick<Plan, 'network'>

interface CellLayout {
  readonly layout: Pick<Plan, 'steps' | 'rules' | 'kept'>
  /** What a wall around the launcher mounts. */
  readonly wallSteps: readonly Step[]
  readonly temporary: AbsolutePath
}

export const layOutCell = (
  { boundary, cwd, form, proxy }: CellRequest,
  host: HostFacts,
  { network, system, survey, loaded, execute }: Contents,
): CellLayout => {
  const has = FORM_HAS[form]
  const isWalled = bringsMounts(host.wall)
  const parent = temporaryParentFor(form, host, [...survey.read, ...survey.write])
  const temporary = has.ownRoot ? parent : newFolderIn(parent)
  const { names, covers, own } =
    typeof network === 'string'
      ? NO_NETWORK_FILES
      : networkFiles(proxy?.authority ?? '', temporary, boundary.limits.scratch ?? DEFAULT_LIMITS.scratch)
  const input: LayoutInput = {
    system: has.ownRoot || isWalled ? withFiles(system, names) : system,
    covers,
    own,
    survey,
    loaded,
    execute,
    cwd,
    temporary: isWalled ? parent : temporary,
    ownProc: hasOwnProc(form, host),
    kernelSecrets: host.kernelSecrets,
    tty: objectAt(TTY) !== undefined,
  }
  if (has.ownRoot) {
    const { steps, rules } = layOutNamespaces(input)
    return { layout: { steps, rules: has.landlock ? rules : [], kept: NOTHING_KEPT }, wallSteps: [], temporary }
  }
  const steps = own.map((file): Step => ({ kind: 'file', ...file }))
  if (!isWalled) return { layout: { steps, ...layOutLandlock(input, host.listener.held) }, wallSteps: [], temporary }
  const walled = layOutNamespaces({ ...input, own: [] })
  const rules = [...walled.rules, privateRule(input, temporary)]
  return { layout: { steps, rules, kept: NOTHING_KEPT }, wallSteps: walled.steps, temporary }
}
