// Hosts with networks of their own: namespaces, each connected to a bridge on which the server listens.
import { execFileSync } from 'node:child_process'

export interface Networks {
  /** Where the server listens. */
  readonly address: string
  /** Words before a command that put it into the network of a host. */
  readonly within: (host: number) => readonly string[]
  /** The file by which a container enters the network of a host. */
  readonly fileOf: (host: number) => string
  readonly addressOf: (host: number) => string
  readonly cut: (host: number) => void
  readonly join: (host: number) => void
  readonly remove: () => void
}

const ip = (...words: readonly string[]): void => {
  execFileSync('ip', words, { stdio: ['ignore', 'ignore', 'pipe'] })
}

/** Undefined where this user may not do that. */
export const openNetworks = (hosts: number): Networks | undefined => {
  const tag = String(process.pid % 10_000)
  const bridge = `cdn${tag}b`
  const subnet = `10.${String(64 + (process.pid % 64))}.${String(process.pid % 250)}`
  const namespace = (host: number) => `cdn${tag}h${String(host)}`
  const cable = (host: number) => `cdn${tag}v${String(host)}`
  const remove = (): void => {
    for (let host = 0; host < hosts; host += 1)
      quietly(() => {
        ip('netns', 'delete', namespace(host))
      })
    quietly(() => {
      ip('link', 'delete', bridge)
    })
  }
  try {
    ip('link', 'add', bridge, 'type', 'bridge')
    ip('addr', 'add', `${subnet}.1/24`, 'dev', bridge)
    ip('link', 'set', bridge, 'up')
    for (let host = 0; host < hosts; host += 1) {
      ip('netns', 'add', namespace(host))
      ip('link', 'add', cable(host), 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace(host))
      ip('link', 'set', cable(host), 'master', bridge, 'up')
      ip('-n', namespace(host), 'addr', 'add', `${subnet}.${String(host + 10)}/24`, 'dev', 'eth0')
      ip('-n', namespace(host), 'link', 'set', 'eth0', 'up')
      ip('-n', namespace(host), 'link', 'set', 'lo', 'up')
    }
  } catch {
    remove()
    return undefined
  }
  return {
    address: `${subnet}.1`,
    within: (host) => ['ip', 'netns', 'exec', namespace(host)],
    fileOf: (host) => `/run/netns/${namespace(host)}`,
    addressOf: (host) => `${subnet}.${String(host + 10)}`,
    cut: (host) => {
      ip('link', 'set', cable(host), 'down')
    },
    join: (host) => {
      ip('link', 'set', cable(host), 'up')
    },
    remove,
  }
}

const quietly = (work: () => void): void => {
  try {
    work()
  } catch {
    // It was not there.
  }
}
