import { fileURLToPath } from 'node:url'
import { runInNewContext } from 'node:vm'

import { parse } from 'acorn'

import { fail } from '../../errors/index.js'

import { freeVariables } from './free-variables.js'
import { realFile } from './module-files.js'
import type { ToolDefinition } from './tools.js'

// What a function finds in every Node process. Asked of a fresh context and not of this one, which has
// whatever the host program put there; `require` and its kin are of modules, and it is in none.
const OF_THE_LANGUAGE = runInNewContext('Object.getOwnPropertyNames(globalThis)') as readonly string[]
const OF_NODE = [
  'process',
  'Buffer',
  'console',
  'global',
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'setImmediate',
  'clearImmediate',
  'queueMicrotask',
  'structuredClone',
  'performance',
  'crypto',
  'Crypto',
  'CryptoKey',
  'SubtleCrypto',
  'fetch',
  'Headers',
  'Request',
  'Response',
  'FormData',
  'URL',
  'URLSearchParams',
  'TextEncoder',
  'TextDecoder',
  'TextEncoderStream',
  'TextDecoderStream',
  'AbortController',
  'AbortSignal',
  'Event',
  'EventTarget',
  'Blob',
  'atob',
  'btoa',
  'DOMException',
  'MessageChannel',
  'MessagePort',
  'MessageEvent',
  'BroadcastChannel',
  'WebAssembly',
  'ReadableStream',
  'WritableStream',
  'TransformStream',
  'CompressionStream',
  'DecompressionStream',
  'ByteLengthQueuingStrategy',
  'CountQueuingStrategy',
]
const EVERYWHERE: ReadonlySet<string> = new Set([...OF_THE_LANGUAGE, ...OF_NODE])

/** The source of a function that needs nothing but its arguments, as an expression; refused when it needs more. */
export const selfContainedSource = (tool: string, run: (...args: never) => unknown): string => {
  const source = asExpression(Function.prototype.toString.call(run))
  if (source === undefined)
    throw fail('function-not-portable', {
      tool,
      problem: 'its source is not available (a bound or native function, or a class)',
    })
  const outside = [...freeVariables(parse(`(${source})`, PARSING))].filter((name) => !EVERYWHERE.has(name))
  if (outside.length > 0)
    throw fail('function-not-portable', {
      tool,
      problem: `it uses ${outside.map((name) => `"${name}"`).join(', ')} from outside of itself`,
    })
  return source
}

/** Refuses what could never run when it is declared, and not when a model first calls it. */
export const requirePortable = (tool: ToolDefinition): void => {
  if (tool.kind !== 'function') return
  if (tool.from.kind === 'function') selfContainedSource(tool.name, tool.from.run)
  else realFile(tool.name, pathOf(tool.from.path))
}

export const pathOf = (module: string | URL): string =>
  typeof module === 'string' && !module.startsWith('file:') ? module : fileURLToPath(module)

const PARSING = { ecmaVersion: 'latest', sourceType: 'script', allowAwaitOutsideFunction: false } as const

/** A method (`run(input) { … }`) is no expression by itself, but the value of an object's property is. */
const asExpression = (text: string): string | undefined => {
  if (text.endsWith('{ [native code] }') || /^class\b/.test(text)) return undefined
  if (parses(`(${text})`)) return text
  const method = /^(?<modifiers>(?:async\s*)?\*?\s*)(?<name>[\w$]+)\s*\(/.exec(text)
  const asProperty = `{ ${text} }`
  if (method?.groups?.['name'] === undefined || !parses(`(${asProperty})`)) return undefined
  return `(${asProperty})[${JSON.stringify(method.groups['name'])}]`
}

const parses = (text: string): boolean => {
  try {
    parse(text, PARSING)
    return true
  } catch {
    return false
  }
}
