// A small registry of npm on this machine, with packages that npm itself has packed.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { onTestFinished } from 'vitest'

import { startHttp } from '../../../core/test/egress/servers.js'

import { folderWith } from './gateway.js'

export interface Published {
  readonly name: string
  readonly version: string
  /** More fields of its package.json. */
  readonly fields?: Readonly<Record<string, unknown>>
  readonly files?: Readonly<Record<string, string>>
}

interface Packed extends Published {
  readonly archive: Buffer
  readonly manifest: Readonly<Record<string, unknown>>
}

export interface LocalRegistry {
  readonly port: number
  readonly requests: readonly string[]
  readonly publish: (...packages: readonly Published[]) => void
  /** From now on this archive of a version has other bytes. */
  readonly alter: (name: string, version: string) => void
  readonly restore: () => void
  readonly integrityOf: (name: string, version: string) => string
  /** Answers nothing until it is released. */
  readonly hold: () => void
  readonly release: () => void
  /** A home whose npm uses this registry. */
  readonly home: string
  readonly close: () => Promise<void>
}

const pack = (folder: string, published: Published): Packed => {
  const { name, version, fields = {}, files = {} } = published
  const source = join(folder, `${name.replaceAll('/', '+')}-${version}`)
  const manifest = { name, version, ...fields }
  for (const [path, text] of Object.entries({ ...files, 'package.json': JSON.stringify(manifest) })) {
    mkdirSync(dirname(join(source, path)), { recursive: true })
    writeFileSync(join(source, path), text, { mode: 0o755 })
  }
  const options = { cwd: source, encoding: 'utf8', env: { PATH: process.env['PATH'], HOME: folder } } as const
  const file = execFileSync('npm', ['pack', '--ignore-scripts', '--silent'], options).trim()
  return { ...published, manifest, archive: readFileSync(join(source, file)) }
}

const hashOf = (algorithm: string, bytes: Buffer, form: 'hex' | 'base64'): string =>
  createHash(algorithm).update(bytes).digest(form)

const integrityOf = ({ archive }: Packed): string => `sha512-${hashOf('sha512', archive, 'base64')}`

export const startRegistry = async (...first: readonly Published[]): Promise<LocalRegistry> => {
  const folder = folderWith({})
  const packages: Packed[] = []
  const altered = new Map<Packed, Buffer>()
  const requests: string[] = []
  const publish: LocalRegistry['publish'] = (...given) => {
    packages.push(...given.map((each) => pack(folder, each)))
  }
  publish(...first)
  const fileOf = ({ name, version }: Packed): string => `/${name}/-/${name.split('/').at(-1) ?? ''}-${version}.tgz`
  const versionOf = (each: Packed, port: number) => [
    each.version,
    {
      ...each.manifest,
      dist: {
        tarball: `http://127.0.0.1:${String(port)}${fileOf(each)}`,
        shasum: hashOf('sha1', each.archive, 'hex'),
        integrity: integrityOf(each),
      },
    },
  ]
  let isHeld = false
  const find = (name: string, version: string): Packed => {
    const found = packages.find((each) => each.name === name && each.version === version)
    if (found === undefined) throw new Error(`there is no ${name}@${version}`)
    return found
  }
  const server = await startHttp((request, response) => {
    const path = decodeURIComponent(request.url ?? '')
    requests.push(`${request.method ?? ''} ${path}`)
    if (isHeld) return
    const file = packages.find((each) => fileOf(each) === path)
    const versions = packages.filter(({ name }) => `/${name}` === path)
    if (file !== undefined) response.end(altered.get(file) ?? file.archive)
    else if (versions.length === 0) response.writeHead(404, { 'content-type': 'application/json' }).end('{}')
    else
      response.writeHead(200, { 'content-type': 'application/json' }).end(
        JSON.stringify({
          'name': path.slice(1),
          'dist-tags': { latest: versions.at(-1)?.version },
          'versions': Object.fromEntries(versions.map((each) => versionOf(each, server.port))) as unknown,
        }),
      )
  })
  onTestFinished(() => server.close())
  const home = folderWith({ '.npmrc': `registry=http://127.0.0.1:${String(server.port)}/\n` })
  return {
    port: server.port,
    requests,
    publish,
    alter: (name, version) => {
      const found = find(name, version)
      const files = { ...found.files, 'added.js': '// planted\n' }
      altered.set(found, pack(folderWith({}), { ...found, files }).archive)
    },
    restore: () => {
      altered.clear()
    },
    integrityOf: (name, version) => integrityOf(find(name, version)),
    hold: () => {
      isHeld = true
    },
    release: () => {
      isHeld = false
    },
    home,
    close: server.close,
  }
}

/** The source of a server with one tool, whose answer an expression gives. */
export const serverSource = (answer: string, before = ''): string => `#!/usr/bin/env node
${before}
const tell = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
const ANSWERS = {
  'initialize': ({ protocolVersion }) => ({
    protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'packed', version: '1' },
  }),
  'tools/list': () => ({ tools: [{ name: 'tell', description: 'tells', inputSchema: { type: 'object' } }] }),
  'tools/call': () => ({ content: [{ type: 'text', text: String(${answer}) }] }),
}
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  const answer = ANSWERS[method]
  tell(answer ? { id, result: answer(params) } : { id, error: { code: -32601, message: 'unknown' } })
})
`
