// A policy as the YAML that it could have been written as, line by line, so that each can be told where it comes from.
import { hostText } from '../resolve/canonical-policy.js'
import type { Credential } from '../credential.js'
import type { HostGrant } from '../network/host-grant.js'
import { renderDestination } from '../network/host-grant.js'
import type { EnvironmentEntry, Limits, ToolPolicy } from '../model.js'
import { LIMIT_FORMS } from '../parse/parse-limits.js'
import type { PolicySection } from './policy-file.js'

export interface PolicyLine {
  readonly text: string
  /** What it is about; lines that only open a section are about nothing. */
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
  ...section('environment', policy.environment, (entry) => [entry.name, yaml(variable(entry))]),
  ...section(
    'credentials',
    policy.credentials.length === 0 ? { kind: 'unspecified' } : { kind: 'list', items: byId(policy.credentials) },
    (same) => [same[0]?.id ?? '', credential(same)],
  ),
  ...section('exec', policy.exec, (program) =>
    program.kind === 'name' ? [program.name, yaml(program.name)] : [program.glob.text, yaml(program.glob.text)],
  ),
  ...named(
    'limits',
    Object.entries(policy.limits).map(([name, value]) => [
      name,
      `${name}: ${limit(name as keyof Limits, value as number)}`,
    ]),
  ),
  ...section('presets', listOf(policy.presets), (name) => [name, name]),
  ...section('require', listOf(policy.require), (name) => [name, name]),
]

type Given<Item> =
  { readonly kind: 'unspecified' | 'none' | 'all' } | { readonly kind: 'list'; readonly items: readonly Item[] }

const listOf = <Item>(items: readonly Item[]): Given<Item> =>
  items.length === 0 ? { kind: 'unspecified' } : { kind: 'list', items }

const section = <Item>(
  name: PolicySection,
  given: Given<Item>,
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

const named = (
  name: PolicySection,
  entries: readonly (readonly [key: string, text: string])[],
): readonly PolicyLine[] =>
  entries.length === 0
    ? []
    : [{ text: `${name}:` }, ...entries.map(([key, text]) => ({ text: `  ${text}`, item: { section: name, key } }))]

const hostEntry = (grant: HostGrant): string => {
  const { action, methods, paths } = grant
  const host = yaml(renderDestination(grant))
  if (action === 'allow' && methods.kind === 'all' && paths.kind === 'all') return host
  return mapping([
    ['host', host],
    ...(methods.kind === 'list' ? [['methods', list(methods.items)] as const] : []),
    ...(paths.kind === 'list' ? [['paths', list(paths.items.map(({ text }) => text))] as const] : []),
    ...(action === 'allow' ? [] : [['action', action] as const]),
  ])
}

const variable = ({ name, value }: EnvironmentEntry): string => (value.kind === 'pass' ? name : `${name}=${value.text}`)

/** All that one id stands for, which may be several ways to inject it. */
const byId = (credentials: readonly Credential[]): readonly (readonly Credential[])[] =>
  [...new Set(credentials.map(({ id }) => id))].map((id) => credentials.filter((each) => each.id === id))

const credential = (same: readonly Credential[]): string => {
  const injections = [...new Set(same.map(injection))]
  const placeholder = same[0]?.placeholder
  return mapping([
    ['id', yaml(same[0]?.id ?? '')],
    ['inject', injections.length === 1 ? (injections[0] ?? '') : `[${injections.join(', ')}]`],
    ...(placeholder === undefined
      ? []
      : [
          [
            'placeholder',
            mapping([
              ['name', placeholder.name],
              ['text', yaml(placeholder.text)],
            ]),
          ] as const,
        ]),
  ])
}

const injection = ({ hosts, inject }: Credential): string => {
  const host = [
    'host',
    hosts.length === 1 && hosts[0] !== undefined
      ? yaml(renderDestination(hosts[0]))
      : list(hosts.map(renderDestination)),
  ] as const
  switch (inject.kind) {
    case 'header':
      return mapping([host, ['header', yaml(inject.name)], ['format', yaml(inject.format)]])
    case 'basic':
      return mapping([host, ['as', 'basic'], ['user', yaml(inject.user)]])
    case 'query':
      return mapping([host, ['as', 'query'], ['parameter', yaml(inject.parameter)]])
    case 'placeholder':
    case 'client-certificate':
      return mapping([host, ['as', inject.kind]])
    case 'aws-sigv4':
      return mapping([
        host,
        ['as', inject.kind],
        ...(['service', 'region'] as const).flatMap((key) =>
          inject[key] === undefined ? [] : [[key, yaml(inject[key])] as const],
        ),
      ])
  }
}

const limit = (name: keyof Limits, value: number): string =>
  LIMIT_FORMS[name].quantity === 'duration' ? `${String(value)}ms` : String(value)

const mapping = (entries: readonly (readonly [key: string, text: string])[]): string =>
  `{ ${entries.map(([key, text]) => `${key}: ${text}`).join(', ')} }`
const list = (texts: readonly string[]): string => `[${texts.map(yaml).join(', ')}]`

const PLAIN = /^[A-Za-z_/~][A-Za-z0-9_./~@-]*$/
const WORDS = new Set(['true', 'false', 'null', 'yes', 'no', 'on', 'off', '~'])

/** Quoted wherever YAML could read something else. */
const yaml = (text: string): string =>
  PLAIN.test(text) && !WORDS.has(text.toLowerCase()) ? text : JSON.stringify(text)
