import { isBuiltin } from 'node:module'
import { fileURLToPath } from 'node:url'
import { runInNewContext } from 'node:vm'

import { parse } from 'acorn'
import type { AnyNode, Expression, FunctionExpression, MethodDefinition, Property } from 'acorn'

import { fail } from '../../errors/index.js'

import { REQUIRING, SUPPLIED, adviceForNames } from './compiled-names.js'
import { childrenOf, freeVariables } from './free-variables.js'
import { realFile } from './module-files.js'
import type { ToolDefinition } from './tools.js'

// The global names of every Node process. A fresh context has none that the host program added. `require` and its kin
// exist in modules only.
const OF_THE_LANGUAGE = runInNewContext('Object.getOwnPropertyNames(globalThis)') as readonly string[]
const OF_NODE = [
  ...['process', 'Buffer', 'console', 'global', 'performance', 'structuredClone', 'queueMicrotask'],
  ...['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'clearImmediate'],
  ...['crypto', 'Crypto', 'CryptoKey', 'SubtleCrypto', 'WebAssembly', 'Blob', 'atob', 'btoa', 'DOMException'],
  ...['fetch', 'Headers', 'Request', 'Response', 'FormData', 'URL', 'URLSearchParams'],
  ...['TextEncoder', 'TextDecoder', 'TextEncoderStream', 'TextDecoderStream'],
  ...['AbortController', 'AbortSignal', 'Event', 'EventTarget'],
  ...['MessageChannel', 'MessagePort', 'MessageEvent', 'BroadcastChannel'],
  ...['ReadableStream', 'WritableStream', 'TransformStream', 'CompressionStream', 'DecompressionStream'],
  ...['ByteLengthQueuingStrategy', 'CountQueuingStrategy'],
]
const EVERYWHERE: ReadonlySet<string> = new Set([...OF_THE_LANGUAGE, ...OF_NODE])

/**
 * The source of a function that runs in a cell, as an expression, with the helpers of compilers that it uses. It is
 * both hashed and sent. Throws if the function needs more than its arguments.
 */
export const selfContainedSource = (tool: string, run: AnyFunction): string => {
  const { text, source, program, outside } = examined(tool, run)
  const supplied = outside.filter((name) => isSupplied(name, program))
  refuse(
    tool,
    text,
    outside.filter((name) => !supplied.includes(name)),
  )
  if (supplied.length === 0) return source
  return `((${supplied.join(', ')}) => (${source}))(${supplied.map((name) => SUPPLIED.get(name)).join(', ')})`
}

/** The source of a function that runs in this process. Nothing is supplied here, so its file could give any helper. */
export const sourceOnHost = (tool: string, run: AnyFunction): string => {
  const { text, source, outside } = examined(tool, run)
  refuse(tool, text, outside)
  return source
}

type AnyFunction = (...args: never) => unknown

const examined = (tool: string, run: AnyFunction) => {
  const text = Function.prototype.toString.call(run)
  const source = asExpression(text)
  if (source === undefined) throw fail('function-not-portable', { tool, ...withoutSource(text, run.name) })
  const program = parse(`(${source})`, PARSING)
  return { text, source, program, outside: [...freeVariables(program)].filter((name) => !EVERYWHERE.has(name)) }
}

const refuse = (tool: string, text: string, names: readonly string[]): void => {
  if (names.length === 0) return
  throw fail('function-not-portable', {
    tool,
    problem: `it uses ${names.map((name) => `"${name}"`).join(', ')} from outside of itself`,
    fix: adviceForNames(names, text),
  })
}

const withoutSource = (text: string, name: string): { readonly problem: string; readonly fix: string } => {
  // A class may have any value as its name.
  if (/^bound /.test(name))
    return {
      problem: 'bind() made it, so its source is not available',
      fix: 'give the function itself, without bind()',
    }
  return text.endsWith('{ [native code] }')
    ? { problem: 'it is built in, so its source is not available', fix: 'call it: run: (input) => …' }
    : { problem: 'it is a class, or part of one', fix: 'give a function: run: (input) => …' }
}

const isSupplied = (name: string, program: AnyNode): boolean =>
  SUPPLIED.has(name) && (!REQUIRING.has(name) || ('getBuiltinModule' in process && requiresBuiltins(program, name)))

/** Whether each `require` is a call with the literal name of a module of Node. */
const requiresBuiltins = (node: AnyNode, name: string): boolean => {
  if (node.type === 'Identifier') return node.name !== name
  if (node.type !== 'CallExpression' || node.callee.type !== 'Identifier' || node.callee.name !== name)
    return childrenOf(node).every((child) => requiresBuiltins(child, name))
  const [first, ...others] = node.arguments
  return first?.type === 'Literal' && typeof first.value === 'string' && isBuiltin(first.value) && others.length === 0
}

/** Refuses a tool that could never run when it is declared, not at its first call. */
export const requirePortable = (tool: ToolDefinition): void => {
  if (tool.kind !== 'function') return
  if (tool.from.kind === 'function') selfContainedSource(tool.name, tool.from.run)
  else if (tool.from.kind === 'module') realFile(tool.name, pathOf(tool.from.path))
}

export const pathOf = (module: string | URL): string =>
  typeof module === 'string' && !module.startsWith('file:') ? module : fileURLToPath(module)

// import.meta is parsed, so that the error can name it.
const PARSING = { ecmaVersion: 'latest', sourceType: 'script', allowImportExportEverywhere: true } as const

/** A method (`run(input) { … }`) is not an expression, but an object with it is. */
export const asExpression = (text: string): string | undefined => {
  const whole = expressionIn(text)
  if (whole !== undefined) return isFunction(whole) ? text : undefined
  const method = methodIn(text)
  if (method === undefined) return undefined
  const { key, value, computed, kind } = method
  if (kind === 'init' && !computed && key.type === 'Identifier') return `({ ${text} })[${JSON.stringify(key.name)}]`
  // Its name may be computed outside of it, or private to a class. Both texts end where it ends.
  const body = text.slice(value.start - value.end)
  const made = `({ ${value.async ? 'async ' : ''}${value.generator ? '*' : ''}run${body} }).run`
  return expressionIn(made) === undefined ? undefined : made
}

const isFunction = ({ type }: Expression): boolean =>
  type === 'FunctionExpression' || type === 'ArrowFunctionExpression'

type Method = (Property | MethodDefinition) & { readonly value: FunctionExpression }

const methodIn = (text: string): Method | undefined => {
  const [member, ...others] = membersIn(expressionIn(`{ ${text} }`) ?? expressionIn(`class { ${text} }`))
  if (others.length > 0 || (member?.type !== 'Property' && member?.type !== 'MethodDefinition')) return undefined
  return member.value.type === 'FunctionExpression' ? (member as Method) : undefined
}

const membersIn = (expression: Expression | undefined): readonly AnyNode[] => {
  if (expression?.type === 'ClassExpression') return expression.body.body
  return expression?.type === 'ObjectExpression' ? expression.properties : []
}

/** Undefined unless the text is one expression. */
const expressionIn = (text: string): Expression | undefined => {
  try {
    const [first, ...others] = parse(`(${text})`, PARSING).body
    return first?.type === 'ExpressionStatement' && others.length === 0 ? first.expression : undefined
  } catch {
    return undefined
  }
}
