// What a call of something outside of the project does, by its origin and its arguments.
import { isBuiltin } from 'node:module'

import ts from 'typescript'

import { bare } from './declarations.js'
import { effectsOf, globalEffects, isHarmless } from './node-effects.js'
import type { Effect } from './node-effects.js'
import type { Origin } from './origin.js'
import { isShell, programsIn } from './shell-programs.js'
import { UNKNOWN, whole } from './use.js'
import type { Deed, Text } from './use.js'
import type { Values } from './values.js'

/** A call with these arguments. */
export const deedsOf = (origin: Origin, given: readonly ts.Expression[], values: Values): readonly Deed[] => {
  switch (origin.kind) {
    case 'computed':
      return [{ kind: 'opaque', because: origin.because }]
    case 'package':
      return isBuiltin(origin.name) ? [] : mentionedDeeds(origin)
    case 'module':
      // The module itself is a class: `new Module()`.
      if (origin.module === 'module' && origin.path.length === 0)
        return [{ kind: 'opaque', because: 'it loads modules by computed names' }]
      return effectsOf(origin.module, origin.path).flatMap((effect) => deedsOfEffect(effect, given, values))
    case 'global':
      if (origin.path[0] === 'process' && origin.path[1] === 'env') return mentionedDeeds(origin)
      return globalEffects(origin.path).flatMap((each) => deedsOfEffect(each, given, values))
  }
}

/** The thing itself is passed on, so it may be called with anything. */
export const mentionedDeeds = (origin: Origin): readonly Deed[] => {
  switch (origin.kind) {
    case 'computed':
      return [{ kind: 'opaque', because: origin.because }]
    case 'package':
      return [{ kind: 'package', name: origin.name, specifier: origin.specifier }]
    case 'module':
      if (origin.path.length === 0 || (origin.path.length === 1 && origin.path[0] === 'promises'))
        return isHarmless(origin.module)
          ? []
          : [{ kind: 'opaque', because: `the module ${origin.module} is used as a value` }]
      return effectsOf(origin.module, origin.path).map(deedOfMention)
    case 'global': {
      const [name, member, variable] = origin.path
      if (name === undefined) return [{ kind: 'opaque', because: 'the global object is used as a value' }]
      if (name === 'require') return [{ kind: 'opaque', because: 'require is used as a value' }]
      if (name === 'process' && member === undefined) return [{ kind: 'opaque', because: 'process is used as a value' }]
      if (name === 'process' && member === 'env')
        return [{ kind: 'environment', name: variable === undefined || variable === '*' ? UNKNOWN : whole(variable) }]
      return globalEffects(origin.path).map(deedOfMention)
    }
  }
}

const deedOfMention = (effect: Effect): Deed => {
  switch (effect.kind) {
    case 'read':
    case 'write':
      return { kind: effect.kind, path: UNKNOWN }
    case 'open':
      return { kind: 'write', path: UNKNOWN }
    case 'exec':
    case 'shell':
      return { kind: 'exec', program: UNKNOWN }
    case 'request':
      return { kind: 'network', target: { kind: 'url', url: UNKNOWN, method: UNKNOWN } }
    case 'connect':
    case 'anywhere':
    case 'lookup':
      return { kind: 'network', target: { kind: 'stream', host: UNKNOWN, port: UNKNOWN } }
    case 'opaque':
      return { kind: 'opaque', because: effect.because }
  }
}

const deedsOfEffect = (effect: Effect, given: readonly ts.Expression[], values: Values): readonly Deed[] => {
  const textsAt = (at: number): readonly Text[] => {
    const argument = given[at]
    return argument === undefined || ts.isSpreadElement(argument) ? [UNKNOWN] : values.texts(argument)
  }
  switch (effect.kind) {
    case 'read':
    case 'write':
      if (isNoFile(given[effect.argument], values)) return []
      return textsAt(effect.argument).map((text) => ({ kind: effect.kind, path: asPath(text) }))
    case 'open': {
      const flags = given[effect.flags]
      const kind = flags === undefined || /\bO_RDONLY$/.test(flags.getText()) ? 'read' : accessOf(textsAt(effect.flags))
      return textsAt(effect.path).map((text) => ({ kind, path: asPath(text) }))
    }
    case 'exec':
      return isShelled(given, values)
        ? textsAt(0).flatMap((text) => [{ kind: 'exec', program: whole('sh') }, ...programsIn(text)] as const)
        : [...textsAt(0).map((program): Deed => ({ kind: 'exec', program })), ...shellWords(given, values)]
    case 'shell':
      return textsAt(0).flatMap((text) => [{ kind: 'exec', program: whole('sh') }, ...programsIn(text)] as const)
    case 'request':
      return requests(effect.scheme, given, values)
    case 'anywhere':
      return [deedOfMention(effect)]
    case 'connect':
      return connections(given, values)
    case 'lookup':
      return textsAt(effect.argument).map((host): Deed => ({
        kind: 'network',
        target: { kind: 'stream', host, port: UNKNOWN },
      }))
    case 'opaque':
      return [{ kind: 'opaque', because: effect.because }]
  }
}

/** An open file, which was opened before, or a database in memory. */
const isNoFile = (expression: ts.Expression | undefined, values: Values): boolean =>
  expression !== undefined && (ts.isNumericLiteral(expression) || values.constant(expression) === ':memory:')

