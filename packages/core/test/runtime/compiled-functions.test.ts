// Function tools as compilers and bundlers leave them. The compilers of this repository compile here. The texts of the
// others were taken from their output.
import { transformSync } from 'esbuild'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { moduleRunnerTransform } from 'vite'

import { toolHash } from '../../../team/src/tools/tool-hash.js'
import { processTool, tool } from '../../src/runtime/index.js'
import type { Cordon, CordonOptions } from '../../src/runtime/index.js'
import { selfContainedSource } from '../../src/runtime/tools/function-source.js'

import { asWritten, openStage } from './stage.js'

type AnyFunction = (...args: readonly unknown[]) => unknown
type Functions = Readonly<Record<string, AnyFunction>>

const WRITTEN = `
const KEY = 'computed'
export const made = {
  inner: ({ n }: { n: number }) => {
    const double = (x: number): number => x * 2
    function triple(x: number): number { return x * 3 }
    class Counter {
      #n = 0
      static made = 0
      readonly label: string = 'c'
      get value(): number { return this.#n }
      add(x: number) { this.#n += x; return this }
    }
    return [new Counter().add(double(n)).add(triple(n)).value, double.name, triple.name, Counter.name]
  },
  joined: async ({ n }: { n: number }) => {
    const { join } = await import('node:path')
    return [join('a', String(n)), typeof (await import('node:fs')).default.readFileSync]
  },
  spread: ({ n, ...rest }: { n: number; [key: string]: unknown }) => ({ ...rest, m: n ?? 0, list: [...[n]] }),
  defaults: ({ n = 1, list: [first] = [2] }: { n?: number; list?: number[] } = {}) => n + first!,
  async later({ n }: { n: number }) { await null; return n + 1 },
  async *streaming({ n }: { n: number }) { for await (const x of [n]) yield x; return n + 1 },
  [KEY]({ n }: { n: number }) { return n + 1 },
  'quoted name'({ n }: { n: number }) { return n + 1 },
}
`

const EXPECTED: Readonly<Record<string, unknown>> = {
  'inner': [10, 'double', 'triple', 'Counter'],
  'joined': ['a/2', 'function'],
  'spread': { m: 2, list: [2] },
  'defaults': 4,
  'later': 3,
  'streaming': 3,
  'computed': 3,
  'quoted name': 3,
}

/** The functions of a compiled file, with the names that its runner gives it. */
const functionsIn = (code: string, given: Readonly<Record<string, unknown>> = {}): Functions => {
  const names = ['exports', 'module', 'require', ...Object.keys(given)]
  const module = { exports: {} as { made?: Functions } }
  const evaluated = (0, eval)(
    `(function (${names.join(', ')}) { ${code}\n; return typeof made === 'object' ? made : undefined })`,
  ) as AnyFunction
  const made = evaluated(module.exports, module, () => ({}), ...Object.values(given))
  return (made as Functions | undefined) ?? module.exports.made ?? {}
}

const byTypescript = (options: ts.CompilerOptions): string =>
  ts.transpileModule(WRITTEN, { compilerOptions: options }).outputText

const COMPILED: readonly (readonly [string, () => Functions | Promise<Functions>])[] = [
  [
    'esbuild, with the names of functions kept, as tsx does',
    () => functionsIn(transformSync(WRITTEN, { loader: 'ts', keepNames: true, format: 'cjs', target: 'node20' }).code),
  ],
  [
    'esbuild, minified except names',
    () =>
      functionsIn(
        transformSync(WRITTEN, {
          loader: 'ts',
          keepNames: true,
          format: 'cjs',
          minifySyntax: true,
          minifyWhitespace: true,
        }).code,
      ),
  ],
  [
    'typescript, as modules',
    () =>
      functionsIn(
        byTypescript({ target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ES2022 }).replace('export const', 'const'),
      ),
  ],
  [
    'typescript, as CommonJS, as ts-node does',
    () =>
      functionsIn(
        byTypescript({ target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.CommonJS, esModuleInterop: true }),
      ),
  ],
  [
    'vite, as vitest does',
    async () => {
      const code =
        (await moduleRunnerTransform(transformSync(WRITTEN, { loader: 'ts' }).code, null, 'a.js', WRITTEN))?.code ?? ''
      return functionsIn(code, {
        __vite_ssr_exportName__: () => undefined,
        __vite_ssr_dynamic_import__: () => undefined,
      })
    },
  ],
]

