// Runs a permitted command with its network, and in a cell whose output this process reads.
import type { Boundary } from '../policy/index.js'
import type { NetworkCall } from '../runtime/network/index.js'
import type { CallResult, RunRequest, Sandbox } from '../sandbox/index.js'
import { withoutUndefined } from '../shapes/index.js'

import type { Environment } from '../line/arguments.js'
import type { RunOrder } from './request/run-request.js'
import type { Launch } from './attached-runner.js'
import type { GrantedNetwork } from './run-network.js'

/** `run` gets the variables that the command may get. The proxy is loaded only if hosts are granted. */
export const onGrantedNetwork = async (
  { egress, secrets }: RunOrder,
  environment: Environment,
  isNested: boolean,
  boundary: Boundary,
  call: NetworkCall,
  run: (passed: Environment, granted: Omit<GrantedNetwork, 'passed'>) => Promise<CallResult>,
): Promise<CallResult> => {
  if (boundary.network.kind !== 'hosts') return run(environment, {})
  const { runWithNetwork } = await import('./run-network.js')
  const order = { ...egress, secrets, environment, isNested }
  return runWithNetwork(order, boundary, call, ({ passed, ...granted }) => run(passed, granted))
}

export const launchInCell =
  (sandbox: Promise<Sandbox>, environment: Environment, order: RunOrder, input: Partial<RunRequest>): Launch =>
  async (argv, boundary, { beforeStart, ...call }) => {
    const { run, host } = await sandbox
    return onGrantedNetwork(order, environment, host.nesting.held, boundary, call, (passed, granted) =>
      run({
        argv,
        boundary,
        cwd: order.cwd,
        beforeStart,
        ...granted,
        ...input,
        ...withoutUndefined({ searchPath: environment['PATH'] }),
        hostEnvironment: withoutUndefined(passed),
      }),
    )
  }
