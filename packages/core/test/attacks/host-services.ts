// Processes of the host that attacks try to reach. The first line of each says where it listens, the last what
// reached it.
import { spawn } from 'node:child_process'
import type { ChildProcessByStdio } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'

import { afterEach } from 'vitest'

import { programs } from './harness.js'

type Service = ChildProcessByStdio<Writable, Readable, null>

const running = new Set<Service>()

afterEach(() => {
  for (const service of running) service.kill('SIGKILL')
  running.clear()
})

interface Started {
  readonly first: string
  /** Closes its input and returns its last line. */
  readonly finish: () => Promise<string>
}

const start = async (
  name: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Started> => {
  const [program] = programs.command(name)
  const service = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, ...env } })
  running.add(service)
  const lines: string[] = []
  let arrived = (): void => undefined
  createInterface({ input: service.stdout }).on('line', (line) => {
    lines.push(line)
    arrived()
  })
  const line = async (index: number): Promise<string> => {
    for (;;) {
      const found = lines[index]
      if (found !== undefined) return found
      await new Promise<void>((resolve, reject) => {
        arrived = resolve
        service.once('error', reject)
        service.once('exit', (code) => {
          // What it printed last may still be on its way through the pipe.
          setTimeout(() => {
            if (lines[index] === undefined) reject(new Error(`${name} ended with ${String(code)}`))
            else resolve()
          }, 100)
        })
      })
    }
  }
  const first = await line(0)
  return {
    first,
    finish: async () => {
      service.stdin.end()
      const last = await line(1)
      running.delete(service)
      return last
    },
  }
}

export interface Listeners {
  readonly tcp: number
  readonly udp: number
  readonly abstract: string
  /** How many connections and datagrams came, by kind. */
  readonly arrivals: () => Promise<Readonly<Record<string, number>>>
}

export const startListeners = async (folder: string): Promise<Listeners> => {
  const abstract = `cordon-${String(process.pid)}-${Math.random().toString(36).slice(2)}`
  const service = await start('host-listeners', [folder, abstract])
  return {
    ...(JSON.parse(service.first) as { tcp: number; udp: number }),
    abstract,
    arrivals: async () => JSON.parse(await service.finish()) as Record<string, number>,
  }
}

export const NO_ARRIVALS = {
  tcp: 0,
  tcp6: 0,
  udp: 0,
  udp6: 0,
  unix: 0,
  unixDatagram: 0,
  abstract: 0,
  abstractDatagram: 0,
}

export interface Victim {
  readonly pid: number
  readonly address: string
  readonly fd: number
  readonly state: () => Promise<{ readonly signals: number; readonly memory: string }>
}

export const startVictim = async (
  secretFile: string,
  mark = 'victim',
  env: Readonly<Record<string, string>> = {},
): Promise<Victim> => {
  const service = await start('victim', [secretFile, mark], env)
  const { pid, address, fd } = JSON.parse(service.first) as { pid: number; address: string; fd: number }
  return {
    pid,
    address,
    fd,
    state: async () => JSON.parse(await service.finish()) as { signals: number; memory: string },
  }
}

export interface HostIpc {
  readonly key: string
  readonly name: string
  readonly untouched: () => Promise<boolean>
}

export const startHostIpc = async (): Promise<HostIpc> => {
  const key = String(0x2c000000 + (process.pid % 100_000) * 16 + Math.floor(Math.random() * 16))
  const name = `cordon-attack-${key}`
  const service = await start('ipc-host', [key, name])
  return { key, name, untouched: async () => (JSON.parse(await service.finish()) as { untouched: boolean }).untouched }
}
