// `cordon run --backend container` on a real engine: grants, streams, signals, records, and what is left of a run.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

import { afterAll, beforeEach, describe, expect, test } from 'vitest'

import { IN_MATRIX } from '../../../../test/turns.js'
import { CORDON, cordonBeside, temporaryFolder } from '../cli/cordon.js'
import type { Ran, RunOptions } from '../cli/cordon.js'
import { OWN_FOLDERS } from '../cli/own-folders.js'
import { echo, serverAuthority, startHttps } from '../egress/servers.js'
import { ENDS_WHAT_HANGS_MS } from '../../../../test/hanging.js'
import { needs } from '../../../../test/requirement.js'

import { engineProblem, makeImageRoot, startEngine } from './engine.js'

const problem = engineProblem()
const engine = problem === undefined ? await startEngine() : undefined
const PROGRAMS = ['sh', 'cat', 'env', 'rm', 'sleep', 'curl', 'sha256sum', 'seq', 'head']
const image =
  engine === undefined ? '' : engine.image(makeImageRoot(join(engine.folder, 'root'), PROGRAMS), ['ENV OF_IMAGE=yes'])

beforeEach((context) => {
  needs(context, engine !== undefined, problem ?? '')
})

const folder = temporaryFolder()
const environment = { DOCKER_HOST: `unix://${engine?.socket ?? ''}` }
const wordsOf = (options: readonly string[], command: readonly string[]) => [
  ...['run', '--backend', 'container', '--image', image],
  ...options,
  '--',
  ...command,
]

const inContainer = (
  options: readonly string[],
  command: readonly string[],
  given: Pick<RunOptions, 'input' | 'cwd' | 'environment'> = {},
): Promise<Ran> =>
  cordonBeside(wordsOf(options, command), {
    input: '',
    ...given,
    environment: { ...environment, ...given.environment },
  })

/** Still running. */
const start = (options: readonly string[], command: readonly string[]) => {
  const child = spawn(process.execPath, [CORDON, ...wordsOf(options, command)], {
    timeout: ENDS_WHAT_HANGS_MS,
    cwd: '/',
    env: { PATH: '/usr/bin:/bin', HOME: folder, ...OWN_FOLDERS, ...environment },
  })
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  return { child, ended }
}

const nothingLeft = async (): Promise<void> => {
  for (let tries = 0; tries < 100 && engine?.containers().length !== 0; tries += 1) await wait(50)
  expect(engine?.containers()).toEqual([])
}

describe('a command of an image', () => {
  test('runs with the variables of the image, and passes on its output and exit status', async () => {
    const ran = await inContainer([], ['sh', '-c', 'cat /etc/image-file; echo $OF_IMAGE; echo said >&2; exit 7'])
    expect(ran).toMatchObject({ status: 7, stdout: 'of the image\nyes\n' })
    expect(ran.stderr).toContain('said\n')
    await nothingLeft()
  })

  test('reads a granted file of the host, and no other', IN_MATRIX, async () => {
    const [granted, other] = [join(folder, 'granted'), join(folder, 'other')]
    writeFileSync(granted, 'GRANTED\n')
    writeFileSync(other, 'SECRET\n')
    expect(await inContainer(['--read', granted], ['cat', granted])).toMatchObject({ status: 0, stdout: 'GRANTED\n' })
    const refused = await inContainer(['--read', granted], ['cat', other], { cwd: folder })
    expect(refused).toMatchObject({ status: 1, stdout: '' })
    expect(refused.stderr).toContain(`${other} exists, but is not granted: add --read ${other}`)
  })

  test('begins in the folder of the run, if something in it is granted', IN_MATRIX, async () => {
    writeFileSync(join(folder, 'granted'), 'GRANTED\n')
    const run = (...options: readonly string[]) => inContainer(options, ['cat', 'granted'], { cwd: folder })
    expect(await run('--read', 'granted')).toMatchObject({ status: 0, stdout: 'GRANTED\n' })
    expect(await run()).toMatchObject({ status: 1, stdout: '' })
  })

  test('writes into a granted folder, and not into one that is granted for reading', IN_MATRIX, async () => {
    const place = join(folder, 'made')
    const command = ['sh', '-c', `echo made > ${place}`]
    expect((await inContainer(['--read', folder], command)).status).not.toBe(0)
    expect(await inContainer(['--write', folder], command)).toMatchObject({ status: 0 })
    expect(readFileSync(place, 'utf8')).toBe('made\n')
  })

  test(
    'that used a path of the image gets a hint about its working directory, and that images stay unchanged',
    IN_MATRIX,
    async () => {
      writeFileSync(join(folder, 'in-folder'), 'x\n')
      const missing = await inContainer([], ['sh', '-c', 'cat in-folder'], { cwd: folder })
      expect(missing.stderr).toContain(`${folder} is not granted, so the command ran in / of the image: add --read .`)
      const granted = await inContainer(['--read', 'in-folder'], ['cat', 'in-folder', 'no-such'], { cwd: folder })
      expect(granted).toMatchObject({ status: 1, stdout: 'x\n' })
      expect(granted.stderr).not.toContain('of the image')
      const { stderr } = await inContainer([], ['sh', '-c', 'echo x > /etc/new'])
      expect(stderr).toContain('refused write of /etc/new, a path of the image')
      expect(stderr).not.toContain('add --write')
    },
  )

  test('that could not change or remove a protected name gets its path', IN_MATRIX, async () => {
    const file = join(folder, 'package.json')
    writeFileSync(file, '{}\n')
    for (const script of [`echo x > ${file}`, `rm ${file}`]) {
      const { stderr } = await inContainer(['--write', folder], ['sh', '-c', script])
      expect(stderr).toContain(`refused write of ${file} (protected`)
    }
    expect(readFileSync(file, 'utf8')).toBe('{}\n')
  })

  test('gets the granted variables, and no others', IN_MATRIX, async () => {
    const given = { environment: { GIVEN: 'one', WITHHELD: 'two' } }
    const { stdout } = await inContainer(['--env', 'GIVEN', '--env', 'SET=three'], ['env'], given)
    expect(stdout).toContain('GIVEN=one\n')
    expect(stdout).toContain('SET=three\n')
    expect(stdout).not.toContain('WITHHELD')
  })

  test('is ended by its time limit with the status of a timeout', IN_MATRIX, async () => {
    expect(await inContainer(['--timeout', '500ms'], ['sleep', '600'])).toMatchObject({ status: 124 })
    expect(await inContainer(['--timeout', '10m'], ['sleep', '0.1'])).toMatchObject({ status: 0 })
    await nothingLeft()
  })
})

