// Servers from packages of PyPI, installed by pip from a small index on this machine.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, onTestFinished, test } from 'vitest'

import { startHttp } from '../../../core/test/egress/servers.js'

import { folderWith } from './gateway.js'
import { packagedProject } from './packaged.js'

const SERVER = `
import json, sys
from greeting import said
def main():
    for line in sys.stdin:
        message = json.loads(line)
        answers = {
            "initialize": lambda p: {"protocolVersion": p["protocolVersion"], "capabilities": {"tools": {}},
                                     "serverInfo": {"name": "packed", "version": "1"}},
            "tools/list": lambda p: {"tools": [{"name": "tell", "inputSchema": {"type": "object"}}]},
            "tools/call": lambda p: {"content": [{"type": "text", "text": " ".join([said, *sys.argv[1:]])}]},
        }
        if "id" in message:
            result = answers[message["method"]](message.get("params"))
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
`

interface Wheel {
  readonly name: string
  readonly version: string
  readonly needs?: readonly string[]
  readonly files: Readonly<Record<string, string>>
  readonly programs?: Readonly<Record<string, string>>
}

const makeWheel = (folder: string, { name, version, needs = [], files, programs = {} }: Wheel): string => {
  const [file, info] = [`${name}-${version}-py3-none-any.whl`, `${name}-${version}.dist-info`]
  const metadata = [`Metadata-Version: 2.1`, `Name: ${name}`, `Version: ${version}`]
  const contents = {
    ...files,
    [`${info}/METADATA`]: [...metadata, ...needs.map((need) => `Requires-Dist: ${need}`), ''].join('\n'),
    [`${info}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    [`${info}/entry_points.txt`]: `[console_scripts]\n${Object.entries(programs)
      .map(([program, at]) => `${program} = ${at}\n`)
      .join('')}`,
  }
  const record = [...Object.keys(contents), `${info}/RECORD`].map((path) => `${path},,\n`).join('')
  const script =
    'import json, sys, zipfile\nwith zipfile.ZipFile(sys.argv[1], "w") as z:\n' +
    '  for path, text in json.loads(sys.argv[2]).items(): z.writestr(path, text)'
  const all = JSON.stringify({ ...contents, [`${info}/RECORD`]: record })
  execFileSync('/usr/bin/python3', ['-c', script, join(folder, file), all])
  return file
}

/** Serves the wheels as they are in its folder at that moment, with their hashes. */
const startIndex = async (...wheels: readonly Wheel[]) => {
  const folder = folderWith({})
  const files: { readonly name: string; readonly file: string }[] = []
  const publish = (...more: readonly Wheel[]): void => {
    files.push(...more.map((wheel) => ({ name: wheel.name, file: makeWheel(folder, wheel) })))
  }
  publish(...wheels)
  const hashOf = (file: string): string =>
    createHash('sha256')
      .update(readFileSync(join(folder, file)))
      .digest('hex')
  const server = await startHttp(({ url = '' }, response) => {
    const name = /^\/simple\/(?<name>[^/]+)\/$/.exec(url)?.groups?.['name']?.replaceAll('-', '_')
    const found = files.filter((each) => each.name === name)
    const file = files.find((each) => url === `/files/${each.file}`)
    if (file !== undefined) response.end(readFileSync(join(folder, file.file)))
    else if (found.length === 0) response.writeHead(404).end()
    else
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end(
          found.map((each) => `<a href="/files/${each.file}#sha256=${hashOf(each.file)}">${each.file}</a>`).join('\n'),
        )
  })
  onTestFinished(() => server.close())
  const home = folderWith({ 'pip.conf': `[global]\nindex-url = http://127.0.0.1:${String(server.port)}/simple/\n` })
  mkdirSync(join(home, '.pip'))
  writeFileSync(join(home, '.pip', 'pip.conf'), readFileSync(join(home, 'pip.conf')))
  return { home, folder, publish, close: server.close }
}

const GREETING: Wheel = { name: 'greeting', version: '1.0', files: { 'greeting.py': 'said = "hello"\n' } }
const GREETS: Wheel = {
  name: 'server_greet',
  version: '1.2.3',
  needs: ['greeting>=1'],
  files: { 'server_greet.py': SERVER },
  programs: { 'server-greet': 'server_greet:main', 'other': 'server_greet:main' },
}
const UVX = ['uvx', 'server-greet']

describe('a package of PyPI', () => {
  test('is installed once, and later starts need no index', async () => {
    const index = await startIndex(GREETING, GREETS)
    const { call, lock } = packagedProject(index.home)
    expect(await call([...UVX, 'one', '--two'])).toBe('hello one --two')
    expect(lock().packages['pypi:server-greet']).toMatchObject({ version: '1.2.3' })
    expect(Object.keys(lock().packages['pypi:server-greet']?.tree ?? {})).toEqual(['greeting', 'server-greet'])
    index.publish({ ...GREETS, version: '2.0', files: { 'server_greet.py': 'raise Exception("new")' } })
    await index.close()
    expect(await call([...UVX, 'again'])).toBe('hello again')
    expect(await call(['pipx', 'run', '--spec', 'server-greet', 'other'])).toBe('hello')
  })

  test('is refused if its wheel differs from the lock, or the lock has another package', async () => {
    const index = await startIndex(GREETING, GREETS)
    const { call, lock, lockPath, installed, cordon, gatewayWords, folders } = packagedProject(index.home)
    expect(await call(UVX)).toBe('hello')
    rmSync(installed, { recursive: true })
    const text = readFileSync(lockPath, 'utf8')
    const greeting = join(index.folder, 'greeting-1.0-py3-none-any.whl')
    const genuine = readFileSync(greeting)
    index.publish({ name: 'evil', version: '1.0', files: { 'evil.py': '' } })
    const wheel = createHash('sha256').update(readFileSync(join(index.folder, 'evil-1.0-py3-none-any.whl')))
    const more = lock()
    Object.assign(more.packages['pypi:server-greet']?.tree ?? {}, {
      evil: { version: '1.0', integrity: `sha256-${wheel.digest('base64')}` },
    })
    writeFileSync(lockPath, JSON.stringify(more))
    const extra = await cordon(gatewayWords(UVX))
    expect(extra).toMatchObject({ status: 125, stderr: expect.stringContaining('mcp-package-altered') as string })
    writeFileSync(lockPath, text)
    makeWheel(index.folder, { ...GREETING, files: { 'greeting.py': 'said = "planted"\n' } })
    const altered = await cordon(gatewayWords(UVX))
    expect(altered).toMatchObject({ status: 125, stderr: expect.stringContaining('for greeting') as string })
    expect(folders()).toEqual([])
    writeFileSync(greeting, genuine)
    expect(await call(UVX)).toBe('hello')
  })

  test('is not installed if the address of the index has a password, and no output shows the password', async () => {
    const home = folderWith({
      '.pip/pip.conf': '[global]\nindex-url = https://user:hunter2-hunter2@a.example/\n',
    })
    const { cordon, gatewayWords, folders, log } = packagedProject(home)
    const { status, stderr } = await cordon(gatewayWords(UVX))
    expect(status).toBe(125)
    expect(stderr).toContain('the address of its registry is not HTTP, or has a user or a password in it')
    expect(stderr + log()).not.toContain('hunter2')
    expect(folders()).toEqual([])
  })
})
