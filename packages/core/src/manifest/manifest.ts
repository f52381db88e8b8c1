// The reviewable file of what every tool of a project may touch: `cordon-manifest/2`.
import { EFFECTS, MODES, RULE_SOURCES } from '../gate/index.js'
import { EGRESS_CLASSES, RISKS, TOOL_KINDS } from '../policy/index.js'
import type { ToolKind } from '../policy/index.js'
import { amount, count, described, fields, list, mapping, matching, oneOf, optional } from '../shapes/index.js'
import { orNull, recordFile, text, valuesOf, yesOrNo } from '../shapes/index.js'
import type { Schema, Shaped } from '../shapes/index.js'

/** Changed whenever the same project would get another text. */
export const MANIFEST_FORMAT = 'cordon-manifest/2'

const hash = matching(/^sha256:[0-9a-f]{64}$/, 'sha256: and 64 hexadecimal digits')
/** A file of the project and a line of it, such as `agents/support.ts:12`. */
const source = text()
/** As in a policy file, with sorted lists. A value of `NAME=value` is a keyed hash. */
const policy = mapping()
const KINDS = [...(Object.keys(TOOL_KINDS) as ToolKind[]), 'container'] as const

const containerShape = fields({
  image: described('As its tool names it, without a digest.', text()),
  digest: described('Null: the image is named by a tag, which may mean another one later.', orNull(text())),
  runtime: optional(described('The OCI runtime, if it is not that of the engine.', text())),
})

const toolShape = fields({
  name: text(),
  kind: oneOf(...KINDS),
  container: optional(described('The container of a tool of the kind `container`.', containerShape)),
  command: optional(
    described(
      'The words of its command line, as far as its code has them as they are. Null: words that a call gives. A ' +
        'word that may be a secret is a keyed hash.',
      list(orNull(text())),
    ),
  ),
  source: optional(source),
  policy,
  risk: described('As declared, or derived from the policy.', oneOf(...RISKS)),
  egress_class: described('As declared, or derived from the policy.', oneOf(...EGRESS_CLASSES)),
  input: described('The hash of its input schema. Null: no schema.', orNull(hash)),
  code: described('The hash of its code. Null: it is not known.', orNull(hash)),
  constraints: fields({
    max_invocations: optional(count(0)),
    only_after: list(text()),
    forbidden: yesOrNo(),
  }),
  approval: described('What the gate says to a call of it that no rule about arguments concerns.', oneOf(...EFFECTS)),
  argument_gate: oneOf('enforced', 'off'),
  cwd: optional(text()),
  registry_version: optional(count(1)),
})

const ruleShape = fields({
  id: text(),
  effect: oneOf(...EFFECTS),
  from: oneOf(...RULE_SOURCES),
  source: optional(source),
  because: text(),
  conditions: described('As in a rule file: tool, arguments, paths, hosts, command.', mapping()),
})

const serverShape = fields({
  name: text(),
  source: optional(source),
  command: optional(described('Words that may be secrets are keyed hashes.', list(text()))),
  url: optional(described('Its host. A path is a keyed hash, because it may contain a token.', text())),
  cwd: optional(described('Where it is started, if not in the folder of the project.', text())),
  allow: optional(described('What it may ask its client for.', list(text()))),
  publish: optional(described('Where it serves HTTP inside its cell.', text())),
  pin: described('The hash of its package or of its tools, if it is pinned.', orNull(text())),
  policy,
  tools: described('By patterns of names. The first one that fits a name counts.', list(toolShape)),
})

const settingsShape = fields({
  home: optional(described('What `~` is in its policies, if it is not the home of the user.', text())),
  pins: optional(described('Host names with fixed addresses.', valuesOf(list(text())))),
  authorities: optional(described('The hashes of further certificate authorities.', list(hash))),
  vault: optional(described('The address of the vault of its credentials.', text())),
  form: optional(described('The form of the sandbox.', text())),
  launcher: optional(described('The program that starts the sandbox.', text())),
})

const agentShape = fields({
  name: text(),
  source: optional(source),
  workspace: optional(described('What `.` is in its policies, if it is not the folder of the project.', text())),
  settings: optional(described('Options that concern all its tools, if they are not the defaults.', settingsShape)),
  mode: oneOf(...MODES),
  budget: fields({
    tool_calls: optional(amount()),
    same_tool_in_a_row: optional(amount()),
    argument_bytes: optional(amount()),
    duration: optional(amount()),
  }),
  rules: list(ruleShape),
  credentials: described('Where the values of credentials come from, by their ids. Never a value.', valuesOf(text())),
  tools: list(toolShape),
  mcp_servers: list(serverShape),
  dynamic: described('Agents and tools that exist only at run time, and where they are made.', list(text())),
})

export const agentsShape = list(agentShape)

export const manifestShape = fields({
  format: oneOf(MANIFEST_FORMAT),
  hash: described('Of the canonical text (RFC 8785) of `agents` and `tags`.', hash),
  agents: agentsShape,
  tags: described(
    'Data and hosts that a project knows: files that are public, sources that it trusts, hosts that are its own.',
    fields({ public: list(text()), trusted: list(text()), own: list(text()) }),
  ),
  accepted: optional(
    described(
      'Findings that somebody accepted. They are not part of the hash.',
      list(fields({ finding: text(), fingerprint: text(), reason: text(), by: optional(text()) })),
    ),
  ),
})

export const manifestSchema = (): Schema =>
  recordFile(
    'manifest',
    'What every tool of a project may touch, as `cordon manifest generate` writes it.',
    manifestShape,
  )

export type Manifest = Shaped<typeof manifestShape>
export type ManifestAgent = Shaped<typeof agentShape>
export type ManifestTool = Shaped<typeof toolShape>
export type ManifestKind = ManifestTool['kind']
export type ManifestRule = Shaped<typeof ruleShape>
export type ManifestServer = Shaped<typeof serverShape>
/** What decides the meaning of its policy. A container has a cell in it. */
export const cellKindOf = (kind: ManifestKind): ToolKind => (kind === 'container' ? 'process' : kind)

/** What the hash covers. */
export type ManifestContent = Pick<Manifest, 'agents' | 'tags'>

/** With nothing in it. */
export const emptyAgent = (name: string): ManifestAgent => ({
  name,
  mode: 'default',
  budget: {},
  rules: [],
  credentials: {},
  tools: [],
  mcp_servers: [],
  dynamic: [],
})
