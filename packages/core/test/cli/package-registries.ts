// Small package registries served by a test: by http, on a loopback address, beneath a path.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

import { startHttp } from '../egress/servers.js'
import type { TestServer } from '../egress/servers.js'

export interface Registry extends TestServer {
  readonly requests: readonly string[]
}

/** Of npm, with one package. */
export const startNpmRegistry = async (folder: string, name: string): Promise<Registry> => {
  const source = join(folder, 'package')
  mkdirSync(source, { recursive: true })
  writeFileSync(join(source, 'package.json'), JSON.stringify({ name, version: '1.2.3' }))
  writeFileSync(join(source, 'index.js'), 'module.exports = "from the registry"\n')
  execFileSync('tar', ['-czf', join(folder, 'package.tgz'), '-C', folder, 'package'])
  const archive = readFileSync(join(folder, 'package.tgz'))
  const requests: string[] = []
  const server = await startHttp((request, response) => {
    const { url = '', method = '' } = request
    requests.push(`${method} ${url}`)
    if (url === `/npm/${name}/-/${name}-1.2.3.tgz`) {
      response.end(archive)
      return
    }
    const dist = {
      tarball: `http://127.0.0.1:${String(server.port)}/npm/${name}/-/${name}-1.2.3.tgz`,
      shasum: createHash('sha1').update(archive).digest('hex'),
      integrity: `sha512-${createHash('sha512').update(archive).digest('base64')}`,
    }
    const isKnown = url === `/npm/${name}`
    response.writeHead(isKnown ? 200 : 404, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify(
        isKnown
          ? { name, 'dist-tags': { latest: '1.2.3' }, 'versions': { '1.2.3': { name, version: '1.2.3', dist } } }
          : {},
      ),
    )
  })
  return { ...server, requests }
}

/** Of pip, with one wheel. */
export const startPipIndex = async (folder: string, name: string): Promise<Registry> => {
  const wheel = `${name}-1.2.3-py3-none-any.whl`
  const info = `${name}-1.2.3.dist-info`
  const script = [
    'import sys, zipfile',
    'with zipfile.ZipFile(sys.argv[1], "w") as z:',
    `  z.writestr("${name}.py", "said = 'from the index'\\n")`,
    `  z.writestr("${info}/METADATA", "Metadata-Version: 2.1\\nName: ${name}\\nVersion: 1.2.3\\n")`,
    `  z.writestr("${info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: ` +
      `py3-none-any\\n")`,
    `  z.writestr("${info}/RECORD", "${name}.py,,\\n${info}/METADATA,,\\n${info}/WHEEL,,\\n${info}/RECORD,,\\n")`,
  ].join('\n')
  execFileSync('python3', ['-c', script, join(folder, wheel)])
  const archive = readFileSync(join(folder, wheel))
  const requests: string[] = []
  const server = await startHttp((request, response) => {
    const { url = '', method = '' } = request
    requests.push(`${method} ${url}`)
    if (url === `/files/${wheel}`) response.end(archive)
    else if (url === `/own/simple/${name.replaceAll('_', '-')}/`)
      response.writeHead(200, { 'content-type': 'text/html' }).end(`<a href="/files/${wheel}">${wheel}</a>`)
    else response.writeHead(404).end()
  })
  return { ...server, requests }
}