const stage = openStage()

describe.each(COMPILED)('compiled by %s', (_name, compile) => {
  test('a function does in its cell what was written', async () => {
    const functions = Object.entries(await compile())
    const cordon = await stage.cordon({
      tools: functions.map(([name, run]) => tool({ name: name.replace(' ', '_'), run })),
    })
    const found = await Promise.all(
      functions.map(async ([name]) => {
        const { status, output, facts } = await cordon.call(name.replace(' ', '_'), { n: 2 })
        return [name, status === 'ok' ? output : facts.error?.message] as const
      }),
    )
    expect(Object.fromEntries(found)).toEqual(EXPECTED)
  })
})

test('a function that the test runner itself compiled runs in its cell', async () => {
  const cordon = await stage.cordon({
    tools: [
      tool({
        name: 'base',
        run: async ({ path }: { path: string }) => {
          const path_ = await import('node:path')
          class Named {
            readonly name = path_.basename(path)
          }
          return new Named().name
        },
      }),
    ],
  })
  expect(await cordon.call('base', { path: 'a/b' })).toMatchObject({ status: 'ok', output: 'b' })
})

const LIBRARY = '../../dist/bundle/library/runtime.js'

test('the built library, whose file is rewritten when it is bundled, sends the same helpers', async () => {
  const { createCordon } = (await import(LIBRARY)) as {
    readonly createCordon: (options: CordonOptions) => Promise<Cordon>
  }
  const run = asWritten(
    'async ({ path }) => { const f = __name((p) => p.basename(path), "f"); ' +
      'return [f(await __vite_ssr_dynamic_import__("node:path")), f(__importStar(require("node:path")))] }',
  )
  const cordon = await createCordon({
    workspace: stage.workspace,
    mode: 'on_request',
    tools: [tool({ name: 'base', run })],
  })
  try {
    expect(await cordon.call('base', { path: 'a/b' })).toMatchObject({ status: 'ok', output: ['b', 'b'] })
  } finally {
    await cordon.close()
  }
})

/** As these programs left them. */
const LEFT: readonly (readonly [string, string, string])[] = [
  [
    'swc for es5',
    'function (param) { var p = param.path; return _async_to_generator(function() { return _ts_generator(this, function(_state) { return [2, p] }) })() }',
    '"target": "es2022"',
  ],
  [
    'swc for es2016',
    '({ path: p })=>_async_to_generator(function*() { return (yield import("node:fs")).readFileSync(p, "utf8") })()',
    '"target": "es2022"',
  ],
  [
    'swc for es2017',
    '(_0)=>{ let { o } = _0, rest = _object_without_properties(_0, ["o"]); return _object_spread_props(_object_spread({}, o, rest), {}) }',
    '"target": "es2022"',
  ],
  [
    'typescript for es5',
    'function (_a) { return __awaiter(void 0, [_a], void 0, function (_b) { return __generator(this, function (_c) { return [2] }) }) }',
    '"target": "es2022"',
  ],
  ['typescript with tslib', '(a) => tslib_1.__rest(a, ["b"])', '"target": "es2022"'],
  [
    'esbuild for es2017',
    '(r) => { var t = r, { o: n } = t, e = __objRest(t, ["o"]); return __spreadValues(__spreadValues({}, n), e) }',
    '--target=node20',
  ],
  [
    'babel without targets',
    'function asyncArrow(_x3) { return _asyncArrow.apply(this, arguments) }',
    'targets: { node: 20 }',
  ],
  [
    'webpack',
    'async ({ path: p }) => (await Promise.resolve(/*! import() */).then(() => (__webpack_require__.t("node:fs", 23)))).readFileSync(p, "utf8")',
    'webpackIgnore: true',
  ],
  [
    'Next with webpack',
    'async({path:a})=>(await Promise.resolve().then(c.t.bind(c,3024,23))).readFileSync(a,"utf8")',
    'webpackIgnore: true',
  ],
  ['Next with turbopack', 'async({path:t})=>(await e.A(6714)).readFileSync(t,"utf8")', 'turbopackIgnore: true'],
  [
    'webpack, with an import of its file',
    '() => (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.readFileSync)("/a")',
    "module: '/srv/app/tool.mjs'",
  ],
  [
    'vitest, with an import of its file',
    '() => (0,__vite_ssr_import_0__.readFileSync)("/a")',
    "await import('node:fs')",
  ],
  ['vitest, with a mocked import', '() => (0,__vi_import_0__.readFileSync)("/a")', "await import('node:fs')"],
  ['typescript, with an import of its file', '() => (0, node_fs_1.readFileSync)("/a")', "await import('node:fs')"],
  ['esbuild, with an import of its file', '() => (0, import_node_fs.readFileSync)("/a")', "await import('node:fs')"],
  ['CommonJS, with a file of its own', '() => require("./helper.js")', 'module: new URL('],
  [
    'typescript, with a computed import',
    '({ m }) => Promise.resolve(`${m}`).then(s => __importStar(require(s)))',
    'module: new URL(',
  ],
  ['istanbul', '(n) => { cov_1x2y3z().f[0]++; return n }', 'istanbul ignore next'],
]

