// What is compared, section by section. Each check looks for one thing that `a` allows and `b` does not.
import type { Boundary, FileGrants, Limits, ToolKind, ToolPolicy } from '../model.js'
import type { Effective } from './effective.js'
import { effectiveOf } from './effective.js'
import { entriesOf } from './compile-network.js'
import { readBeyond, writeBeyond } from './files-within.js'
import { hostText, variableText } from '../resolve/canonical-policy.js'
import { DEFAULT_OUTPUT_BYTES, TOOL_KINDS } from '../model.js'
import { LIMIT_NAMES } from '../parse/parse-limits.js'
import { plainDifference } from './plain-difference.js'
import { HTTP_ONLY, isPlainlyWithin, networkBeyond, requestBeyond } from './requests-beyond.js'
import type { RequestFound } from './requests-beyond.js'
import { USUAL_PLACES, haveSameFiles, pathIn, placesToTry } from './symbolic-places.js'
import type { TriedPlaces } from './symbolic-places.js'
import { exactPattern, patternText } from '../glob/path-pattern.js'
import type { PathPattern, Places } from '../glob/path-pattern.js'
import type { RequestWitness, Witness } from './witness.js'
import { parseAbsolutePath } from '../glob/absolute-path.js'
import type { AbsolutePath } from '../glob/absolute-path.js'
import { isReadable } from '../resolve/access.js'
import type { Credential, Injection } from '../credential.js'

export interface WithinContext extends Places {
  /** Decides what an omitted section means, and what confines the tool. Default: `process`. */
  readonly kind: ToolKind
  /** The kind of tool of `b`, if it is another one. */
  readonly boundKind: ToolKind
}

/** Looks for one thing that `a` allows and `b` does not. */
export interface Check {
  /** Of two checks with one key, the first witness counts. */
  readonly key: string
  readonly find: () => Witness | undefined
  /** Only one grant can have a witness, whose key this is. Its parts have nothing to add. */
  readonly isSole?: boolean
  /** `b` has none of the parts as they are, so each is worth a search before the whole. */
  readonly arePartsNew?: boolean
  /** The same for each grant alone. */
  readonly parts?: () => readonly Check[]
}

/** Each check in turn. `isFound`: whether a check with this key found a witness before. */
export function* checksOf(
  a: ToolPolicy | Boundary,
  b: ToolPolicy | Boundary,
  { workspace, home, kind = 'process', boundKind = kind }: Partial<WithinContext>,
  isFound: (key: string) => boolean = () => false,
): Generator<Check> {
  const known = workspace !== undefined && home !== undefined ? { workspace, home } : undefined
  const at = (place: TriedPlaces) =>
    [effectiveOf(a, { ...place, kind }), effectiveOf(b, { ...place, kind: boundKind })] as const
  const first = at(known ?? USUAL_PLACES)
  yield* checksAnywhere(...first)
  if (kind === boundKind && haveSameFiles(a, b)) return
  const difference = plainDifference({ policy: a, kind }, { policy: b, kind: boundKind })
  if (difference.length === 0) return
  const places = known === undefined ? placesToTry(a, b) : [known]
  if (places === 'too-many') {
    yield { key: 'places', find: () => ({ kind: 'undecided', section: 'read' }) }
    return
  }
  for (const [number, place] of places.entries()) {
    if (difference !== 'unknown' && difference.every(isFound)) return
    yield* fileChecks(...(number === 0 ? first : at(place)), place, soleOf(difference))
  }
}

/** The only grant, or the carve-outs, if nothing else differs. */
const soleOf = (difference: readonly string[] | 'unknown'): string | undefined => {
  const [only, ...others] = difference === 'unknown' ? [] : difference
  return only === undefined || others.length > 0 || only.startsWith('exec') ? undefined : only
}

const checksAnywhere = (a: Effective, b: Effective): readonly Check[] => [
  { key: 'confinement', find: () => confinementBeyond(a.kind, b.kind) },
  ...LIMIT_NAMES.map((name) => ({ key: `limit ${name}`, find: () => limitBeyond(name, a.limits, boundsOf(a, b)) })),
  ...b.boundary.require.map((mechanism) => ({
    key: `require ${mechanism}`,
    find: (): Witness | undefined =>
      a.boundary.require.includes(mechanism) ? undefined : { kind: 'require', mechanism },
  })),
  ...a.boundary.credentials.map((credential) => ({
    key: `credential ${credential.id}`,
    find: () =>
      requestWitness(credentialBeyond(credential, a.boundary, b.boundary), (request) => ({
        kind: 'credential',
        id: credential.id,
        request,
      })),
  })),
  ...variableChecks(a, b),
  networkCheck(a.boundary, b.boundary),
]

