// Changes of a manifest that may break a path, in the order of their costs.
import { parseDestination, parsePathGlob, renderDestination } from 'cordon/policy'
import type { Endpoint, HostGrant, PathGlob, Section, ToolPolicy } from 'cordon/policy'

import type { Part } from './part.js'
import type { Tags } from './tags.js'

/** In the order of their costs. */
export type Cut =
  /** Nothing stops working, but a person looks at each call. */
  | { readonly kind: 'ask'; readonly parts: readonly Part[] }
  /** The tool moves into a cell, where its policy confines it. */
  | { readonly kind: 'isolate'; readonly part: Part }
  /** The tool loses one entry of its policy. */
  | { readonly kind: 'remove'; readonly part: Part; readonly section: CutSection; readonly entry: string }
  /** A claim about the world, which somebody has to vouch for. */
  | { readonly kind: 'tag'; readonly tag: keyof Tags; readonly entry: string }

type CutSection = 'network' | 'environment' | 'credentials' | 'read' | 'write'

export type Candidate =
  { readonly cut: Cut; readonly changed: ReadonlyMap<Part, Part> } | { readonly cut: Cut; readonly tags: Tags }

/** Without one entry of its policy. */
export const removals = (part: Part): readonly Candidate[] => {
  const { policy } = part
  const { network, environment, credentials, filesystem } = policy
  const removal = (section: CutSection, entry: string, changed: Partial<ToolPolicy>): Candidate => ({
    cut: { kind: 'remove', part, section, entry },
    changed: new Map([[part, { ...part, policy: { ...policy, ...changed } }]]),
  })
  return [
    ...itemsOf(network)
      .filter(isGrant)
      .map((grant) =>
        removal('network', grant.text, {
          network: { kind: 'list', items: itemsOf(network).filter((each) => each !== grant) },
        }),
      ),
    ...itemsOf(environment).map((entry) =>
      removal('environment', entry.name, {
        environment: { kind: 'list', items: itemsOf(environment).filter((each) => each !== entry) },
      }),
    ),
    ...[...new Set(credentials.map(({ id }) => id))].map((id) =>
      removal('credentials', id, { credentials: credentials.filter((each) => each.id !== id) }),
    ),
    ...(['read', 'write'] as const).flatMap((access) =>
      itemsOf(filesystem[access])
        .filter(({ negated }) => !negated)
        .map((glob) =>
          removal(access, glob.text, {
            filesystem: {
              ...filesystem,
              [access]: { kind: 'list', items: itemsOf(filesystem[access]).filter((each) => each !== glob) },
            },
          }),
        ),
    ),
  ]
}

interface FirstHolders {
  /** It sends what the first sink gives it. */
  readonly sender: Part | undefined
  readonly reader: Part | undefined
  readonly bringer: Part | undefined
}

export const tagsFor = ({ sender, reader, bringer }: FirstHolders, tags: Tags): readonly Candidate[] => {
  const tagged = (tag: keyof Tags, entry: string, changed: Partial<Tags>): Candidate => ({
    cut: { kind: 'tag', tag, entry },
    tags: { ...tags, ...changed },
  })
  const { trusted } = tags
  return [
    ...hostsOf(sender).map((text) => tagged('own', text, { own: [...tags.own, endpoint(text)] })),
    ...filesOf(reader).map((text) => tagged('public', text, { public: [...tags.public, glob(text)] })),
    ...hostsOf(bringer).map((text) =>
      tagged('trusted', text, { trusted: { ...trusted, hosts: [...trusted.hosts, endpoint(text)] } }),
    ),
    ...filesOf(bringer).map((text) =>
      tagged('trusted', text, { trusted: { ...trusted, files: [...trusted.files, glob(text)] } }),
    ),
  ]
}

const endpoint = (text: string): Endpoint => parseDestination(text, 'tags')
const glob = (text: string): PathGlob => parsePathGlob(text, 'tags')

const hostsOf = (part: Part | undefined): readonly string[] =>
  part === undefined
    ? []
    : [
        ...(part.remote === undefined ? [] : [part.remote.text]),
        ...new Set(itemsOf(part.policy.network).filter(isGrant).map(renderDestination)),
      ]

/** A file of the workspace begins with `./`, so that nobody takes it for a host. */
const filesOf = (part: Part | undefined): readonly string[] => {
  if (part === undefined) return []
  const { filesystem, presets } = part.policy
  const globs = [...itemsOf(filesystem.read), ...itemsOf(filesystem.write)].filter(({ negated }) => !negated)
  const texts = globs.map(({ text }) => (/^(?:[/~]|\.{1,2}(?:\/|$))/.test(text) ? text : `./${text}`))
  return [...new Set([...texts, ...(presets.includes('workspace') ? ['.'] : [])])]
}

const isGrant = ({ action }: HostGrant): boolean => action !== 'deny'

const itemsOf = <Item>(section: Section<Item> | { readonly kind: 'all' }): readonly Item[] =>
  section.kind === 'list' ? section.items : []
