// A policy as YAML, line by line, so that the caller can show the source of each line.
import { hostText, variableText } from '../resolve/canonical-policy.js'
import type { Credential } from '../credential.js'
import type { HostGrant } from '../network/host-grant.js'
import { renderDestination } from '../network/host-grant.js'
import type { All, Limits, Section, ToolPolicy } from '../model.js'
import { LIMIT_FORMS } from '../parse/parse-limits.js'
import type { PolicySection } from './policy-file.js'

export interface PolicyLine {
  readonly text: string
  /** The item of the line. A line that only opens a section has none. */
  readonly item?: { readonly section: PolicySection; readonly key: string }
}

export const renderPolicy = (policy: ToolPolicy): readonly PolicyLine[] => [
  ...(policy.filesystem.read.kind === 'unspecified' && policy.filesystem.write.kind === 'unspecified'
    ? []
    : [{ text: 'filesystem:' }]),
  ...(['read', 'write'] as const).flatMap((access) =>
    section(access, policy.filesystem[access], ({ text }) => [text, yaml(text)], '  '),
  ),
  ...section('network', policy.network, (grant) => [hostText(grant), hostEntry(grant)]),
  ...(policy.egressClass.kind === 'declared'
    ? [{ text: `egress_class: ${policy.egressClass.level}`, item: { section: 'egress_class', key: '' } } as const]
    : []),
  ...section('environment', policy.environment, (entry) => [entry.name, yaml(variableText(entry))]),
  ...section('credentials', listOf(byId(policy.credentials)), (same) => [same[0]?.id ?? '', credential(same)]),
  ...section('exec', policy.exec, (program) =>
    program.kind === 'name' ? [program.name, yaml(program.name)] : [program.glob.text, yaml(program.glob.text)],
  ),
  ...limits(policy.limits),
  ...section('presets', listOf(policy.presets), (name) => [name, name]),
  ...section('require', listOf(policy.require), (name) => [name, name]),
]

const listOf = <Item>(items: readonly Item[]): Section<Item> =>
  items.length === 0 ? { kind: 'unspecified' } : { kind: 'list', items }

const section = <Item>(
  name: PolicySection,
  given: Section<Item> | All,
  entryOf: (item: Item) => readonly [key: string, text: string],
  indent = '',
): readonly PolicyLine[] => {
  if (given.kind === 'unspecified') return []
  if (given.kind !== 'list') return [{ text: `${indent}${name}: ${given.kind}`, item: { section: name, key: '' } }]
  const lines = given.items.map((item) => {
    const [key, text] = entryOf(item)
    return { text: `${indent}  - ${text}`, item: { section: name, key } }
  })
  return [{ text: `${indent}${name}:` }, ...lines]
}

const limits = (given: Limits): readonly PolicyLine[] => {
  const lines = Object.entries(given as Readonly<Record<string, number>>).map(([name, value]) => {
    const unit = LIMIT_FORMS[name as keyof Limits].quantity === 'duration' ? 'ms' : ''
    return { text: `  ${name}: ${value}${unit}`, item: { section: 'limits', key: name } } as const
  })
  return lines.length === 0 ? [] : [{ text: 'limits:' }, ...lines]
}

const hostEntry = (grant: HostGrant): string => {
  const { action, methods, paths } = grant
  const host = yaml(renderDestination(grant))
  if (action === 'allow' && methods.kind === 'all' && paths.kind === 'all') return host
  return mapping({
    host,
    methods: methods.kind === 'list' ? list(methods.items) : undefined,
    paths: paths.kind === 'list' ? list(paths.items.map(({ text }) => text)) : undefined,
    action: action === 'allow' ? undefined : action,
  })
}

/** One id may have several injections. */
const byId = (credentials: readonly Credential[]): readonly (readonly Credential[])[] =>
  [...new Set(credentials.map(({ id }) => id))].map((id) => credentials.filter((each) => each.id === id))

const credential = (same: readonly Credential[]): string => {
  const injections = [...new Set(same.map(injection))]
  const placeholder = same[0]?.placeholder
  return mapping({
    id: yaml(same[0]?.id ?? ''),
    inject: injections.length === 1 ? injections.join() : `[${injections.join(', ')}]`,
    placeholder:
      placeholder === undefined ? undefined : mapping({ name: placeholder.name, text: yaml(placeholder.text) }),
  })
}

const injection = ({ hosts, inject }: Credential): string => {
  const names = hosts.map(renderDestination)
  const host = names.length === 1 ? names.map(yaml).join() : list(names)
  if (inject.kind === 'header') return mapping({ host, header: yaml(inject.name), format: yaml(inject.format) })
  // The fields of the other kinds have the names of their keys.
  const { kind, ...fields } = inject
  const given = Object.entries(fields as Readonly<Record<string, string | undefined>>)
  return mapping({
    host,
    as: kind,
    ...Object.fromEntries(given.map(([key, text]) => [key, text === undefined ? undefined : yaml(text)])),
  })
}

const mapping = (entries: Readonly<Record<string, string | undefined>>): string => {
  const given = Object.entries(entries).filter(([, text]) => text !== undefined)
  return `{ ${given.map(([key, text]) => `${key}: ${text ?? ''}`).join(', ')} }`
}
const list = (texts: readonly string[]): string => `[${texts.map(yaml).join(', ')}]`

const PLAIN = /^[A-Za-z_/~][A-Za-z0-9_./~@-]*$/
const WORDS = new Set(['true', 'false', 'null', 'yes', 'no', 'on', 'off', '~'])

/** Quoted if YAML could read something else. */
const yaml = (text: string): string =>
  PLAIN.test(text) && !WORDS.has(text.toLowerCase()) ? text : JSON.stringify(text)