/** URLs of files are paths. */
const asPath = (text: Text): Text => {
  if (text.kind === 'unknown' || !text.text.startsWith('file://')) return text
  return { ...text, text: decodeURIComponent(text.text.slice('file://'.length)) }
}

const accessOf = (flags: readonly Text[]): 'read' | 'write' =>
  flags.every((text) => text.kind === 'whole' && /^(?:rs?|0)$/.test(text.text)) ? 'read' : 'write'

/** `{ shell: true }` gives the words to a shell. */
const isShelled = (given: readonly ts.Expression[], values: Values): boolean => {
  const option = given.map((each) => values.property(each, 'shell')).find((each) => each !== undefined)
  return option !== undefined && option.kind !== ts.SyntaxKind.FalseKeyword
}

/** `spawn('sh', ['-c', line])` */
const shellWords = ([program, words]: readonly ts.Expression[], values: Values): readonly Deed[] => {
  if (
    program === undefined ||
    !isShell(values.constant(program)) ||
    words === undefined ||
    !ts.isArrayLiteralExpression(bare(words))
  )
    return []
  return shellLines(bare(words) as ts.ArrayLiteralExpression, values).flatMap(programsIn)
}

/** The line after `-c`. */
export const shellLines = ({ elements }: ts.ArrayLiteralExpression, values: Values): readonly Text[] => {
  const at = elements.findIndex((each) => /^-\w*c$/.test(values.constant(each) ?? ''))
  const line = at === -1 ? undefined : elements[at + 1]
  return line === undefined ? [] : values.texts(line)
}

const propertyTexts = (given: ts.Expression | undefined, name: string, values: Values): readonly Text[] | undefined => {
  const found = given === undefined ? undefined : values.property(given, name)
  return found === undefined ? undefined : values.texts(found)
}

const isObject = (expression: ts.Expression, values: Values): boolean =>
  ['host', 'hostname', 'path', 'port', 'method'].some((name) => values.property(expression, name) !== undefined)

/** `fetch(url, options)`, `http.request(url?, options?)`. */
const requests = (
  scheme: 'http' | 'https' | 'any',
  given: readonly ts.Expression[],
  values: Values,
): readonly Deed[] => {
  const [first, second] = given
  if (first === undefined) return [deedOfMention({ kind: 'request', scheme })]
  const inner = bare(first)
  if (ts.isNewExpression(inner) && ts.isIdentifier(inner.expression) && inner.expression.text === 'Request')
    return requests(scheme, [...(inner.arguments ?? [])], values)
  const options = isObject(first, values) ? first : second
  const methods = propertyTexts(options, 'method', values) ?? [whole('GET')]
  const isMoved =
    second !== undefined && ['host', 'hostname'].some((name) => values.property(second, name) !== undefined)
  const urls = [
    ...(isObject(first, values) ? urlsOfOptions(scheme, first, values) : values.texts(first)),
    // Options count before the address.
    ...(isMoved ? urlsOfOptions(scheme, second, values) : []),
  ]
  // Options that are not written out may name any method.
  const known =
    options === undefined ||
    options === first ||
    ts.isObjectLiteralExpression(bare(options)) ||
    values.property(options, 'method') !== undefined ||
    ts.isFunctionLike(options)
  return urls.flatMap((url) =>
    (known ? methods : [UNKNOWN]).map((method): Deed => ({ kind: 'network', target: { kind: 'url', url, method } })),
  )
}

const urlsOfOptions = (scheme: string, options: ts.Expression, values: Values): readonly Text[] => {
  const hosts = propertyTexts(options, 'hostname', values) ??
    propertyTexts(options, 'host', values) ?? [whole('localhost')]
  const ports = propertyTexts(options, 'port', values) ?? [whole('')]
  const paths = propertyTexts(options, 'path', values) ?? [whole('/')]
  return hosts.flatMap((host) =>
    ports.flatMap((port) =>
      paths.map((path): Text => {
        if (host.kind !== 'whole' || port.kind !== 'whole') return UNKNOWN
        const origin = `${scheme === 'any' ? 'https' : scheme}://${host.text}${port.text === '' ? '' : `:${port.text}`}`
        return path.kind === 'unknown' ? { kind: 'start', text: `${origin}/` } : { ...path, text: origin + path.text }
      }),
    ),
  )
}

/** `connect(port, host)`, `connect({ host, port })`. */
const connections = (given: readonly ts.Expression[], values: Values): readonly Deed[] => {
  const [first, second] = given
  if (first === undefined) return [deedOfMention({ kind: 'connect' })]
  const named = isObject(first, values)
  if (values.property(first, 'path') !== undefined && !named) return []
  const hosts = named
    ? (propertyTexts(first, 'host', values) ?? [whole('localhost')])
    : second === undefined || ts.isFunctionLike(second)
      ? [whole('localhost')]
      : values.texts(second)
  const ports = named ? (propertyTexts(first, 'port', values) ?? [UNKNOWN]) : values.texts(first)
  return hosts.flatMap((host) =>
    ports.map((port): Deed => ({ kind: 'network', target: { kind: 'stream', host, port } })),
  )
}
