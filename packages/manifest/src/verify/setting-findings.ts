// Findings about options of createCordon that concern all tools of an agent.
import type { Change, Finding, FindingId, ManifestAgent, Owner, Sentence } from 'cordon/manifest'
import { makeFinding, namedPart, say, words } from 'cordon/manifest'

type Settings = NonNullable<ManifestAgent['settings']>
type Setting = Exclude<keyof Settings, 'pins' | 'authorities'>

interface SettingFacts {
  readonly id: FindingId
  readonly what: string
  /** What counts if it is not given. */
  readonly otherwise: string
  /** Everything else is a finding. */
  readonly narrows: (past: string, present: string) => boolean
}

const never = (): boolean => false

const SETTINGS: Readonly<Record<Setting, SettingFacts>> = {
  // The same policies mean other files there.
  home: { id: 'tool.filesystem.read.widened', what: 'home (~)', otherwise: '~', narrows: never },
  vault: {
    id: 'tool.network.widened',
    what: 'vault of credentials',
    otherwise: 'that of the environment',
    narrows: never,
  },
  form: {
    id: 'tool.kind.weakened',
    what: 'form of the sandbox',
    otherwise: 'auto',
    // `auto` is landlock on some hosts.
    narrows: (past, present) => present === 'namespaces' || (past === 'landlock' && present !== 'mounts'),
  },
  launcher: {
    id: 'tool.kind.weakened',
    what: 'launcher of the sandbox',
    otherwise: 'that of Cordon',
    narrows: (_, present) => present === 'that of Cordon',
  },
}

export const settingFindings = (change: Change<ManifestAgent>, owner: Owner): readonly Finding[] => {
  const [before, after] = [change.before.settings ?? {}, change.after.settings ?? {}]
  const finding = (id: FindingId, sentence: Sentence, changed: readonly unknown[]): Finding =>
    makeFinding(id, owner, {
      sentence: say`${sentence}, for all tools of ${namedPart(change.after.name)}`,
      change: ['settings', ...changed],
    })
  const single = (Object.keys(SETTINGS) as readonly Setting[]).flatMap((name) => {
    const { id, what, otherwise, narrows } = SETTINGS[name]
    const [past, present] = [before[name] ?? otherwise, after[name] ?? otherwise]
    return past === present || narrows(past, present)
      ? []
      : [finding(id, say`The ${words(what)} is now ${present}, was ${past}`, [name, past, present])]
  })
  return [...single, ...pinFindings({ before, after }, finding), ...authorityFindings({ before, after }, finding)]
}

type Make = (id: FindingId, sentence: Sentence, changed: readonly unknown[]) => Finding

/** Without a pin the name is looked up, so another server may answer. */
const pinFindings = ({ before, after }: Change<Settings>, finding: Make): readonly Finding[] => {
  const [past, present] = [new Map(Object.entries(before.pins ?? {})), new Map(Object.entries(after.pins ?? {}))]
  return [...new Set([...past.keys(), ...present.keys()])].sort().flatMap((host) => {
    const [was, is] = [past, present].map((pins) => (pins.get(host) ?? ['what its name resolves to']).join(', '))
    return was === is || was === undefined || is === undefined
      ? []
      : [finding('tool.network.widened', say`The address of ${host} is now ${is}, was ${was}`, ['pins', host, was, is])]
  })
}

const authorityFindings = ({ before, after }: Change<Settings>, finding: Make): readonly Finding[] =>
  (after.authorities ?? [])
    .filter((hash) => before.authorities?.includes(hash) !== true)
    .map((hash) =>
      finding('tool.network.widened', say`Servers with certificates of ${hash} are now trusted`, ['authorities', hash]),
    )
