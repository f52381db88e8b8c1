// The settings of deploy/kubernetes.yaml and deploy/docker-compose.yaml as words of `podman run`.
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { asWritten } from './compose-file.js'
import type { CordonService } from './compose-file.js'
import { DEPLOY, deployFile } from './deploy-files.js'
import type { Pod } from './kubernetes-file.js'

/** By the names of the objects that the head of kubernetes.yaml creates. */
export interface ClusterObjects {
  readonly secrets: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly configMaps: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** For files of volumes. */
  readonly folder: string
}

/**
 * The pod's only container. Podman does not imitate: what an emptyDir on a disk is, the eviction of a pod that writes
 * too much, the mode of its volumes, and network policies.
 */
export const podWords = (pod: Pod, { secrets, configMaps, folder }: ClusterObjects): readonly string[] => {
  const [{ env, resources, volumeMounts }] = pod.containers
  const { runAsUser, runAsGroup, fsGroup, seccompProfile } = pod.securityContext
  const memory = resources.limits.memory.toLowerCase().replace('i', '')
  const cpu = resources.limits.cpu
  return [
    `--user=${String(runAsUser)}:${String(runAsGroup)}`,
    `--group-add=${String(fsGroup)}`,
    ...(seccompProfile.type === 'Localhost'
      ? [`--security-opt=seccomp=${join(DEPLOY, seccompProfile.localhostProfile)}`]
      : []),
    '--security-opt=no-new-privileges',
    '--cap-drop=all',
    '--read-only',
    '--read-only-tmpfs=false',
    `--memory=${memory}`,
    `--memory-swap=${memory}`,
    `--cpus=${cpu.endsWith('m') ? String(Number.parseInt(cpu) / 1000) : cpu}`,
    ...env.map((variable) => {
      if ('value' in variable) return `--env=${variable.name}=${variable.value}`
      const { name, key } = variable.valueFrom.secretKeyRef
      return `--env=${variable.name}=${secrets[name]?.[key] ?? missing(`the secret ${name}`)}`
    }),
    ...volumeMounts.map(({ name, mountPath }) => {
      const volume = pod.volumes.find((each) => each.name === name) ?? missing(`the volume ${name}`)
      if ('emptyDir' in volume) {
        const size = volume.emptyDir.sizeLimit.toLowerCase().replace('i', '')
        return `--tmpfs=${mountPath}:rw,exec,mode=0777,size=${size},notmpcopyup`
      }
      const files = 'secret' in volume ? secrets[volume.secret.secretName] : configMaps[volume.configMap.name]
      return `--volume=${projected(join(folder, name), files ?? missing(name))}:${mountPath}:ro`
    }),
  ]
}

/** As the kubelet lays out the files of a volume: links to a folder that it can replace at once. */
const projected = (folder: string, files: Readonly<Record<string, string>>): string => {
  mkdirSync(join(folder, '..2026_11_19'), { recursive: true })
  symlinkSync('..2026_11_19', join(folder, '..data'))
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(folder, '..2026_11_19', name), content)
    symlinkSync(join('..data', name), join(folder, name))
  }
  return folder
}

const missing = (what: string): never => {
  throw new Error(`there is no ${what}`)
}

/** `deploy/tools` as `kubectl create configmap --from-file` reads it. */
export const toolFiles = (): Readonly<Record<string, string>> =>
  Object.fromEntries(readdirSync(join(DEPLOY, 'tools')).map((name) => [name, deployFile(join('tools', name))]))

/** `folder`: where the service finds `./` and its named volumes. */
export const serviceWords = (service: CordonService, folder: string): readonly string[] => {
  const { user, environment = {}, volumes = [], tmpfs, security_opt: options } = service
  return [
    ...(user === undefined ? [] : [`--user=${user}`]),
    '--read-only',
    '--read-only-tmpfs=false',
    '--cap-drop=all',
    ...options.map((option) => `--security-opt=${option.replace('=./', `=${DEPLOY}/`)}`),
    `--memory=${service.mem_limit}`,
    `--memory-swap=${service.mem_limit}`,
    `--cpus=${String(service.cpus)}`,
    `--pids-limit=${String(service.pids_limit)}`,
    ...Object.entries(environment).map(([name, value]) => `--env=${name}=${value}`),
    ...tmpfs.map((words) => `--tmpfs=${words},notmpcopyup`),
    ...volumes.map((words) => {
      const [from = '', to, ...mode] = words.split(':')
      // A named volume, or one without a name, begins as the folder of the image.
      if (!from.startsWith('.')) return `--volume=${words}`
      return `--volume=${[join(folder, from), to, ...mode].join(':')}`
    }),
    ...(service.entrypoint === undefined ? [] : [`--entrypoint=${JSON.stringify(service.entrypoint.map(asWritten))}`]),
  ]
}
