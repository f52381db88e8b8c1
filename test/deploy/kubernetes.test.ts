// deploy/kubernetes.yaml has what a pod of Cordon needs, and no key that Kubernetes does not know.
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { readAs } from '../cli/helps.js'

import { DEPLOY, deployFile } from './deploy-files.js'
import { kubernetesDocuments, parseKubernetes } from './kubernetes-file.js'

const { deployments, service, networkPolicies } = parseKubernetes(kubernetesDocuments())
const PODS = Object.entries(deployments).map(([name, { spec }]) => ({ name, spec: spec.template.spec }))

const bytesOf = (text: string): number =>
  Number.parseInt(text) * (text.endsWith('Gi') ? 1024 ** 3 : text.endsWith('Mi') ? 1024 ** 2 : Number.NaN)

type Changeable = Record<string, unknown>

/** Every object in a value, with its place. */
const objectsIn = (value: unknown, at = ''): readonly (readonly [string, Changeable])[] => {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.entries(value).flatMap(([key, each]) => objectsIn(each, `${at}/${key}`))
  return Array.isArray(value) ? inner : [[at, value as Changeable], ...inner]
}

/** Objects whose keys are names of the author. */
const HAS_OWN_NAMES = /(?:abels|selector)$/

test('a key that Kubernetes does not know is found, wherever it is', () => {
  const places = objectsIn(kubernetesDocuments()).map(([at]) => at)
  expect(places.length).toBeGreaterThan(100)
  const missed = places.filter((at) => {
    const documents = kubernetesDocuments()
    const [, object] = objectsIn(documents).find(([place]) => place === at) ?? []
    if (object === undefined || HAS_OWN_NAMES.test(at)) return false
    object['unknwon'] = true
    try {
      parseKubernetes(documents)
      return true
    } catch {
      return false
    }
  })
  expect(missed).toEqual([])
})

test.each([
  ...['startupProbe', 'livenessProbe', 'readinessProbe', 'resources', 'securityContext', 'runAsNonRoot'],
  ...['ephemeral-storage', 'memory', 'cpu', 'sizeLimit', 'seccompProfile', 'policyTypes', 'readOnlyRootFilesystem'],
])('%s cannot be left out', (key) => {
  const documents = kubernetesDocuments()
  const holder = objectsIn(documents).find(([, object]) => key in object)?.[1] ?? {}
  expect(holder).toHaveProperty([key])
  Reflect.deleteProperty(holder, key)
  expect(() => parseKubernetes(documents)).toThrow()
})

describe.each(PODS)('the pod of $name', ({ name, spec }) => {
  const [{ args, env, livenessProbe, readinessProbe, startupProbe, resources, volumeMounts }] = spec.containers
  const options = readAs(args)

  test('is started with options that exist', () => {
    expect(args[0]).toBe(name)
    expect(options.rest).toEqual([])
  })

  test('mounts the volumes that it has, and limits those that it writes to', () => {
    expect(volumeMounts.map((mount) => mount.name)).toEqual(spec.volumes.map((volume) => volume.name))
    for (const volume of spec.volumes) {
      const { readOnly } = volumeMounts.find((mount) => mount.name === volume.name) ?? {}
      expect({ volume, readOnly }).toEqual({ volume, readOnly: 'emptyDir' in volume ? undefined : true })
    }
    const sizes = spec.volumes.flatMap((volume) => ('emptyDir' in volume ? [bytesOf(volume.emptyDir.sizeLimit)] : []))
    const written = sizes.reduce((sum, size) => sum + size, 0)
    expect(written).toBeLessThan(bytesOf(resources.limits['ephemeral-storage']))
  })

  test('asks for no more than its limits', () => {
    for (const key of ['memory', 'ephemeral-storage'] as const)
      expect(bytesOf(resources.requests[key])).toBeLessThanOrEqual(bytesOf(resources.limits[key]))
  })

  test('is restarted only by a probe that needs no database', () => {
    expect(startupProbe).toMatchObject('exec' in livenessProbe ? { exec: livenessProbe.exec } : {})
    expect(JSON.stringify(readinessProbe)).toMatch(/healthz|health\/ready/)
    for (const probe of [livenessProbe, startupProbe])
      expect(JSON.stringify(probe)).toMatch(/openapi\.json|health\/alive/)
  })

  test('gets the URL of the database from a secret that the head of the file creates', () => {
    const url = env.find((variable) => variable.name === 'CORDON_DATABASE')
    expect(url).toMatchObject({ valueFrom: { secretKeyRef: { key: 'database' } } })
    expect(deployFile('kubernetes.yaml')).toContain(`create secret generic cordon-${name} --from-literal=database=`)
  })
})