describe('the network of a command of an image', async () => {
  const HOST = 'api.test'
  const server = await startHttps(echo, { host: HOST })
  afterAll(() => server.close())
  const authority = join(folder, 'authority.pem')
  writeFileSync(authority, serverAuthority.certificate)
  const port = String(server.port)
  const network = [...['--net', `${HOST}:${port}`, '--upstream-ca', authority], ...['--resolve', `${HOST}=127.0.0.1`]]
  /** Curl knows of no proxy. */
  const curl = (host: string) => ['sh', '-c', `env -u HTTPS_PROXY -u https_proxy curl -sS https://${host}:${port}/word`]

  test('has a granted host, also for a program that knows no proxy, and no other host', async () => {
    const granted = await inContainer(network, curl(HOST))
    expect(granted).toMatchObject({ status: 0 })
    expect(granted.stdout).toContain('/word')
    const other = await inContainer(network, curl('other.test'))
    expect(other.status).not.toBe(0)
    expect(other.stderr).toContain('other.test')
    expect((await inContainer([], curl(HOST))).status).not.toBe(0)
  })
})

describe('the streams of a command of an image', () => {
  test('its input is what is piped to cordon, whole and unchanged', async () => {
    const input = Buffer.alloc(3 * 1024 * 1024, 'abcdefghijklmnop')
    const [ours, its] = await Promise.all([
      inContainer([], ['sha256sum'], { input }),
      inContainer([], ['sh', '-c', 'head -c 5; cat > /dev/null'], { input }),
    ])
    expect(ours.stdout).toMatch(/^[0-9a-f]{64} /)
    expect(ours.stdout).toContain(createHash('sha256').update(input).digest('hex'))
    expect(its).toMatchObject({ status: 0, stdout: 'abcde' })
  })

  test('each line arrives while the command waits for the next one', IN_MATRIX, async () => {
    const { child, ended } = start([], ['cat'])
    const heard: string[] = []
    child.stdout.setEncoding('utf8').on('data', (text: string) => heard.push(text))
    for (const line of ['one\n', 'two\n']) {
      child.stdin.write(line)
      while (!heard.join('').endsWith(line) && child.exitCode === null) await wait(20)
    }
    child.stdin.end()
    expect(await ended).toBe(0)
    expect(heard.join('')).toBe('one\ntwo\n')
  })

  test('a reader that goes away ends the command', IN_MATRIX, async () => {
    const { child, ended } = start([], ['seq', '1', '100000000'])
    child.stdout.once('data', () => child.stdout.destroy())
    expect(await ended).not.toBe(0)
    await nothingLeft()
  })
})

