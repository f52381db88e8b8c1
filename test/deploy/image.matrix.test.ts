// The image of deploy/Dockerfile: what is in it, and whether it works under the settings of deploy/docker-compose.yaml
// and deploy/kubernetes.yaml, as far as Podman can imitate Compose and Kubernetes.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'

import type { Diagnosis } from '../../packages/core/src/commands/doctor/doctor-table.js'
import { speakingAs } from '../../packages/team/src/store/index.js'
import { showQuestion } from '../../packages/team/src/store/registry/approvals.js'
import { approveInvocation } from '../../packages/team/src/store/registry/invocations.js'
import { requireEngine, startEngine } from '../../packages/core/test/containers/engine.js'
import type { TestEngine } from '../../packages/core/test/containers/engine.js'

import { asWritten, composeDocument, parseCompose } from './compose-file.js'
import { DEPLOY, deployFile } from './deploy-files.js'
import { openHosts } from './hosts.js'
import type { Container, Hosts } from './hosts.js'
import { BASE, buildImage, imageProblem } from './image.js'
import { kubernetesDocuments, parseKubernetes } from './kubernetes-file.js'
import type { Probe } from './kubernetes-file.js'
import { podWords, serviceWords, toolFiles } from './podman-words.js'
import type { ClusterObjects } from './podman-words.js'

const problem = imageProblem()
const engine = problem === undefined ? await startEngine() : undefined
const image = engine === undefined ? '' : await buildImage(engine)
const hosts = engine === undefined ? undefined : await openHosts(engine, image)
afterEach(() => hosts?.clear())
afterAll(() => hosts?.remove())

test('the image can be built here', (context) => {
  requireEngine(context, engine, problem)
})

const describeHere = (title: string, claims: (engine: TestEngine, hosts: Hosts) => void): void => {
  if (engine !== undefined && hosts !== undefined)
    describe(title, () => {
      claims(engine, hosts)
    })
}

describeHere('the image', ({ command }) => {
  const sh = (script: string): readonly string[] =>
    command('run', '--rm', '--network=none', '--entrypoint=sh', image, '-c', script).split('\n')

  test('starts cordon, as a user who is not root', () => {
    const { User, Entrypoint, Env } = JSON.parse(command('inspect', '--format={{json .Config}}', image)) as {
      readonly User: string
      readonly Entrypoint: readonly string[]
      readonly Env: readonly string[]
    }
    expect({ User, Entrypoint }).toEqual({ User: '1000:1000', Entrypoint: ['cordon'] })
    expect(Env.filter((variable) => !/^(?:PATH|container)=/.test(variable))).toEqual([])
  })

  test('has no compiler, no sources, and no packages that only the build needs', () => {
    const programs = sh('ls /usr/bin /usr/sbin /usr/local/bin')
    expect(programs).toEqual(expect.arrayContaining(['cordon', 'node', 'sh', 'find']))
    expect(programs.filter((name) => /^(?:cc|gcc|g\+\+|cpp|clang|make|as|ld|git)(?:-\d+)?$/.test(name))).toEqual([])
    for (const name of sh('ls -A /opt/cordon')) expect(['src', 'native', 'test', 'deploy', '.git']).not.toContain(name)
    const packages = sh('cd /opt/cordon/node_modules && find . -name package.json -printf "%h\\n"')
    expect(packages).toEqual(expect.arrayContaining(['./graphile-worker', './pg']))
    for (const name of ['vitest', 'eslint', 'esbuild', 'prettier', 'ai']) expect(packages).not.toContain(`./${name}`)
  })

  test('has no program and no file of Cordon that its user can change', () => {
    const writable = sh('find / -xdev -writable -not -type l 2>/dev/null || true')
    expect(writable).toEqual(expect.arrayContaining(['/work', '/var/log/cordon']))
    expect(writable.filter((path) => /^\/(?:bin|etc|lib|opt|sbin|usr)\b/.test(path))).toEqual([])
  })

  test('is less than 150 MB larger than its base', () => {
    const sizeOf = (name: string): number => Number(command('inspect', '--format={{.Size}}', name))
    expect(sizeOf(image) - sizeOf(BASE)).toBeLessThan(150_000_000)
  })
})

/** Two of the hosts. */
const [SERVE, RUNNER] = [0, 1]

/** As an agent asks. Returns the id of the call. */
const askFor = async (asked: { readonly scheme: 'http' | 'https'; readonly host: string; readonly token: string }) => {
  const { status, body } = await (hosts as Hosts).ask(SERVE, {
    ...asked,
    path: '/v1/teams/team/invocations',
    body: JSON.stringify({ tool: 'say', agent: 'agent-1', input: { text: 'heard' } }),
  })
  expect({ status, body }).toMatchObject({ status: 200 })
  return (JSON.parse(body) as { readonly id: string }).id
}