test('probes name a host that the server accepts', () => {
  const [{ args, ports = [], livenessProbe, readinessProbe, startupProbe }] =
    deployments.serve.spec.template.spec.containers
  const { values } = readAs(args)
  for (const probe of [livenessProbe, readinessProbe, startupProbe]) {
    if (!('httpGet' in probe)) throw new Error('the server is asked over HTTP')
    expect(values.get('host')).toContain(probe.httpGet.httpHeaders.find(({ name }) => name === 'Host')?.value)
    expect(ports.map(({ name }) => name)).toContain(probe.httpGet.port)
  }
  expect(values.get('listen')).toEqual([`0.0.0.0:${String(ports[0]?.containerPort)}`])
  expect(values.get('host')).toContain(`${service.metadata.name}.${service.metadata.namespace}.svc`)
  expect(service.spec.ports.map(({ targetPort }) => targetPort)).toEqual(ports.map(({ name }) => name))
})

test('the size of requests and of answers is limited', () => {
  const [{ args }] = deployments.serve.spec.template.spec.containers
  const { values } = readAs(args)
  for (const option of ['max-body', 'max-answer', 'connections']) expect(values.get(option)).toHaveLength(1)
})

test('the runner has the seccomp profile of deploy/', () => {
  const { seccompProfile } = deployments.runner.spec.template.spec.securityContext
  if (seccompProfile.type !== 'Localhost') throw new Error('it has another profile')
  expect(existsSync(join(DEPLOY, seccompProfile.localhostProfile))).toBe(true)
})

test('the folder of the probes of the runner is the one that it writes', () => {
  const [{ args, livenessProbe, readinessProbe, volumeMounts }] = deployments.runner.spec.template.spec.containers
  const [folder = ''] = readAs(args).values.get('health') ?? []
  expect(volumeMounts.map(({ mountPath }) => mountPath)).toContain(dirname(folder))
  expect(JSON.stringify(livenessProbe)).toContain(`${folder}/alive`)
  expect(JSON.stringify(readinessProbe)).toContain(`${folder}/ready`)
})

// A volume of the kind emptyDir has the mode 0777, and Cordon refuses to keep its log in such a folder.
test('the audit log is in a folder inside a volume, and not in the volume itself', () => {
  const [{ env, volumeMounts }] = deployments.runner.spec.template.spec.containers
  const log = env.find(({ name }) => name === 'CORDON_AUDIT')
  const folder = dirname(log !== undefined && 'value' in log ? log.value : '')
  const volumes = volumeMounts.map(({ mountPath }) => mountPath)
  expect(volumes).toContain(dirname(folder))
  expect(volumes).not.toContain(folder)
})

test('selectors find the pods that they mean', () => {
  for (const { spec } of Object.values(deployments))
    expect(spec.selector.matchLabels).toEqual(spec.template.metadata.labels)
  expect(service.spec.selector).toEqual(deployments.serve.spec.template.metadata.labels)
})

describe('the network policies', () => {
  const [rest, ...ofPods] = networkPolicies

  test('refuse to every pod what no policy of its own permits', () => {
    expect(rest.spec).toEqual({ podSelector: {}, policyTypes: ['Ingress', 'Egress'] })
    expect(ofPods.map(({ spec }) => spec.podSelector)).toEqual(
      Object.values(deployments).map(({ spec }) => spec.selector),
    )
  })

  test('let in clients of the server alone, at its port', () => {
    const [serve, runner] = ofPods
    const [rule, ...more] = serve.spec.ingress ?? []
    expect(more).toEqual([])
    expect(rule?.ports).toEqual([{ protocol: 'TCP', port: 'https' }])
    expect(runner.spec).not.toHaveProperty('ingress')
  })

  test('let tools reach public addresses, and neither private ones nor that of the metadata of a cloud', () => {
    const blocks = ofPods.flatMap(({ spec }) =>
      (spec.egress ?? []).flatMap(({ to = [] }) => to.flatMap((peer) => ('ipBlock' in peer ? [peer.ipBlock] : []))),
    )
    expect(blocks).toHaveLength(1)
    const withheld = ['10.0.0.0/8', '100.64.0.0/10', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16']
    expect(blocks[0]?.except).toEqual(withheld)
  })
})
