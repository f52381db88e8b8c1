// Container tools on a real engine: what a call can do, what its container refuses, and what is left of it.
import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

import { afterAll, describe, expect, test } from 'vitest'
import type { TestContext } from 'vitest'

import { IN_MATRIX } from '../../../../test/turns.js'
import { containerTool } from '../../src/runtime/index.js'
import type { Cordon, CordonOptions } from '../../src/runtime/index.js'
import { echo, serverAuthority, startHttps } from '../egress/servers.js'
import { needs } from '../../../../test/requirement.js'
import { openStage } from '../runtime/stage.js'

import { IS_PODMAN, engineProblem, makeImageRoot, startEngine } from './engine.js'
import { shellTool } from './shell-tool.js'
import type { ShellPolicy } from './shell-tool.js'

const problem = engineProblem()
const engine = problem === undefined ? await startEngine() : undefined
const stage = openStage()

const PROGRAMS = ['sh', 'cat', 'ls', 'id', 'env', 'sleep', 'dd', 'head', 'curl', 'mkdir', 'sha256sum', 'true']
const image =
  engine === undefined ? '' : engine.image(makeImageRoot(join(engine.folder, 'root'), PROGRAMS), ['ENV OF_IMAGE=yes'])

const HOST = 'api.test'
const SECRET = 'value-of-a-credential-9a8b7c'
const authorizations: unknown[] = []
const server = await startHttps(
  (request, response) => {
    authorizations.push(request.headers.authorization)
    echo(request, response)
  },
  { host: HOST },
)
afterAll(() => server.close())
const place = `${HOST}:${String(server.port)}`
const egress = {
  authorities: [serverAuthority.certificate],
  pins: { [HOST]: ['127.0.0.1'], 'other.test': ['127.0.0.1'] },
}

const opened = async (
  context: TestContext,
  policy: ShellPolicy = {},
  options: Partial<CordonOptions> = {},
  from = image,
): Promise<Cordon> => {
  needs(context, engine !== undefined, problem ?? '')
  return closing(context, {
    tools: [shellTool(from, policy)],
    containers: { socket: engine?.socket ?? '' },
    ...options,
  })
}

/** Closed with its test, so that each container that exists later was left behind. */
const closing = async (context: TestContext, options: Partial<CordonOptions>): Promise<Cordon> => {
  const cordon = await stage.cordon(options)
  context.onTestFinished(() => cordon.close())
  return cordon
}

const outputOf = async (cordon: Cordon, script: string) => {
  const result = await cordon.call('shell', { script })
  return { result, output: result.output as { readonly stdout: string; readonly stderr: string } | undefined }
}

const untilEmpty = async (look: () => readonly unknown[]): Promise<readonly unknown[]> => {
  for (let tries = 0; tries < 100 && look().length > 0; tries += 1) await wait(50)
  return look()
}