const callOf = async (id: string): Promise<unknown> => {
  const [call] = await (hosts as Hosts).database.query(
    'select status, output, usage from agents.tool_invocations where id = $1',
    [id],
  )
  return call
}

const expectCompleted = async (id: string): Promise<void> => {
  await expect.poll(() => callOf(id)).toMatchObject({ status: 'completed', output: { stdout: 'heard\n' } })
  expect(JSON.stringify(await callOf(id))).toContain('mount-namespace')
}

const tokenFile = (who: string): string => join((hosts as Hosts).folder, 'tokens', `${who}.token`)
const tokenOf = (who: string): string => readFileSync(tokenFile(who), 'utf8').trim()

describeHere('the services of docker-compose.yaml', (_, { folder, database, cordon, run, start }) => {
  const { services } = parseCompose(composeDocument())
  const optionsOf = (name: 'prepare' | 'tokens' | 'serve' | 'runner') => serviceWords(services[name], folder)
  const begin = (name: 'serve' | 'runner', host: number): Container =>
    start(host, optionsOf(name), services[name].command ?? [])
  const cordonAs = (who: string, ...words: readonly string[]): string =>
    cordon(SERVE, ...words, '--server', 'http://127.0.0.1:7070', '--token-file', tokenFile(who))

  beforeAll(() => {
    mkdirSync(join(folder, 'tokens'))
    execFileSync('cp', ['-R', join(DEPLOY, 'tools'), folder])
  })

  test('prepare the database, and make tokens once, without which the server does not start', async () => {
    run(RUNNER, optionsOf('prepare'), services.prepare.command ?? [])
    await database.execute(deployFile('logins.sql'))
    const early = begin('serve', SERVE)
    await expect.poll(early.status).toBe(1)
    const people = ['agent-1', 'anna', 'ada']
    run(RUNNER, optionsOf('tokens'), [])
    const tokens = people.map(tokenOf)
    run(RUNNER, optionsOf('tokens'), [])
    expect(people.map(tokenOf)).toEqual(tokens)
  })

  test('run a call that an agent asks for and a person approves', async () => {
    const serve = begin('serve', SERVE)
    const [, ...asksHealth] = services.serve.healthcheck.test
    await expect.poll(() => serve.exec(...asksHealth)).toBe(0)
    // The two commands that the head of the file has for an admin.
    const [register = '', assign = ''] = Array.from(
      deployFile('docker-compose.yaml').matchAll(/^# {3}cordon (.*) --server \S+ --token-file tokens\/ada\.token$/gm),
      ([, line = '']) => line,
    )
    const [registrations = '', ...registered] = register.split(' | cordon ')
    writeFileSync(join(folder, 'registrations.json'), cordon(SERVE, ...registrations.split(' ')))
    const words = registered.join().replace(' - ', ` ${join(folder, 'registrations.json')} `)
    cordonAs('ada', ...words.split(' '))
    cordonAs('ada', ...assign.split(' '))
    expect(cordonAs('agent-1', 'team', 'tools', 'list')).toContain('say')
    const runner = begin('runner', RUNNER)
    const [, script = ''] = services.runner.healthcheck.test
    await expect.poll(() => runner.exec('sh', '-c', asWritten(script))).toBe(0)
    const id = await askFor({ scheme: 'http', host: '127.0.0.1:7070', token: tokenOf('agent-1') })
    const [hash = ''] = /sha256:[0-9a-f]{64}(?=\s*$)/m.exec(cordonAs('anna', 'approvals', 'show', id)) ?? []
    cordonAs('anna', 'approvals', 'approve', id, '--hash', hash)
    await expectCompleted(id)
    expect(await Promise.all([serve.stop(), runner.stop()])).toEqual([0, 0])
  })
})

describeHere('the pods of kubernetes.yaml', (_, { folder, address, server, database, ask, run, start }) => {
  const { deployments } = parseKubernetes(kubernetesDocuments())
  const [serve, runner] = [deployments.serve.spec.template.spec, deployments.runner.spec.template.spec]
  const objects = (name: string): ClusterObjects => ({
    folder: join(folder, name),
    configMaps: { 'cordon-tools': toolFiles() },
    secrets: {
      'cordon-serve': { database: `postgres://cordon_serve:serve@${address}/cordon` },
      'cordon-runner': { database: `postgres://runner:runner@${address}/cordon` },
      'cordon-serve-tls': certificate(),
    },
  })
  let certified: Readonly<Record<string, string>> | undefined
  const certificate = () => {
    if (certified !== undefined) return certified
    const [cert, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')]
    const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=cordon-serve']
    execFileSync('openssl', ['req', '-x509', ...kind, '-keyout', key, '-out', cert], { stdio: 'pipe' })
    certified = { 'tls.crt': readFileSync(cert, 'utf8'), 'tls.key': readFileSync(key, 'utf8') }
    return certified
  }

  /** As the kubelet asks. */
  const passes = async (container: Container, probe: Probe): Promise<boolean> => {
    if ('exec' in probe) return container.exec(...probe.exec.command) === 0
    const { path, httpHeaders } = probe.httpGet
    const host = httpHeaders.find(({ name }) => name === 'Host')?.value ?? ''
    const { status } = await ask(SERVE, { scheme: 'https', path, host })
    return status >= 200 && status < 400
  }
  const until = async (container: Container, probe: Probe, isPassing: boolean): Promise<void> => {
    // A refused connection is no answer.
    while ((await passes(container, probe).catch(() => false)) !== isPassing) {
      if (container.status() !== undefined) throw new Error(container.logs())
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
  }

  test('doctor finds the namespaces form in the pod of the runner', () => {
    const diagnosis = JSON.parse(run(RUNNER, podWords(runner, objects('doctor')), ['doctor', '--json'])) as Diagnosis
    expect(diagnosis).toMatchObject({ form: 'namespaces', host: { container: expect.any(String) as string } })
  })

  test('a command runs in a cell in the pod of the runner, and reads what it is granted and nothing else', () => {
    const cordonRun = (...words: readonly string[]) =>
      run(RUNNER, podWords(runner, objects(`run-${String(words.length)}`)), ['run', ...words])
    expect(cordonRun('--', 'true')).toBe('')
    expect(cordonRun('--read', '/tools', '--', 'cat', '/tools/say.yaml')).toContain('name: say')
    expect(() => cordonRun('--', 'cat', '/tools/say.yaml')).toThrow(/No such file/)
  })

  test('the server passes its probes, and is not ready while its database is away', async () => {
    const [{ args, startupProbe, livenessProbe, readinessProbe }] = serve.containers
    const container = start(SERVE, podWords(serve, objects('serve')), args)
    await until(container, startupProbe, true)
    await until(container, readinessProbe, true)
    server.stop()
    await until(container, readinessProbe, false)
    expect(await passes(container, livenessProbe)).toBe(true)
    server.start()
    await until(container, readinessProbe, true)
    expect(await container.stop()).toBe(0)
  })

  test('the server refuses a request that is larger than its limit, or is for another host', async () => {
    const container = start(SERVE, podWords(serve, objects('limits')), serve.containers[0].args)
    await until(container, serve.containers[0].readinessProbe, true)
    const token = tokenOf('agent-1')
    const asked = { scheme: 'https', path: '/v1/teams/team/invocations', token } as const
    const most = 4 * 1024 ** 2
    const sizes = [most, most + 1].map((size) => ' '.repeat(size))
    const [fits, isLarger] = await Promise.all(
      sizes.map((body) => ask(SERVE, { ...asked, host: 'cordon-serve', body })),
    )
    expect([fits?.status, isLarger?.status]).toEqual([400, 413])
    expect(await ask(SERVE, { ...asked, host: 'another', body: '{}' })).toMatchObject({ status: 403 })
    expect(await container.stop()).toBe(0)
  })

  test('the runner passes its probes, runs a call, and is alive and not ready while its database is away', async () => {
    const [{ args, startupProbe, livenessProbe, readinessProbe }] = runner.containers
    // So that a silence of seconds counts.
    const options = [...podWords(runner, objects('runner')), '--env=CORDON_RUNNER_SILENT_MS=4000']
    const container = start(RUNNER, options, args)
    const serving = start(SERVE, podWords(serve, objects('serving')), serve.containers[0].args)
    await until(container, startupProbe, true)
    await until(container, readinessProbe, true)
    await until(serving, serve.containers[0].readinessProbe, true)
    const id = await askFor({ scheme: 'https', host: 'cordon-serve', token: tokenOf('agent-1') })
    const anna = speakingAs(database, { kind: 'gateway', role: 'cordon_operator', actor: 'anna' })
    await approveInvocation(anna, id, (await showQuestion(anna, id)).question.argumentsHash)
    await expectCompleted(id)
    // The first process of a container has to wait for all that lose their parent.
    expect(container.exec('sh', '-c', 'grep -q "^State:.Z" /proc/[0-9]*/status')).toBe(1)
    server.stop()
    await until(container, readinessProbe, false)
    expect(await passes(container, livenessProbe)).toBe(true)
    server.start()
    await until(container, readinessProbe, true)
    expect(await Promise.all([container.stop(), serving.stop()])).toEqual([0, 0])
  })
})
