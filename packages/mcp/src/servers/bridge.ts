// Runs the bridge (src/bridge) in the cell of a server that speaks HTTP.
import { join } from 'node:path'

import { isReadable, literalPattern, parseAbsolutePath } from 'cordon/policy'
import type { Boundary } from 'cordon/policy'
import { packageFolderOf } from 'cordon/runtime'
import { findProgram, SYSTEM_PATH } from 'cordon/sandbox'
import type { HostFacts } from 'cordon/sandbox'
import type { Environment, Launch, RunOrder } from 'cordon/commands'

import { fail } from '../errors/errors.js'

/** The built file, also when this one is run from its source. */
const bridgeFile = (): string => join(packageFolderOf(import.meta.url), 'dist', 'bundle', 'bridge', 'main.cjs')

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

/** Reads `PORT` or `PORT/PATH`. `source`: the option or the line that says so. Gives the address inside the cell. */
export const parsePublished = (text: string, source: string): string => {
  const [, digits = '', path = '/mcp'] = /^(\d{1,5})(\/[!-~]*)?$/.exec(text) ?? []
  const port = Number(digits)
  if (digits === '' || port < 1 || port > 65_535)
    throw fail('usage-error', {
      problem: `${source}: ${JSON.stringify(text)} is not a port with a path`,
      fix: 'write PORT or PORT/PATH, such as 3000/mcp',
    })
  return new URL(path, `http://127.0.0.1:${port}`).href
}
