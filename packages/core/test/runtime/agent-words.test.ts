// The texts for a model about a call that met its boundary: the kind, what to do instead, and no path of the host.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'

import { ERRORS } from 'cordon/errors'
import { processTool, tool } from '../../src/runtime/index.js'
import { adviceFor, withoutHostPaths } from '../../src/runtime/result/agent-words.js'
import type { Violation } from '../../src/sandbox/index.js'

import { READ, asWritten, openStage } from './stage.js'

const { cordon } = openStage()

/** With an absolute path of at least two names. */
const HOST_PATH = /(?:^|[\s'"(=])(?:file:\/\/)?\/[^\s/'"]+\/[^\s/'"]+/

const limit = { limit: 1, used: 2, effect: 'ended' } as const
const path = '/home/ada/secret/plan'

/** One of each, and the word by which the model knows it. */
const SAMPLES: Readonly<Record<Violation['kind'], readonly [Violation, string]>> = {
  file: [{ kind: 'file', access: 'read', path, openedAs: path, reason: { kind: 'not-granted' } }, 'File'],
  protected: [
    { kind: 'protected', deed: 'set-aside', path, aside: `${path}.aside`, restore: `mv ${path}` },
    'Protected file',
  ],
  unsealed: [{ kind: 'unsealed', path }, 'File'],
  metadata: [{ kind: 'metadata', path }, 'File'],
  exec: [{ kind: 'exec', path }, 'Program'],
  connect: [{ kind: 'connect', family: 'unix', path }, 'Socket'],
  listen: [{ kind: 'listen', family: 'unix', path }, 'Host'],
  lookup: [{ kind: 'lookup', name: 'internal.example' }, 'Host'],
  egress: [
    {
      kind: 'egress',
      host: 'internal.example',
      port: 443,
      method: 'GET',
      path: '/home/ada',
      reason: 'not-granted',
      because: path,
      allow: path,
    },
    'Host',
  ],
  memory: [{ kind: 'memory', ...limit }, 'Memory'],
  processes: [{ kind: 'processes', ...limit }, 'Processes'],
  cpu: [{ kind: 'cpu', ...limit }, 'Processor time'],
  wall: [{ kind: 'wall', ...limit }, 'Time'],
  output: [{ kind: 'output', ...limit }, 'Output'],
  scratch: [{ kind: 'scratch', ...limit }, 'Temporary files'],
  fileSize: [{ kind: 'fileSize', ...limit }, 'File size'],
}

describe('the advice on a violation', () => {
  test.each(Object.entries(SAMPLES))(
    'of the kind %s names its kind and what to do, and nothing of the host',
    (_, [violation, word]) => {
      const advice = adviceFor([violation])
      expect(advice).toMatch(new RegExp(`^${word}: .+\\. .+\\.$`))
      expect(advice).not.toMatch(/ada|internal|secret|plan/)
    },
  )

  test('names each kind once, and only a few kinds', () => {
    const all = Object.values(SAMPLES).map(([violation]) => violation)
    expect(adviceFor([...all, ...all]).match(/[A-Z][a-z ]+: /g)).toHaveLength(3)
  })
})

describe("a tool's own text", () => {
  test.each([
    [
      "Cannot find module '/srv/app/tools/missing.js' imported from /srv/app/tools/tool.mjs",
      "Cannot find module 'missing.js' imported from tool.mjs",
    ],
    ['at file:///srv/app/tools/tool.mjs:3:1', 'at tool.mjs:3:1'],
    ['cat: /data/reports/x.csv: No such file', 'cat: /data/reports/x.csv: No such file'],
    ['Did you mean to import "../../../srv/app/helper.mjs"?', 'Did you mean to import "helper.mjs"?'],
    ['see https://example.org/a/b/c and a/b/c', 'see https://example.org/a/b/c and a/b/c'],
  ])('loses the folders of absolute paths that the model did not name: %s', (words, told) => {
    expect(withoutHostPaths(words, { file: '/data/reports/x.csv' })).toBe(told)
  })
})

describe('no text for the model', () => {
  const name = fc.stringMatching(/^HOST[a-z0-9_-]{1,8}$/)
  const folders = fc.array(name, { minLength: 1, maxLength: 4 })
  const around = fc.constantFrom(' ', '"', "'", '(', '\n', ': ', '=', '`')

  test('names a folder of the host, however a tool writes it', () => {
    fc.assert(
      fc.property(folders, fc.constantFrom('/', 'file:///', '../', '../../../'), around, (names, beginning, before) => {
        expect(withoutHostPaths(`failed${before}${beginning}${names.join('/')}/last`, {})).not.toContain('HOST')
        // A folder that the model named itself is told.
        const path = `${beginning}${names.join('/')}`
        expect(withoutHostPaths(`failed${before}${path}/last`, { path })).toContain('HOST')
      }),
    )
  })

  test('of an error has a path, a program or a command as its parameter', () => {
    const taken = Object.entries(ERRORS).flatMap(([code, { agent }]) =>
      [...agent.matchAll(/\{(\w+)\}/g)].map(([, parameter = '']) => `${code} ${parameter}`),
    )
    expect(taken.filter((each) => / (?:path|command|program|folder|file|fix|real|cwd|url|module)$/.test(each))).toEqual(
      [],
    )
    expect(taken).toContain('tool-failed told')
  })
})

describe('the reason for the model', () => {
  // Beneath the folder for temporary files of a cell nothing can be granted in one form, so elsewhere.
  const base = mkdtempSync('/var/tmp/cordon-hidden-host-')
  afterAll(() => {
    rmSync(base, { recursive: true, force: true })
  })
  const project = join(base, 'project')
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{}')
  writeFileSync(join(base, 'secret'), 'secret')
  writeFileSync(join(base, 'broken.mjs'), "import './missing-part.mjs'\nexport default () => 1\n")
  writeFileSync(
    join(base, 'late.mjs'),
    "export default async () => (await import(['.', 'missing-part.mjs'].join('/'))).default\n",
  )
  const sh = (name: string, policy: object, script: string) =>
    processTool({ name, argumentGate: 'off', policy, command: () => ['/bin/sh', '-c', script] })
  const python = (name: string, policy: object, script: string) =>
    processTool({ name, argumentGate: 'off', policy, command: () => ['/usr/bin/python3', '-c', script] })
  const CALLS: Readonly<Record<string, readonly [string, string]>> = {
    read: ['violated', 'File: '],
    write: ['violated', 'File: '],
    protect: ['violated', 'Protected file: '],
    exec: ['violated', 'Program: '],
    connect: ['violated', 'Host: '],
    memory: ['violated', 'Memory: '],
    processes: ['violated', 'Processes: '],
    cpu: ['violated', 'Processor time: '],
    wall: ['timeout', 'Timeout: '],
    output: ['violated', 'Output: '],
    large: ['violated', 'File size: '],
    full: ['violated', 'Temporary files: '],
    lookup: ['violated', 'Host: '],
    request: ['violated', 'Host: '],
    broken: ['failed', 'could not be loaded'],
    late: ['failed', 'missing-part.mjs'],
    absent: ['failed', 'secret-of-mine'],
  }
  const opened = cordon({
    tools: [
      tool({
        name: 'read',
        argumentGate: 'off',
        run: asWritten(`() => (${String(READ)})({ path: ${JSON.stringify(join(base, 'secret'))} })`),
      }),
      sh('write', { filesystem: { read: [project] } }, `echo x > ${project}/made`),
      sh('protect', { filesystem: { write: [project] } }, `echo x > ${project}/package.json`),
      processTool({
        name: 'exec',
        argumentGate: 'off',
        policy: { exec: 'none' },
        command: () => ['/bin/sh', '-c', '/usr/bin/env'],
      }),
      python('connect', {}, 'import socket; socket.create_connection(("192.0.2.1", 80), 1)'),
      python(
        'lookup',
        { network: ['granted.invalid'], egress_class: 'read_only' },
        'import socket; socket.getaddrinfo("other.invalid", 80)',
      ),
      python(
        'request',
        { network: [{ host: 'granted.invalid', methods: ['GET'] }], egress_class: 'read_only' },
        'import urllib.request as r; r.urlopen(r.Request("http://granted.invalid/", method="POST"))',
      ),
      python('memory', { limits: { memory: '64M' } }, 'x = b"x" * 500_000_000; print(len(x))'),
      python(
        'processes',
        { limits: { processes: 3 } },
        'import os, time\nfor _ in range(9):\n  if os.fork() == 0: time.sleep(2); os._exit(0)',
      ),
      sh('cpu', { limits: { cpu: '200ms' } }, 'while :; do :; done'),
      sh('wall', { limits: { wall: '200ms' } }, 'sleep 9'),
      sh('output', { limits: { output: '1K' } }, 'yes'),
      sh('large', { limits: { fileSize: '64K' } }, 'exec yes > "$TMPDIR/f"'),
      sh('full', { limits: { scratch: '1M' } }, 'yes > "$TMPDIR/f"'),
      tool({ name: 'broken', module: join(base, 'broken.mjs') }),
      tool({ name: 'late', module: join(base, 'late.mjs') }),
      sh('absent', { filesystem: { read: [base] } }, `cat ${base}/secret-of-mine`),
    ],
  })

  test.each(Object.keys(CALLS))('of the call %s names the kind, and no path of the host', async (name) => {
    const { status, reason = '', facts } = await (await opened).call(name, {})
    const [expected = '', words = ''] = CALLS[name] ?? []
    expect([status, reason]).toEqual([expected, expect.stringContaining(words)])
    expect(reason).not.toMatch(HOST_PATH)
    expect(reason).not.toContain('hidden-host')
    // The operator still reads everything.
    expect(facts.error?.message).toBeDefined()
  })
})