/** An own cell confines more than one of a server, whose tools share it. */
const LOOSENESS = (kind: ToolKind): number =>
  TOOL_KINDS[kind].runs === 'in-process' ? 2 : TOOL_KINDS[kind].startsProcess ? 0 : 1

const confinementBeyond = (tool: ToolKind, bound: ToolKind): Witness | undefined =>
  LOOSENESS(tool) > LOOSENESS(bound) ? { kind: 'confinement', tool, bound } : undefined

/**
 * The default of `output` depends on who runs the tool. So an omitted one is the smallest default in the bound, and no
 * limit in the tool, unless both omit it.
 */
const boundsOf = (a: Effective, b: Effective): Limits =>
  a.limits.output !== undefined && b.limits.output === undefined && TOOL_KINDS[b.kind].startsProcess
    ? { ...b.limits, output: DEFAULT_OUTPUT_BYTES }
    : b.limits

const limitBeyond = (limit: keyof Limits, a: Limits, b: Limits): Witness | undefined => {
  const [value = 'unlimited', bound] = [a[limit], b[limit]]
  return bound === undefined || (value !== 'unlimited' && value <= bound)
    ? undefined
    : { kind: 'limit', limit, value, bound }
}

/** A passed and a set variable differ: neither is within the other. */
const variableChecks = (a: Effective, b: Effective): readonly Check[] => {
  if (b.environment === 'any') return []
  const texts = new Set(b.environment.map(variableText))
  if (a.environment !== 'any')
    return a.environment.map((entry) => ({
      key: `environment ${entry.name}`,
      find: () => (texts.has(variableText(entry)) ? undefined : { kind: 'environment', entry }),
    }))
  const names = b.environment.map((entry) => entry.name)
  let name = 'SECRET'
  while (names.includes(name)) name += '_X'
  return [{ key: 'environment', find: () => ({ kind: 'environment', entry: { name, value: { kind: 'pass' } } }) }]
}

const requestWitness = (
  found: RequestFound,
  witnessOf: (request: RequestWitness) => Witness = (request) => ({ kind: 'network', request }),
): Witness | undefined => {
  if (found === 'undecided') return { kind: 'undecided', section: 'network' }
  return found === undefined ? undefined : witnessOf(found)
}

const networkCheck = (a: Boundary, b: Boundary): Check => {
  const denials = entriesOf(a).filter(({ action }) => action === 'deny')
  const grants = entriesOf(a)
    .filter(({ action }) => action !== 'deny')
    .map((entry) => ({
      key: `network ${hostText(entry)}`,
      scope: { network: { kind: 'hosts', entries: [entry, ...denials] }, egressClass: a.egressClass } as const,
    }))
    .filter(({ scope }) => !isPlainlyWithin(scope, b))
  return {
    key: 'network',
    isSole: grants.length === 1,
    arePartsNew: true,
    find: () => requestWitness(networkBeyond(a, b)),
    parts: () => grants.map(({ key, scope }) => ({ key, find: () => requestWitness(networkBeyond(scope, b)) })),
  }
}

const fileChecks = (a: Effective, b: Effective, place: TriedPlaces, sole: string | undefined): readonly Check[] => {
  const seenFrom = (witness: Witness | undefined): Witness | undefined => {
    if (witness?.kind === 'exec' && witness.program.startsWith('/'))
      return { kind: 'exec', program: pathIn(place, witness.program).path }
    return witness?.kind === 'file' ? { ...witness, ...pathIn(place, witness.path) } : witness
  }
  const check = (key: string, find: () => Witness | undefined): Check => ({ key, find: () => seenFrom(find()) })
  const whole = (
    access: 'read' | 'write',
    all: FileGrants,
    bound: FileGrants,
    find: (grants: FileGrants) => Witness | undefined,
  ): Check => ({
    ...check(sole ?? access, () => find(all)),
    isSole: sole !== undefined,
    parts: () => apart(all, bound).map(({ key, grants }) => check(key, () => find(grants))),
  })
  return [
    ...execChecks(a, b).map(({ key, find }) => check(key, find)),
    // Writing implies reading, so one witness suffices for a grant of both.
    whole('write', a.writing, b.writing, (grants) => writeBeyond({ ...a.writing, ...grants }, b.writing)),
    whole('read', a.reading, b.reading, (grants) => readBeyond(grants, b.reading)),
  ]
}

