// The record `sandbox_profile`: the boundary as it was applied, never as it was hoped for. Its types and
// schemas/sandbox_profile.schema.json come from one declaration.
import { BACKENDS, FORMS, LIMIT_NAMES } from '../../policy/index.js'
import {
  amount,
  described,
  either,
  filled,
  list,
  matching,
  oneOf,
  optional,
  record,
  recordFile,
  text,
  valuesOf,
} from '../../shapes/index.js'
import type { Schema, Shape, Shaped } from '../../shapes/index.js'

const ENFORCED = valuesOf(list(filled())) as Shape<Readonly<Record<string, readonly string[]>>>
/** An empty list is a boundary that is not enforced here. */
export type EnforcedBy = Shaped<typeof ENFORCED>

const COMMON = {
  cwd: text(),
  read_roots: list(text()),
  write_roots: list(text()),
  network: described('none, all, or the destinations that are granted.', either(oneOf('none', 'all'), list(text()))),
  environment_ref: described(
    "Names of the variables; their values are recorded nowhere. * are all those of the agent's own process.",
    list(matching(/^[^=]+$/, 'the name of a variable')),
  ),
  process_limits: described('Bytes, milliseconds or counts.', valuesOf(amount(), LIMIT_NAMES), {
    additionalProperties: true,
  }),
  violation_refs: list(text()),
  enforced: described(
    'For each boundary the mechanisms that hold it; an empty list is a boundary that is not held.',
    ENFORCED,
  ),
}

const OF_CELLS = {
  passed_over: optional(
    described(
      'Stronger backends that were not taken, with the reason.',
      list(record({ backend: oneOf(...BACKENDS), reason: filled() })),
    ),
  ),
  form: described(
    'landlock: for hosts that refuse user namespaces. mounts: for hosts without Landlock, only if it was asked for. ' +
      'seatbelt: on macOS.',
    oneOf(...FORMS, 'seatbelt'),
  ),
  runs_as: optional(
    described(
      'User and group of the tool, where Cordon runs as root and the write roots belong to another user.',
      matching(/^[0-9]+:[0-9]+$/, 'user:group'),
    ),
  ),
  image: optional(described('The image of the container, by the digest of its contents.', filled())),
  scope: optional(
    described(
      'What the cell of an MCP server is for. call: this call alone. policy: all calls of tools with this policy, so ' +
        'its limits, but for the time of a call, hold for all of them together. server: all calls of the server.',
      oneOf('call', 'policy', 'server'),
    ),
  ),
  sealed: described(
    'What exists in the write roots and stays as it is: protected names, and what the policy takes out of write.',
    list(text()),
  ),
  closed_folders: described(
    'Folders of the write roots in which nothing can be made, renamed or removed.',
    list(text()),
  ),
}

export const SANDBOXED = record({
  mode: oneOf('sandboxed'),
  backend: oneOf(...BACKENDS, 'container'),
  ...OF_CELLS,
  ...COMMON,
})
export type SandboxProfile = Shaped<typeof SANDBOXED>

export const WITHOUT_CELL = record({ mode: oneOf('none'), backend: oneOf('none', 'unconfined'), ...COMMON })
/** For a tool without a boundary: in the agent's own process, or `unconfined`, as a plain process beside it. */
export type UnconfinedProfile = Shaped<typeof WITHOUT_CELL>

const EITHER = record({
  mode: described(
    'none: nothing of the system holds the tool. It runs in the process of the agent or, with the backend ' +
      '"unconfined", as a plain process (runUnconfined).',
    oneOf('sandboxed', 'none'),
  ),
  backend: described('What made the cell.', filled()),
  ...OF_CELLS,
  ...COMMON,
})

export const sandboxProfileSchema = (): Schema =>
  recordFile('sandbox_profile', 'The boundary of one call as it was applied, never as it was hoped for.', EITHER, {
    required: ['mode', 'backend', ...Object.keys(COMMON)],
  })