describe('signals', () => {
  const untilSaid = (child: ReturnType<typeof start>['child']) =>
    new Promise((resolve) => child.stdout.once('data', resolve))

  test('SIGTERM goes to the command, whose own end counts', IN_MATRIX, async () => {
    const { child, ended } = start(
      [],
      ['sh', '-c', 'trap "echo told; exit 9" TERM; echo ready; while :; do sleep 0.1; done'],
    )
    const text: string[] = []
    child.stdout.setEncoding('utf8').on('data', (piece: string) => text.push(piece))
    await untilSaid(child)
    child.kill('SIGTERM')
    expect(await ended).toBe(9)
    expect(text.join('')).toBe('ready\ntold\n')
    await nothingLeft()
  })

  test('the second SIGTERM kills a command that ignores the first', IN_MATRIX, async () => {
    const { child, ended } = start([], ['sh', '-c', 'trap "echo no" TERM; echo ready; while :; do sleep 0.1; done'])
    await untilSaid(child)
    child.kill('SIGTERM')
    await untilSaid(child)
    child.kill('SIGTERM')
    expect(await ended).toBe(137)
    await nothingLeft()
  })

  test.for([0, 200, 500])('SIGTERM %s ms after a container exists leaves none', IN_MATRIX, async (later) => {
    const { child, ended } = start([], ['sleep', '600'])
    while (engine?.containers().length === 0 && child.exitCode === null) await wait(5)
    await wait(later)
    child.kill('SIGTERM')
    expect(await ended).toBe(143)
    expect(engine?.containers()).toEqual([])
  })

  test('SIGKILL of cordon leaves no container', async () => {
    const { child, ended } = start([], ['sh', '-c', 'echo ready; sleep 600'])
    await untilSaid(child)
    child.kill('SIGKILL')
    await ended
    await nothingLeft()
  })
})

describe('the record of a command of an image', () => {
  test('names the image, the container and what enforced the grants', async () => {
    const ran = await inContainer(['--json', '--read', folder], ['sh', '-c', 'exit 3'])
    expect(JSON.parse(ran.stderr)).toMatchObject({
      sandbox_profile: {
        backend: 'container',
        image: image.startsWith('sha256:') ? image : `sha256:${image}`,
        read_roots: [folder],
        enforced: { network: expect.arrayContaining(['container: network-namespace']) as string[] },
      },
      result: { status: 'exited', exit_code: 3 },
    })
    const why = await cordonBeside(['why', 'last'], { input: '' })
    expect(why.stdout).toMatch(/boundary +container, landlock/)
    expect(why.stdout).toMatch(new RegExp(`^image +(?:sha256:)?${image}$`, 'm'))
  })

  test('names the image before the run, with --dry-run', async () => {
    const dry = await inContainer(['--dry-run'], ['sh'])
    expect(dry.status).toBe(0)
    expect(dry.stdout).toMatch(new RegExp(`^  image +${image}$`, 'm'))
    expect(engine?.containers()).toEqual([])
  })

  test(
    'a rule about a program of this host does not count for one of an image, and can name the image',
    IN_MATRIX,
    async () => {
      const rule = (program: string) =>
        `rules: [{ effect: deny, tool: "cordon:run", arguments: { program: "${program}" }, because: test }]`
      const file = join(folder, 'rules.yaml')
      writeFileSync(file, rule('/bin/env'))
      expect((await inContainer(['--rules', file], ['/bin/env'])).status).toBe(0)
      writeFileSync(file, rule(`${image} *`))
      const denied = await inContainer(['--rules', file], ['env'])
      expect(denied).toMatchObject({ status: 125, stdout: '' })
      expect(denied.stderr).toContain('rule-denied')
    },
  )
})

describe('what is refused, with the fix', () => {
  test.for<[string, readonly string[], string]>([
    ['an image without the backend', ['run', '--image', 'any', '--', 'true'], '--backend container --image any'],
    ['the backend without an image', ['run', '--backend', 'container', '--', 'true'], '--image NAME'],
    ['a form', ['run', '--backend', 'container', '--image', 'any', '--form', 'landlock', '--', 'true'], '--form'],
    ['a server in a container', ['mcp', '--backend', 'container', '--', 'true'], 'cordon run --backend container'],
  ])('%s', async ([, words, fix]) => {
    const { status, stderr } = await cordonBeside(words, { input: '' })
    expect(status).toBe(125)
    expect(stderr).toContain(fix)
  })

  test.for<[string, readonly string[], readonly string[], string, number]>([
    ['all of the network', ['--net', 'all'], ['env'], 'network-grant-unsupported', 125],
    ['a list of programs', ['--exec', 'env'], ['env'], 'grant-inexpressible', 125],
    ['a program that the image does not have', [], ['git'], 'program-not-found', 127],
  ])('%s', async ([, options, command, code, status]) => {
    const ran = await inContainer(options, command)
    expect(ran).toMatchObject({ status, stdout: '' })
    expect(ran.stderr).toContain(code)
    expect(ran.stderr).toMatch(/^fix: \w/m)
    await nothingLeft()
  })

  test('an image that the engine does not have, and a socket where no engine is', IN_MATRIX, async () => {
    const unknown = await cordonBeside(
      ['run', '--backend', 'container', '--image', 'localhost/unknown', '--', 'true'],
      { input: '', environment },
    )
    expect(unknown.stderr).toContain('image-missing')
    const nowhere = await inContainer([], ['env'], { environment: { DOCKER_HOST: `unix://${folder}/none.sock` } })
    expect(nowhere).toMatchObject({ status: 125 })
    expect(nowhere.stderr).toContain('container-engine-missing')
    const overTcp = await inContainer([], ['env'], { environment: { DOCKER_HOST: 'tcp://127.0.0.1:2375' } })
    expect(overTcp.stderr).toContain('was found at DOCKER_HOST, which names no unix socket')
  })
})