/** Each grant that only `a` has by itself, and the others together. All of them with all carve-outs. */
const apart = (a: FileGrants, b: FileGrants): readonly { readonly key: string; readonly grants: FileGrants }[] => {
  const [ofA, ofB] = [[...a.write, ...a.read, ...a.presetRead], new Set([...b.read, ...b.write, ...b.presetRead])]
  // Most patterns of presets are the same objects on both sides.
  const others = ofA.filter((each) => !each.negated && !ofB.has(each))
  const known = new Set(others.length === 0 ? [] : Array.from(ofB, patternText))
  const added = new Set(others.filter((each) => !known.has(patternText(each))))
  const keep = (isKept: (grant: PathPattern) => boolean): FileGrants => {
    const kept = (patterns: readonly PathPattern[]) => patterns.filter((each) => each.negated || isKept(each))
    return { read: kept(a.read), write: kept(a.write), presetRead: kept(a.presetRead) }
  }
  return [
    ...Array.from(added, (grant) => ({ key: `grant ${grant.text}`, grants: keep((each) => each === grant) })),
    { key: 'carve-outs', grants: keep((each) => !added.has(each)) },
  ]
}

/** Programs that `a` can start and `b` cannot. With `exec: all`, `b` can start each program that it can read. */
const execChecks = (a: Effective, b: Effective): readonly Check[] => {
  const [ofA, ofB] = [a.boundary.exec, b.boundary.exec]
  if (ofA.kind === 'none' || ofB.kind === 'all') return []
  const listed = ofB.kind === 'list' ? ofB.programs : []
  if (ofA.kind === 'all') return [{ key: 'exec', find: () => readableBeyond(a, listed) }]
  // A program that is listed and carved out is refused when the policy is used.
  const isCarvedOut = (name: string) => name.startsWith('/') && !isReadable(a.reading, name as AbsolutePath)
  return ofA.programs.flatMap((program, at) =>
    listed.includes(program) || isCarvedOut(program)
      ? []
      : [{ key: `exec ${String(at)}`, find: () => ({ kind: 'exec', program }) }],
  )
}

const SOME_PROGRAMS = ['/usr/bin/env', '/usr/bin/sh', '/usr/bin/true'].map((text) => parseAbsolutePath(text))

/** With `exec: all`, any readable file may be a program. */
const readableBeyond = ({ reading }: Effective, listed: readonly string[]): Witness | undefined => {
  const usual = SOME_PROGRAMS.find((program) => isReadable(reading, program) && !listed.includes(program))
  if (usual !== undefined) return { kind: 'exec', program: usual }
  const known = listed.filter((name) => name.startsWith('/')).map((path) => exactPattern(path as AbsolutePath))
  const found = readBeyond(reading, { read: known, write: [], presetRead: [] })
  return found?.kind === 'file' ? { kind: 'exec', program: found.path } : found
}

/** A request that carries the credential in `a`, and in `b` does not carry it in the same way. */
const credentialBeyond = (credential: Credential, a: Boundary, b: Boundary): RequestFound =>
  requestBeyond(
    { scopes: [a, credential.scope], hosts: credential.hosts },
    b.credentials
      .filter(({ id, inject }) => id === credential.id && coversInjection(inject, credential.inject))
      // Whether `b` allows the request at all is compared with the network.
      .map(({ scope, hosts }) => ({ scopes: [scope], hosts })),
    HTTP_ONLY,
  )

const coversInjection = (outer: Injection, inner: Injection): boolean => {
  switch (inner.kind) {
    case 'header':
      return (
        outer.kind === inner.kind &&
        outer.name.toLowerCase() === inner.name.toLowerCase() &&
        outer.format === inner.format
      )
    case 'basic':
      return outer.kind === inner.kind && outer.user === inner.user
    case 'query':
      return outer.kind === inner.kind && outer.parameter === inner.parameter
    case 'placeholder':
    case 'client-certificate':
      return outer.kind === inner.kind
    case 'aws-sigv4':
      return (
        outer.kind === inner.kind && coversWord(outer.service, inner.service) && coversWord(outer.region, inner.region)
      )
  }
}

/** An omitted service or region is the tool's own choice. */
const coversWord = (outer: string | undefined, inner: string | undefined): boolean =>
  outer === undefined || outer === inner
