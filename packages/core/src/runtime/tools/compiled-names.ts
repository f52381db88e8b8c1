// Names that compilers and bundlers put into a function. They exist in the file around it, and not in its cell.
import { IMPORT_ADVICE } from '../../errors/index.js'

const NAMESPACE = '(m) => Object.create(m, { default: { value: m, enumerable: true } })'
const BUILTIN = '(name) => process.getBuiltinModule(name)'

/** Calls of these may be supplied if their argument is the literal name of a module of Node. */
export const REQUIRING: ReadonlySet<string> = new Set(['require', '__require'])

/** Pure helpers. A function that uses one is sent together with it. */
export const SUPPLIED: ReadonlyMap<string, string> = new Map([
  // esbuild and tsx, for the names of inner functions and classes
  ['__name', '(target, value) => Object.defineProperty(target, "name", { value, configurable: true })'],
  // vite and vitest. With a space, because scripts/bundle.mjs replaces "import(" in the bundle, also in texts.
  ['__vite_ssr_dynamic_import__', '(name) => import (name)'],
  // Cordon's own bundle (scripts/bundle.mjs), in which a function tool may be, such as those of the demo
  ['importModule', '(name) => import (name)'],
  // What import() becomes in CommonJS: typescript, swc, babel, esbuild
  ['__importStar', NAMESPACE],
  ['_interop_require_wildcard', NAMESPACE],
  ['_interopRequireWildcard', NAMESPACE],
  ['__toESM', NAMESPACE],
  ...[...REQUIRING].map((name) => [name, BUILTIN] as const),
])

/** Helpers of swc and babel for parts of the language that Node has. In lower case and without "_". */
const OF_OLD_TARGETS: ReadonlySet<string> = new Set(
  (
    'asynctogenerator awaitasyncgenerator wrapasyncgenerator asynciterator asyncgeneratordelegate ' +
    'objectspread objectspread2 objectspreadprops objectwithoutproperties objectdestructuringempty extends ' +
    'classcallcheck createclass defineproperty inherits callsuper createsuper wrapnativesuper assertthisinitialized ' +
    'classprivatefieldget classprivatefieldset classprivatefieldinit classprivatefieldinitspec ' +
    'classprivatefieldget2 classprivatefieldset2 classprivatefieldloosebase classprivatemethodget ' +
    'classprivatemethodinit classprivatemethodinitspec assertclassbrand possibleconstructorreturn getprototypeof ' +
    'toconsumablearray toarray slicedtoarray createforofiteratorhelper createforofiteratorhelperloose typeof ' +
    'tsgenerator tsdecorate tsmetadata tsparam tsvalues regenerator regeneratorruntime taggedtemplateliteral ' +
    'usingctx applydecs2203r applydecs2311'
  ).split(' '),
)

const NEWER_TARGET =
  'compile for Node 20 or newer: "target": "es2022" in tsconfig.json and for swc, --target=node20 for esbuild, ' +
  'targets: { node: 20 } for babel'

const UNBUNDLED =
  "keep its imports out of the bundle (import(/* webpackIgnore: true */ /* turbopackIgnore: true */ 'node:fs')), or " +
  "keep the function in a file that is not bundled: module: '/srv/app/tool.mjs', export: 'f'"

const AS_INPUT = 'pass what it needs as input'
const OTHERWISE = `${AS_INPUT}; ${IMPORT_ADVICE}`

/** What to change so that a function does without the name. */
const adviceFor = (name: string, source: string): string => {
  if (/^(?:this|super|import\.meta|__vite_ssr_import_meta__|__dirname|__filename)$/.test(name)) return AS_INPUT
  if (REQUIRING.has(name)) return IMPORT_ADVICE
  if (/webpack|turbopack/i.test(name)) return UNBUNDLED
  // Minified: it may be anything.
  if (name.length === 1) return `${OTHERWISE}; if a bundler renamed it, minify without keepNames, ${UNBUNDLED}`
  if (/^_{0,2}cov_/.test(name))
    return 'leave its file out of the coverage, or write /* istanbul ignore next */ before it'
  if (/^__vi(?:te_ssr)?_import_/.test(name)) return OTHERWISE
  const isOfCompiler = name.startsWith('__') || OF_OLD_TARGETS.has(name.replaceAll('_', '').toLowerCase())
  // Babel moves the body of an async function out of it.
  return isOfCompiler || name.startsWith('tslib') || source.includes(`${name}.apply(this, arguments)`)
    ? NEWER_TARGET
    : OTHERWISE
}

export const adviceForNames = (names: readonly string[], source: string): string =>
  [...new Set(names.map((name) => adviceFor(name, source)))].join('; ')