describe('a container tool', () => {
  test('runs a program of its image, with the variables of the image, and records both boundaries', async (context) => {
    const cordon = await opened(context)
    const { result, output } = await outputOf(cordon, 'cat /etc/image-file; echo $OF_IMAGE; id -u')
    expect(result.facts.error).toBeNull()
    expect(output?.stdout).toBe(`of the image\nyes\n${String(process.getuid?.())}\n`)
    expect(result.facts.sandbox_profile).toMatchObject({
      backend: 'container',
      image: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as string,
      enforced: {
        filesystem_read: ['container: mount-namespace', expect.stringMatching(/^landlock:/) as string],
        network: expect.arrayContaining(['container: network-namespace', 'seccomp']) as string[],
      },
    })
  })

  test('sees granted files of the host by their paths, and no others', async (context) => {
    const folder = stage.newFolder()
    writeFileSync(join(folder, 'granted'), 'GRANTED\n')
    const other = stage.newFolder()
    writeFileSync(join(other, 'secret'), 'SECRET\n')
    const cordon = await opened(context, { filesystem: { read: [folder] } })
    const { output } = await outputOf(cordon, `cat ${folder}/granted; cat ${other}/secret; echo x > ${folder}/granted`)
    expect(output?.stdout).toBe('GRANTED\n')
    expect(output?.stderr).toContain(`${other}/secret: No such file`)
    expect(readFileSync(join(folder, 'granted'), 'utf8')).toBe('GRANTED\n')
  })

  test('writes into a granted folder, but not to protected names, carve-outs or the image', async (context) => {
    const folder = stage.newFolder()
    mkdirSync(join(folder, '.git/hooks'), { recursive: true })
    mkdirSync(join(folder, 'hidden'))
    writeFileSync(join(folder, 'hidden/file'), 'SECRET\n')
    writeFileSync(join(folder, 'key'), 'SECRET\n')
    const cordon = await opened(context, {
      filesystem: { read: [`!${folder}/hidden/**`, `!${folder}/key`], write: [folder] },
    })
    const { output } = await outputOf(
      cordon,
      `cd ${folder}; echo made > file; echo x > .git/hooks/post-commit; cat hidden/file key; echo x > /etc/new; true`,
    )
    expect(readFileSync(join(folder, 'file'), 'utf8')).toBe('made\n')
    expect(readdirSync(join(folder, '.git/hooks'))).toEqual([])
    expect(output?.stdout).toBe('')
    expect(readFileSync(join(folder, 'key'), 'utf8')).toBe('SECRET\n')
  })

  test('reaches a granted host from a container without a network, and no other', async (context) => {
    const policy = { network: [place], egress_class: 'read_only' } as const
    const cordon = await opened(context, policy, { egress })
    const fetched = await outputOf(
      cordon,
      `env -u HTTPS_PROXY -u https_proxy -u ALL_PROXY -u all_proxy curl -sS https://${place}/word`,
    )
    expect(fetched.output?.stdout).toContain('/word')
    const refused = await outputOf(cordon, `curl -sS --noproxy '*' https://other.test:${String(server.port)}/`)
    expect(refused.result.status).not.toBe('ok')
    const without = await opened(context, {}, { egress })
    expect((await outputOf(without, `curl -sS https://${place}/`)).result.status).not.toBe('ok')
  })

  test('uses a credential that it never sees', IN_MATRIX, async (context) => {
    const cordon = await opened(
      context,
      {
        network: [place],
        egress_class: 'read_only',
        credentials: [{ id: 'token', inject: { host: place, as: 'bearer' }, placeholder: 'API_TOKEN' }],
      },
      { egress: { ...egress, secrets: { token: 'env:SOURCE' } }, environment: { SOURCE: SECRET } },
    )
    const before = authorizations.length
    const { result, output } = await outputOf(cordon, `env; curl -sS --noproxy '*' https://${place}/`)
    expect(result.status).toBe('ok')
    expect(authorizations.slice(before)).toEqual([`Bearer ${SECRET}`])
    expect(output?.stdout).toContain('API_TOKEN=')
    expect(JSON.stringify(output)).not.toContain(SECRET)
  })

  test('passes large input and output through, unchanged', IN_MATRIX, async (context) => {
    needs(context, engine !== undefined, problem ?? '')
    const size = 8 * 1024 * 1024
    const large = containerTool({
      name: 'large',
      image,
      policy: { limits: { output: '64M' } },
      command: () => ['cat'],
      stdin: () => Buffer.alloc(size, 'abcdefghijklmnop'),
    })
    const cordon = await closing(context, { tools: [large], containers: { socket: engine?.socket ?? '' } })
    const received = createHash('sha256')
    const onOutput = ({ text }: { readonly text: string }): void => void received.update(text)
    const { status } = await cordon.call('large', {}, { onOutput })
    expect(status).toBe('ok')
    const summed = containerTool({
      name: 'summed',
      image,
      command: () => ['sha256sum'],
      stdin: () => Buffer.alloc(size, 'abcdefghijklmnop'),
    })
    const other = await closing(context, { tools: [summed], containers: { socket: engine?.socket ?? '' } })
    const sum = execFileSync('sha256sum', { input: Buffer.alloc(size, 'abcdefghijklmnop'), encoding: 'utf8' })
    expect((await other.call('summed')).output).toMatchObject({ stdout: sum })
    expect(received.digest('hex')).toBe(sum.split(' ')[0])
  })

  test('is ended by its limits', IN_MATRIX, async (context) => {
    const late = await opened(context, { limits: { wall: '500ms' } })
    expect((await outputOf(late, 'sleep 60')).result).toMatchObject({ status: 'timeout' })
    const full = await opened(context, { limits: { scratch: '2M' } })
    // The folder refuses more by itself, or Cordon ends the call.
    const filled = await outputOf(full, 'dd if=/dev/zero of=$TMPDIR/file bs=1M count=30 && echo filled')
    expect(filled.result).toMatchObject({ facts: { violations: [{ kind: 'scratch' }] } })
    expect(filled.output?.stdout ?? '').toBe('')
    const hungry = await opened(context, { limits: { memory: '40M', wall: '60s' } })
    const eaten = await outputOf(hungry, 'dd if=/dev/zero of=/dev/null bs=300M count=1; echo survived')
    expect(eaten.result.status === 'ok' && eaten.output?.stdout.includes('survived')).toBe(false)
    const fine = await opened(context, { limits: { wall: '60s', memory: '200M', scratch: '8M' } })
    expect((await outputOf(fine, 'dd if=/dev/zero of=$TMPDIR/file bs=1M count=1')).result.status).toBe('ok')
  })
})

