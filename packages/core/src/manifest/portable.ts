// Paths and policies without the folder, the user and the machine that they were read on.
import { escapeGlob, isWithinPath, parsePathGlob } from '../policy/index.js'
import type { AbsolutePath, PathGlob, Section, ToolPolicy } from '../policy/index.js'

export interface ProjectPlaces {
  /** Of the agent. `.` in its policies. */
  readonly workspace: AbsolutePath
  readonly project: AbsolutePath
  /** All folders that code took for the home of the user. */
  readonly homes: readonly AbsolutePath[]
}

/** `./…` in the workspace, `../…` in the rest of the project, `~/…` in the home. Other paths stay. */
export const portablePath = (path: string, places: ProjectPlaces): string => startedAt(path, places, (place) => place)

export const portableGlob = (text: string, places: ProjectPlaces): string => {
  const isNegated = text.startsWith('!')
  const body = startedAt(isNegated ? text.slice(1) : text, places, escapeGlob)
  return isNegated ? `!${body}` : body
}

const startedAt = (text: string, places: ProjectPlaces, written: (place: string) => string): string => {
  for (const [place, start] of startsOf(places)) {
    const prefix = written(place)
    if (text === prefix) return start
    if (text.startsWith(`${prefix}/`)) return `${start}${text.slice(prefix.length)}`
  }
  return text
}

const startsOf = ({ workspace, project, homes }: ProjectPlaces): readonly (readonly [string, string])[] => [
  [workspace, '.'],
  ...(isWithinPath(workspace, project) ? [[project, above(workspace, project)] as const] : []),
  ...homes.map((home) => [home, '~'] as const),
]

/** `../..` from the workspace to the project. */
const above = (workspace: AbsolutePath, project: AbsolutePath): string =>
  workspace
    .slice(project.length)
    .split('/')
    .filter((name) => name !== '')
    .map(() => '..')
    .join('/')

/** Texts of variables may be lists of paths (`PATH`). */
const portableText = (text: string, places: ProjectPlaces): string =>
  text
    .split(':')
    .map((part) => portablePath(part, places))
    .join(':')

export const portablePolicy = (policy: ToolPolicy, places: ProjectPlaces): ToolPolicy => {
  const glob = ({ text }: PathGlob): PathGlob => parsePathGlob(portableGlob(text, places), 'a manifest')
  return {
    ...policy,
    filesystem: { read: each(policy.filesystem.read, glob), write: each(policy.filesystem.write, glob) },
    environment: each(policy.environment, ({ name, value }) =>
      value.kind === 'pass'
        ? { name, value }
        : { name, value: { kind: 'set', text: portableText(value.text, places) } },
    ),
    exec:
      policy.exec.kind === 'list'
        ? each(policy.exec, (program) =>
            program.kind === 'name' ? program : { kind: 'path', glob: glob(program.glob) },
          )
        : policy.exec,
  }
}

const each = <Item>(section: Section<Item>, change: (item: Item) => Item): Section<Item> =>
  section.kind === 'list' ? { kind: 'list', items: section.items.map(change) } : section
