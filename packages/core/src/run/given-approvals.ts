// Answers of people that are still valid: "always", which is a rule in the user's rule file, and "session".
import { join } from 'node:path'

import { parse } from 'yaml'

import { loadRules } from '../gate/index.js'
import { parseAbsolutePath } from '../policy/index.js'
import { openRecord } from '../runtime/assemble/index.js'
import { openAuditLog } from '../runtime/audit/index.js'
import { removeRule, userRulesIn } from '../runtime/rule-files/index.js'
import { isMapping } from '../shapes/index.js'

import type { Environment } from '../line/arguments.js'
import { auditPathOf, configFolderOf, homeOf, stateFolderOf } from '../settings/own-folders.js'
import { ALWAYS_ID } from './always-rule.js'
import { withLog } from './record.js'
import { listSessions } from './session-approvals.js'

export interface GivenApproval {
  readonly id: string
  readonly kind: 'always' | 'session'
  readonly command: string
  /** The rule file, or the name of the session. */
  readonly place: string
  /** Undefined: until it is revoked. */
  readonly expires_at?: string
  readonly because: string
  readonly revoke: () => Promise<void> | void
}

/** Records it before it takes effect, like every change of what may run. */
export const revokeApproval = async (
  { id, kind, command, revoke }: GivenApproval,
  environment: Environment,
): Promise<void> => {
  await withLog(openAuditLog({ path: auditPathOf(environment, homeOf(environment)) }), (audit) =>
    openRecord({ record: audit.append }).emit({
      type: 'policy.changed',
      call_id: null,
      change: kind === 'always' ? 'rules' : 'approval',
      because: `"${kind}" was revoked: ${id}: ${command}`,
      tool: null,
      policy_hash: null,
      permission_state: { mode: 'default', rules: [], policy_sources: [], interactive: true, managed_only: [] },
    }),
  )
  await revoke()
}

export const rememberedApprovals = (environment: Environment, now: number): readonly GivenApproval[] => [
  ...alwaysRules(environment),
  ...listSessions(stateFolderOf(environment, homeOf(environment))).flatMap(({ name, kept, revoke }) =>
    kept
      .filter(({ grant }) => now < grant.expires_at)
      .map(({ grant, command }) => ({
        id: grant.approval_action_id,
        kind: 'session' as const,
        command,
        place: name,
        expires_at: new Date(grant.expires_at).toISOString(),
        because: `approved by ${grant.approved_by}`,
        revoke: () => {
          revoke(grant.approval_action_id)
        },
      })),
  ),
]

const alwaysRules = (environment: Environment): readonly GivenApproval[] => {
  const home = homeOf(environment)
  const file = join(configFolderOf(environment, home), 'rules.yaml')
  const text = userRulesIn(file) ?? ''
  const context = {
    source: 'user',
    places: { workspace: parseAbsolutePath(process.cwd(), 'the folder'), home },
  } as const
  const commands = commandsIn(text)
  return loadRules(text, file, context)
    .rules.filter(({ id, effect }) => id.startsWith(ALWAYS_ID) && effect === 'allow')
    .map(({ id, because, place }) => ({
      id,
      kind: 'always',
      command: commands.get(id) ?? '',
      place,
      because,
      revoke: () => removeRule(file, id, context),
    }))
}

/** The words of rules that Cordon wrote. In a rule, `*`, `?` and `\\` are escaped. */
const commandsIn = (text: string): ReadonlyMap<unknown, string> => {
  const document: unknown = parse(text)
  const rules: unknown = isMapping(document) ? document['rules'] : undefined
  return new Map(
    (Array.isArray(rules) ? rules : []).filter(isMapping).map(({ id, arguments: bound }) => {
      const line = isMapping(bound) ? bound['line'] : undefined
      return [id, typeof line === 'string' ? line.replace(/\\([*?\\])/g, '$1') : '']
    }),
  )
}