describe('a refused change in a container', () => {
  test('of a protected name is a violation, and a change beside it is none', IN_MATRIX, async (context) => {
    const file = join(stage.workspace, 'package.json')
    writeFileSync(file, '{}\n')
    const cordon = await opened(context, { filesystem: { write: ['.'] } })
    const refused = (await outputOf(cordon, `echo x >> ${file}`)).result
    const violation = { kind: 'file', access: 'write', path: file, reason: { kind: 'protected' } }
    expect(refused).toMatchObject({ status: 'violated', facts: { violations: [violation] } })
    const beside = (await outputOf(cordon, `echo x > ${file}.other; exit 1`)).result
    expect(beside).toMatchObject({ status: 'failed', facts: { violations: [] } })
    expect(readFileSync(file, 'utf8')).toBe('{}\n')
  })

  test('of the image is explained without a grant of the same path on the host', IN_MATRIX, async (context) => {
    const cordon = await opened(context)
    const { facts } = (await outputOf(cordon, 'echo x > /etc/new')).result
    expect(facts.error?.fix).toContain('TMPDIR')
    expect(facts.error?.fix).not.toContain("'/etc'")
  })
})

describe('what a container cannot hold exactly', () => {
  test.for<[string, ShellPolicy, string]>([
    ['all of the network', { network: 'all', egress_class: 'write' }, 'network-grant-unsupported'],
    ['a list of programs', { exec: ['ls'] }, 'grant-inexpressible'],
    ['a top folder of the host', { filesystem: { read: ['/usr/**'] } }, 'grant-inexpressible'],
    ['a user namespace', { require: ['user-namespace'] }, 'host-cannot-hold'],
  ])('%s is refused with a fix', async ([, policy, code], context) => {
    const cordon = await opened(context, policy, {
      approve: () => Promise.resolve({ kind: 'approve_once', by: 'ann' }),
    })
    const result = await cordon.call('shell', { script: 'true' })
    expect(result).toMatchObject({ facts: { error: { code, fix: expect.stringMatching(/\w/) as string } } })
  })

  test.runIf(IS_PODMAN)('an OCI runtime that the engine would ignore', IN_MATRIX, async (context) => {
    needs(context, engine !== undefined, problem ?? '')
    const named = (runtime: string) =>
      closing(context, {
        tools: [containerTool({ name: 'shell', image, runtime, command: () => ['true'] })],
        containers: { socket: engine?.socket ?? '' },
      })
    const own = engine?.command('info', '--format', '{{.Host.OCIRuntime.Name}}') ?? ''
    const granted = await (await named(own)).call('shell', {})
    expect({ status: granted.status, error: granted.facts.error }).toEqual({ status: 'ok', error: null })
    expect(await (await named('runsc')).call('shell', {})).toMatchObject({
      status: 'not_started',
      facts: { error: { code: 'container-runtime-ignored', message: expect.stringContaining(own) as string } },
    })
  })

  test('a name that no image can have', IN_MATRIX, async (context) => {
    const cordon = await opened(context, {}, {}, 'localhost/any@sha256:abc')
    const result = await cordon.call('shell', { script: 'true' })
    expect(result).toMatchObject({ facts: { error: { code: 'image-name-invalid' } } })
  })

  test('an image by a wrong digest, and one by a tag where digests are demanded', async (context) => {
    const wrong = await opened(context, {}, {}, `localhost/any@sha256:${'0'.repeat(64)}`)
    expect(await wrong.call('shell', { script: 'true' })).toMatchObject({ facts: { error: { code: 'image-missing' } } })
    engine?.command('tag', image, 'localhost/cordon-tagged:1')
    const socket = engine?.socket ?? ''
    const strict = { containers: { socket, images: 'digest' as const } }
    const byTag = await opened(context, {}, strict, 'localhost/cordon-tagged:1')
    expect(await byTag.call('shell', { script: 'true' })).toMatchObject({ facts: { error: { code: 'image-by-tag' } } })
    const byDigest = await opened(context, {}, strict, image.startsWith('sha256:') ? image : `sha256:${image}`)
    expect((await byDigest.call('shell', { script: 'true' })).status).toBe('ok')
  })
})

