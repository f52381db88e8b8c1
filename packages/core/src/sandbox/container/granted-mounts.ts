// What of the host is bound into a container: the granted paths, each by its own name.
import { fail } from '../../errors/index.js'
import type { AbsolutePath, Boundary } from '../../policy/index.js'
import { isWithinPath } from '../../policy/index.js'

import type { RealObject } from '../grants/object-at.js'
import { surveyGrants } from '../grants/survey.js'
import type { Survey } from '../grants/survey.js'
import { outermost, pinsOf } from '../plan/layout.js'

/** `hide`: something empty covers what the host has there. */
export interface Bind {
  readonly path: AbsolutePath
  readonly object: RealObject['object']
  readonly access: 'read' | 'write' | 'hide'
}

export interface GrantedMounts {
  readonly survey: Survey
  /** A parent before what lies in it. */
  readonly binds: readonly Bind[]
}

/** `sealed`: existing protected names of the write roots, which a mount of their own keeps as they are. */
export const mountsFor = (boundary: Boundary, sealed: readonly RealObject[]): GrantedMounts => {
  const survey = surveyGrants(boundary)
  const [link] = survey.links
  if (link !== undefined)
    throw inexpressible(link.path, `it is a link to ${link.target}, and an image may have another one of this name`, {
      fix: 'grant the path that the link leads to',
    })
  for (const { path } of [...survey.read, ...survey.write]) refuseCoveringImage(path)
  const asBind =
    (access: Bind['access']) =>
    ({ path, object }: RealObject): Bind => ({ path, object, access })
  const writeRoots = outermost(survey.write)
  const writable = writeRoots.map(asBind('write'))
  const readable = outermost(survey.read)
    .filter(({ path }) => !writable.some((root) => isWithinPath(path, root.path)))
    .map(asBind('read'))
  const seals = [...survey.sealed, ...sealed]
  const hidden = outermost(survey.hidden).map(asBind('hide'))
  const pins = pinsOf({ ...survey, sealed: seals }, writeRoots).map((path): Bind => ({
    path,
    object: 'directory',
    access: 'write',
  }))
  const isHidden = ({ path }: Bind) => hidden.some((cover) => path !== cover.path && isWithinPath(path, cover.path))
  const byPath = new Map(
    [...readable, ...writable, ...pins, ...seals.map(asBind('read')), ...hidden].map((bind) => [bind.path, bind]),
  )
  const binds = [...byPath.values()].filter((bind) => !isHidden(bind))
  if (binds.length > MOST_BINDS)
    throw fail('plan-rejected', { problem: `${binds.length} mounts for one container, more than ${MOST_BINDS}` })
  for (const { path } of binds) refuseUnspeakable(path)
  return { survey, binds: binds.sort((left, right) => (left.path < right.path ? -1 : 1)) }
}

const MOST_BINDS = 500

/** A pattern, or a link on the way of a carve-out, may lead to other files than before. */
export const areSameMounts = ({ binds: left }: GrantedMounts, { binds: right }: GrantedMounts): boolean =>
  left.length === right.length &&
  left.every(({ path, object, access }, index) => {
    const other = right[index]
    return other?.path === path && other.object === object && other.access === access
  })

/** A folder at the top of the host would replace one of the image, with the programs in it. */
const refuseCoveringImage = (path: AbsolutePath): void => {
  if (path.split('/').length <= 2 || isWithinPath(path, '/dev' as AbsolutePath))
    throw inexpressible(path, 'it would cover the folder of the image with the same name', {
      fix: 'grant the paths in it that the tool needs',
    })
}

/** Engines separate the parts of a mount by these. Names that are no UTF-8 do not pass through JSON. */
const UNSPEAKABLE = /[:,"\\\p{Cc}\p{Cs}\uFFFD]/u

/** Of every mount: what a tool, or a checkout, called a file must not become another mount. */
const refuseUnspeakable = (path: AbsolutePath): void => {
  if (UNSPEAKABLE.test(path))
    throw inexpressible(
      path,
      'container engines cannot mount a path with a comma, a colon, a quote, a backslash, a control character or bytes ' +
        'that are no UTF-8, and something granted, protected or carved out has such a path',
      { fix: 'rename it' },
    )
}

const inexpressible = (grant: string, problem: string, { fix }: { readonly fix: string }) =>
  fail('grant-inexpressible', { section: 'filesystem', grant, problem, fix })
