import { statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join, relative } from 'node:path'

import { defineConfig } from 'vitest/config'
import type { Plugin } from 'vitest/config'
import { BaseSequencer } from 'vitest/node'
import type { TestSpecification } from 'vitest/node'

import { lastDurations } from './scripts/tests/durations.mjs'
import { ENTRIES, sourceOf } from './scripts/entries.mjs'

/** Rules of the code and its pure parts: no cells, no servers, nothing that one file could leave to the next. */
const PURE = 'analysis|architecture|errors|manifest|policy|gate|sandbox'

/** Files that open databases of their own. In one process V8 compiles the embedded database once for all of them. */
const STORES = 'store|server'

/** Of each package, and those of the whole. */
const SUITES = '{test,packages/*/test}'

const ORDER = ['real', 'stores', 'pure']

/**
 * Files that took long the last time begin first, so that none of them is waited for alone at the end. Without a last
 * time, long files do.
 */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const seconds = lastDurations()
    const lengthOf = ({ moduleId }: TestSpecification): number =>
      seconds.get(relative(import.meta.dirname, moduleId)) ?? statSync(moduleId).size / 1000
    const sorted = await super.sort(files)
    // Those of a project together, so that their processes are taken over from one to the next.
    return sorted.sort(
      (a, b) => ORDER.indexOf(a.project.name) - ORDER.indexOf(b.project.name) || lengthOf(b) - lengthOf(a),
    )
  }
}

const OWN_FOLDERS = ['test/own-folders.ts']

/** `npm test` says so, because it has just built. Elsewhere dist/ may be older than src/. */
const IS_BUILT = process.env['CORDON_TEST_BUILT'] === '1'

const SOURCE = /^(?<root>.*\/packages\/[^/]+)\/src\/(?<module>.*)$/

/**
 * Takes modules of the packages from dist/ after a build: Node loads those itself, which takes a fraction of the time
 * that Vite needs to hand over some hundred modules to every file of tests. Otherwise takes them from their sources.
 */
const oneCopy: Plugin = {
  name: 'one-copy',
  enforce: 'pre',
  resolveId: (source, importer) => {
    const entry = ENTRIES.get(source)
    if (entry !== undefined) return IS_BUILT ? entry : sourceOf(entry)
    if (!IS_BUILT || importer === undefined || !source.startsWith('.')) return undefined
    const { root, module } = SOURCE.exec(join(dirname(importer), source))?.groups ?? {}
    return root === undefined || module === undefined ? undefined : join(root, 'dist', module)
  },
}

export default defineConfig({
  plugins: [oneCopy],
  test: {
    server: { deps: { external: [/\/dist\//] } },
    // A cell is a process tree of its own: tests that start some need forks, not worker threads.
    pool: 'forks',
    execArgv: IS_BUILT ? ['--import', join(import.meta.dirname, 'scripts/tests/one-copy.mjs')] : [],
    // Three more than there are cores: much of the time is spent waiting for programs, limits and silence.
    maxWorkers: availableParallelism() + 3,
    // How long something may take says nothing about whether it is right. These end only what hangs.
    testTimeout: 300_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 180_000 } },
    sequence: { sequencer: LongFirst },
    tags: [{ name: 'matrix', description: 'left out by `npm test`, and tried by `npm run test:matrix`' }],
    // By what they include alone: an `exclude` of a project would take the place of `--exclude`, by which scripts/test.mjs leaves files out.
    projects: [
      { extends: true, test: { name: 'pure', include: [`${SUITES}/@(${PURE})/**/*.test.ts`], isolate: false } },
      {
        extends: true,
        test: {
          name: 'stores',
          include: [`${SUITES}/@(${STORES})/**/*.test.ts`],
          isolate: false,
          globalSetup: OWN_FOLDERS,
        },
      },
      {
        extends: true,
        test: {
          name: 'real',
          include: [`${SUITES}/!(${PURE}|${STORES})/**/*.test.ts`],
          isolate: false,
          setupFiles: ['test/loaded-for-each-file.ts'],
          globalSetup: OWN_FOLDERS,
        },
      },
    ],
  },
})
