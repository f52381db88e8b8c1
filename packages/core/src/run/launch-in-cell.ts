// Runs a permitted command in a cell whose output this process reads.
import type { RunRequest, Sandbox } from '../sandbox/index.js'
import { withoutUndefined } from '../shapes/index.js'

import type { Environment } from '../line/command-line.js'
import type { RunOrder } from './request/run-request.js'
import type { Launch } from './attached-runner.js'

export const launchInCell =
  (
    sandbox: Promise<Sandbox>,
    environment: Environment,
    { cwd, egress, secrets }: RunOrder,
    input: Partial<RunRequest>,
  ): Launch =>
  async (argv, boundary, { beforeStart, ...call }) => {
    const open = await sandbox
    const run = (passed: Environment, granted: object) =>
      open.run({
        argv,
        boundary,
        cwd,
        beforeStart,
        ...granted,
        ...input,
        ...withoutUndefined({ searchPath: environment['PATH'] }),
        hostEnvironment: withoutUndefined(passed),
      })
    if (boundary.network.kind !== 'hosts') return run(environment, {})
    const { runWithNetwork } = await import('./run-network.js')
    return runWithNetwork(
      { ...egress, secrets, environment, isNested: open.host.nesting.held },
      boundary,
      call,
      ({ passed, ...granted }) => run(passed, granted),
    )
  }
