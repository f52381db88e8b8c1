import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/own-folders.ts'],
    // A cell is a process tree of its own: tests that start some need forks, not worker threads.
    pool: 'forks',
    // Otherwise one core is left to vitest itself, and on a machine with two the files run one after the other.
    maxWorkers: '100%',
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
})
