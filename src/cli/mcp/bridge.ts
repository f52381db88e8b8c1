// Runs the bridge (src/mcp/bridge) in the cell of a server that speaks HTTP.
import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { fail } from '../../errors/index.js'
import { isReadable, literalPattern, parseAbsolutePath } from '../../policy/index.js'
import type { Boundary } from '../../policy/index.js'
import { SYSTEM_PATH, findProgram } from '../../sandbox/index.js'
import type { HostFacts } from '../../sandbox/index.js'

import type { Environment } from '../command-line.js'
import type { RunOrder } from '../request/run-request.js'
import type { Launch } from '../run/attached-runner.js'

/** The built file, also when this one is run from its source. */
const bridgeFile = (): string =>
  realpathSync(fileURLToPath(new URL('../../../dist/bundle/bridge/main.cjs', import.meta.url)))

/** The command of a remote server. */
export const bridgeTo = (url: string): readonly string[] => [process.execPath, bridgeFile(), url]

/** The cell of the bridge reads it, and nothing else of Cordon. */
export const withBridge = (boundary: Boundary): Boundary => withFiles(boundary, [bridgeFile()])

export interface PublishingServer {
  readonly name: string
  /** The address of its port, inside its cell. */
  readonly url: string
  readonly order: RunOrder
  readonly environment: Environment
}

/** The server was decided about and is recorded. The bridge starts it, inside the same cell. */
export const launchPublished =
  (launch: Launch, host: Promise<HostFacts>, { name, url, order, environment }: PublishingServer): Launch =>
  async ([program = '', ...words], boundary, call) => {
    refuseShared(name, order, boundary, await host)
    const found = findProgram(program, order.cwd, environment['PATH'] ?? SYSTEM_PATH)
    const withServer = withFiles(boundary, [...found.executables, ...found.loaders, ...found.libraries])
    const { exec } = boundary
    const others = exec.kind === 'list' ? exec.programs : []
    const startable = exec.kind === 'all' ? exec : { kind: 'list' as const, programs: [...others, found.path] }
    return launch([...bridgeTo(url), found.path, ...words], withBridge({ ...withServer, exec: startable }), call)
  }

const withFiles = (boundary: Boundary, paths: readonly string[]): Boundary => ({
  ...boundary,
  read: [
    ...boundary.read,
    ...paths
      .map((path) => parseAbsolutePath(path, 'a program of the cell'))
      .filter((path) => !isReadable(boundary, path))
      .map(literalPattern),
  ],
})

/** Without a loopback of its own, every program of the host could reach the port. */
const refuseShared = (server: string, { form }: RunOrder, { network }: Boundary, host: HostFacts): void => {
  if (network.kind === 'all')
    throw fail('mcp-port-unpublishable', {
      server,
      problem: 'a cell with the whole network shares the loopback of the host',
      fix: 'name the hosts that it needs: --net HOST',
    })
  if (form === 'landlock' || !host[form === 'auto' ? 'namespaces' : form].held)
    throw fail('mcp-port-unpublishable', {
      server,
      problem: 'cells of the form landlock share the loopback of the host',
      fix: 'use the form namespaces (cordon doctor says what it lacks), or let the server speak on stdin and stdout',
    })
}
