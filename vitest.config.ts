import { availableParallelism } from 'node:os'

import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/own-folders.ts'],
    // A cell is a process tree of its own: tests that start some need forks, not worker threads.
    pool: 'forks',
    // One more than there are cores: much of the time is spent waiting for programs, limits and silence.
    maxWorkers: availableParallelism() + 1,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // How long something may take says nothing about whether it is right.
    expect: { poll: { timeout: 20_000 } },
  },
})