describe('a hostile image', () => {
  test('cannot change the boundary by its loader, variables, entry point, health check or names', async (context) => {
    needs(context, engine !== undefined, problem ?? '')
    if (engine === undefined) return
    const root = makeImageRoot(join(engine.folder, 'hostile'), PROGRAMS)
    const folder = stage.newFolder()
    const proof = join(folder, 'proof')
    writeFileSync(join(root, 'bin/evil'), `#!/bin/sh\necho evil > ${proof}\nexec /bin/sleep 100\n`, { mode: 0o755 })
    writeFileSync(join(root, 'etc/ld.so.preload'), '/bin/evil.so\n')
    writeFileSync(join(root, 'cordon-cell'), '#!/bin/sh\nexec /bin/evil\n', { mode: 0o755 })
    const hostile = engine.image(root, ['ENTRYPOINT ["/bin/evil"]', 'ENV LD_PRELOAD=/bin/evil.so', 'VOLUME /volume'])
    const cordon = await opened(context, { filesystem: { read: [folder] } }, {}, hostile)
    const { result, output } = await outputOf(
      cordon,
      `cat /etc/image-file; echo x > ${proof}; echo x > /volume/file; ls /sys/class/net; cat /proc/1/environ; true`,
    )
    expect(result.status).toBe('ok')
    // Of the network there is only its own loopback.
    expect(output?.stdout).toBe('of the image\nlo\n')
    expect(existsSync(proof)).toBe(false)
  })
})

describe('nothing is left', () => {
  const left = (): readonly unknown[] => engine?.left() ?? []

  test('of 200 calls, in turn and at once, and of a runtime that was closed', IN_MATRIX, async (context) => {
    const cordon = await opened(context)
    for (let calls = 0; calls < 10; calls += 1) expect((await outputOf(cordon, 'true')).result.status).toBe('ok')
    const statuses: string[] = []
    const inTurn = async () => {
      for (let calls = 0; calls < 19; calls += 1) statuses.push((await outputOf(cordon, 'true')).result.status)
    }
    await Promise.all(Array.from({ length: 10 }, inTurn))
    expect(statuses).toEqual(Array.from({ length: 190 }, () => 'ok'))
    expect(left().length).toBeGreaterThan(0)
    await cordon.close()
    expect(await untilEmpty(left)).toEqual([])
  })

  test('of a call whose container somebody removes, and the next call runs', IN_MATRIX, async (context) => {
    const folder = stage.newFolder()
    const cordon = await opened(context, { filesystem: { write: [folder] } })
    const call = outputOf(cordon, `echo begun > ${folder}/begun; sleep 1000`)
    const ends: unknown[] = []
    void call.then(({ result }) => ends.push(result.facts.error))
    while (!existsSync(join(folder, 'begun'))) {
      expect(ends).toEqual([])
      await wait(50)
    }
    engine?.command('rm', '--force', ...engine.containers())
    expect((await call).result.status).not.toBe('ok')
    expect((await outputOf(cordon, `cat ${folder}/begun`)).output?.stdout).toBe('begun\n')
    await cordon.close()
    expect(await untilEmpty(() => engine?.containers() ?? [])).toEqual([])
  })

  test('of a process that was killed while a call ran', async (context) => {
    needs(context, engine !== undefined, problem ?? '')
    if (engine === undefined) return
    const mark = `7${String(Date.now()).slice(-6)}`
    const script = `
      const { createCordon, containerTool } = await import(${JSON.stringify(new URL('../../dist/runtime/index.js', import.meta.url).href)})
      const tools = [containerTool({ name: 'long', image: ${JSON.stringify(image)}, command: () => ['sleep', '${mark}'] })]
      const cordon = await createCordon({ tools, workspace: ${JSON.stringify(stage.workspace)}, mode: 'on_request', containers: { socket: ${JSON.stringify(engine.socket)} } })
      void cordon.call('long')
      setInterval(() => undefined, 1000)`
    const host = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore' })
    const sleepers = () =>
      execFileSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' })
        .split('\n')
        .filter((line) => line.endsWith(`sleep ${mark}`))
    while (sleepers().length === 0 && host.exitCode === null) await wait(100)
    expect(sleepers().length).toBeGreaterThan(0)
    expect(engine.containers().length).toBeGreaterThan(0)
    expect(left().length).toBeGreaterThan(engine.containers().length)
    host.kill('SIGKILL')
    expect(await untilEmpty(sleepers)).toEqual([])
    expect(await untilEmpty(left)).toEqual([])
  })
})
