import { availableParallelism } from 'node:os'

import { defineConfig } from 'vitest/config'
import { BaseSequencer } from 'vitest/node'
import type { TestSpecification } from 'vitest/node'

/** Rules of the code and its pure parts: no cells, no servers, nothing that one file could leave to the next. */
const PURE = 'architecture|errors|policy|gate|sandbox'

/** Short files that take long: begun last, one of them would be waited for alone. */
const LONG = ['cli/packed-install', 'faults/here', 'faults/faults', 'sanitized/conformance', 'conformance/native']

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification): boolean => LONG.some((name) => moduleId.endsWith(`/test/${name}.test.ts`))
    // Pure ones together, so that their processes are taken over from one to the next.
    const isPure = ({ project }: TestSpecification): boolean => project.name === 'pure'
    const rank = (file: TestSpecification): number => (isLong(file) ? 0 : isPure(file) ? 2 : 1)
    return sorted.sort((a, b) => rank(a) - rank(b))
  }
}

export default defineConfig({
  test: {
    // A cell is a process tree of its own: tests that start some need forks, not worker threads.
    pool: 'forks',
    // Two more than there are cores: much of the time is spent waiting for programs, limits and silence.
    maxWorkers: availableParallelism() + 2,
    // How long something may take says nothing about whether it is right. These end only what hangs.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 60_000 } },
    sequence: { sequencer: LongFirst },
    // By what they include alone: an `exclude` of a project would take the place of `--exclude`, by which scripts/test.mjs leaves files out.
    projects: [
      { extends: true, test: { name: 'pure', include: [`test/@(${PURE})/**/*.test.ts`], isolate: false } },
      { extends: true, test: { name: 'real', include: [`test/!(${PURE})/**/*.test.ts`], globalSetup: ['test/own-folders.ts'] } },
    ],
  },
})