test.each(LEFT)('a function as %s left it is refused, and the error says what to change', (_name, text, fix) => {
  expect(() => selfContainedSource('t', asWritten(text))).toThrow(
    expect.objectContaining({ code: 'function-not-portable', fix: expect.stringContaining(fix) as string }) as Error,
  )
})

test.each([
  [
    'swc',
    'async ({ path: p })=>(await Promise.resolve().then(()=>/*#__PURE__*/ _interop_require_wildcard(require("node:path")))).default.basename(p)',
  ],
  ['swc-node', 'async ({ path: p })=>(await Promise.resolve().then(()=>require("node:path"))).basename(p)'],
  [
    'babel',
    'async ({ path: p }) => (await Promise.resolve().then(() => _interopRequireWildcard(require("node:path")))).basename(p)',
  ],
  [
    'tsx',
    'async({path:p})=>(await import("node:path").then(s=>{const e="default";return s[e]&&typeof s[e]=="object"&&"__esModule"in s[e]?s[e]:s})).basename(p)',
  ],
  [
    'Next with both comments',
    'async({path:a})=>(await import(/* webpackIgnore: true */ /* turbopackIgnore: true */ "node:path")).basename(a)',
  ],
])('import() of a module of Node works as %s left it', async (_name, text) => {
  const cordon = await stage.cordon({ tools: [tool({ name: 'base', run: asWritten(text) })] })
  expect(await cordon.call('base', { path: 'a/b' })).toMatchObject({ status: 'ok', output: 'b' })
})

describe('a supplied helper', () => {
  const named = asWritten('(n) => { const f = __name((x) => x + 1, "f"); return [f.name, f(n)] }')
  const run = (0, eval)(`(${selfContainedSource('t', named)})`) as (n: number) => unknown

  test('is part of the source that is hashed and sent', () => {
    expect(run(1)).toEqual(['f', 2])
    expect(toolHash(tool({ name: 't', run: named }))).not.toBe(
      toolHash(tool({ name: 't', run: asWritten('(n) => [n]') })),
    )
  })

  test('is not replaced by a variable of its file or a global one', () => {
    const hidden = (0, eval)(
      '((__name) => (n) => { const f = __name((x) => x + 1, "f"); return [f.name, f(n)] })(() => () => "other")',
    ) as typeof named
    expect(selfContainedSource('t', hidden)).toBe(selfContainedSource('t', named))
    try {
      Object.assign(globalThis, { __name: () => () => 'other' })
      expect(run(1)).toEqual(['f', 2])
    } finally {
      Reflect.deleteProperty(globalThis, '__name')
    }
  })

  test('is not supplied to a function that declares the name itself', () => {
    const own = asWritten('(n) => { const __name = (x) => x; return __name(n) }')
    expect(selfContainedSource('t', own)).toBe('(n) => { const __name = (x) => x; return __name(n) }')
  })

  test('is refused in functions that run in this process, where their file could give another', () => {
    const made = processTool({ name: 't', command: asWritten('() => [__name(() => 1, "f").name]') as () => string[] })
    expect(() => toolHash(made)).toThrow('"__name"')
    expect(toolHash(processTool({ name: 't', command: () => ['true'] }))).toMatch(/^sha256:/)
  })

  test('gives modules of Node only, and each by its literal name', () => {
    for (const text of [
      '() => require("pg")',
      '(m) => require(m)',
      '() => [require][0]("node:fs")',
      '() => require.resolve("fs")',
    ])
      expect(() => selfContainedSource('t', asWritten(text))).toThrow('"require"')
    expect(() => selfContainedSource('t', asWritten('() => require("fs")'))).not.toThrow()
  })
})
