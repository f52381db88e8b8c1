// deploy/kubernetes.yaml as typed values. The shapes have the properties that every container needs, and no others:
// Kubernetes itself would only warn of a key that it does not know.
import { z } from 'zod'

import { readDocument } from '../../packages/core/src/policy/index.js'

import { IMAGE, deployFile } from './deploy-files.js'

const count = z.int().positive()
const texts = z.array(z.string()).min(1)
const labels = z.record(z.string(), z.string())
const named = z.strictObject({ name: z.string(), namespace: z.literal('cordon') })

const timing = { periodSeconds: count, timeoutSeconds: count, failureThreshold: count }
const command = z.strictObject({ command: texts })
const httpGet = z.strictObject({
  path: z.string().startsWith('/'),
  port: z.string(),
  scheme: z.literal('HTTPS'),
  httpHeaders: z.array(z.strictObject({ name: z.string(), value: z.string() })),
})
const probe = z.union([z.strictObject({ exec: command, ...timing }), z.strictObject({ httpGet, ...timing })])

const cpu = z.string().regex(/^\d+m?$/)
const bytes = z.string().regex(/^\d+[MG]i$/)
const resources = z.strictObject({ cpu, 'memory': bytes, 'ephemeral-storage': bytes })

const variable = z.union([
  z.strictObject({ name: z.string(), value: z.string() }),
  z.strictObject({
    name: z.string(),
    valueFrom: z.strictObject({ secretKeyRef: z.strictObject({ name: z.string(), key: z.string() }) }),
  }),
])

const container = z.strictObject({
  name: z.string(),
  image: z.literal(`registry.example/${IMAGE}`),
  args: texts,
  env: z.array(variable),
  ports: z.array(z.strictObject({ name: z.string(), containerPort: count })).optional(),
  startupProbe: probe,
  livenessProbe: probe,
  readinessProbe: probe,
  lifecycle: z.strictObject({ preStop: z.strictObject({ exec: command }) }).optional(),
  securityContext: z.strictObject({
    allowPrivilegeEscalation: z.literal(false),
    readOnlyRootFilesystem: z.literal(true),
    capabilities: z.strictObject({ drop: z.tuple([z.literal('ALL')]) }),
  }),
  resources: z.strictObject({ requests: resources, limits: resources }),
  volumeMounts: z.array(
    z.strictObject({ name: z.string(), mountPath: z.string().startsWith('/'), readOnly: z.literal(true).optional() }),
  ),
})

/** The standard `restricted` permits these kinds and a few others. */
const volume = z.union([
  z.strictObject({ name: z.string(), configMap: z.strictObject({ name: z.string() }) }),
  z.strictObject({ name: z.string(), secret: z.strictObject({ secretName: z.string(), defaultMode: count }) }),
  z.strictObject({ name: z.string(), emptyDir: z.strictObject({ sizeLimit: bytes }) }),
])

const pod = z.strictObject({
  automountServiceAccountToken: z.literal(false),
  enableServiceLinks: z.literal(false),
  terminationGracePeriodSeconds: count,
  securityContext: z.strictObject({
    runAsNonRoot: z.literal(true),
    runAsUser: count,
    runAsGroup: count,
    fsGroup: count,
    seccompProfile: z.union([
      z.strictObject({ type: z.literal('RuntimeDefault') }),
      z.strictObject({ type: z.literal('Localhost'), localhostProfile: z.string() }),
    ]),
  }),
  containers: z.tuple([container]),
  volumes: z.array(volume),
})

const namespace = z.strictObject({
  apiVersion: z.literal('v1'),
  kind: z.literal('Namespace'),
  metadata: z.strictObject({
    name: z.literal('cordon'),
    labels: z.strictObject({ 'pod-security.kubernetes.io/enforce': z.literal('restricted') }),
  }),
})

const deployment = z.strictObject({
  apiVersion: z.literal('apps/v1'),
  kind: z.literal('Deployment'),
  metadata: named,
  spec: z.strictObject({
    replicas: count,
    selector: z.strictObject({ matchLabels: labels }),
    template: z.strictObject({ metadata: z.strictObject({ labels }), spec: pod }),
  }),
})

const service = z.strictObject({
  apiVersion: z.literal('v1'),
  kind: z.literal('Service'),
  metadata: named,
  spec: z.strictObject({
    selector: labels,
    ports: z.array(z.strictObject({ name: z.string(), port: count, targetPort: z.string() })),
  }),
})

const selector = z.strictObject({ matchLabels: labels })
const peer = z.union([
  z.strictObject({ namespaceSelector: selector, podSelector: selector.optional() }),
  z.strictObject({ ipBlock: z.strictObject({ cidr: z.string(), except: texts }) }),
])
const ports = z.array(z.strictObject({ protocol: z.enum(['TCP', 'UDP']), port: z.union([count, z.string()]) })).min(1)
const networkPolicy = z.strictObject({
  apiVersion: z.literal('networking.k8s.io/v1'),
  kind: z.literal('NetworkPolicy'),
  metadata: named,
  spec: z.strictObject({
    podSelector: z.union([selector, z.strictObject({})]),
    policyTypes: z.tuple([z.literal('Ingress'), z.literal('Egress')]),
    ingress: z.array(z.strictObject({ from: z.array(peer).min(1), ports })).optional(),
    egress: z.array(z.strictObject({ to: z.array(peer).min(1).optional(), ports })).optional(),
  }),
})

const file = z.tuple([namespace, deployment, service, deployment, networkPolicy, networkPolicy, networkPolicy])

export type Pod = z.infer<typeof pod>
export type Probe = z.infer<typeof probe>

export interface KubernetesFile {
  readonly deployments: Readonly<Record<'serve' | 'runner', z.infer<typeof deployment>>>
  readonly service: z.infer<typeof service>
  /** The one for all pods, that of the server and that of the runner. */
  readonly networkPolicies: readonly [NetworkPolicy, NetworkPolicy, NetworkPolicy]
}
type NetworkPolicy = z.infer<typeof networkPolicy>

/** The documents of the file, before anything is known of them. */
export const kubernetesDocuments = (): readonly unknown[] =>
  deployFile('kubernetes.yaml')
    .split('\n---\n')
    .map((text) => readDocument(text, 'kubernetes.yaml').value)

export const parseKubernetes = (documents: readonly unknown[]): KubernetesFile => {
  const [, serve, access, runner, ...networkPolicies] = file.parse(documents)
  return { deployments: { serve, runner }, service: access, networkPolicies }
}
