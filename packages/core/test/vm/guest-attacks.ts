// The attack programs that guests run, and the expectations of each.
import type { Form } from '../../src/sandbox/index.js'
import type { Exceptions } from '../attacks/outcomes.js'

interface Attack {
  /** Routes that may succeed, with the reason. */
  readonly except?: (form: Form) => Exceptions
  /** What the attacked service says at the end. */
  readonly after?: unknown
}

const NO_ARRIVALS = Object.fromEntries(
  ['tcp', 'tcp6', 'udp', 'udp6', 'unix', 'unixDatagram', 'abstract', 'abstractDatagram'].map((name) => [name, 0]),
)

// The same exceptions as in test/attacks.
export const ATTACKS: Readonly<Record<string, Attack>> = {
  'read-path': {},
  'write-outside': {},
  'metadata': {},
  'carve-out': {},
  'new-namespaces': {},
  'kernel-interfaces': {
    except: () => ({
      'ptrace-traceme': 'debuggers start their children so',
      'process_vm_readv-self': 'the same: of itself and its own children',
      'personality': 'gives nobody any right',
    }),
  },
  'root-power': {},
  'wrong-architecture': {},
  'exec-policy': {},
  'host-ipc': { after: { untouched: true } },
  'other-processes': {
    except: (form) =>
      form !== 'landlock'
        ? {}
        : {
            'getsid': 'tells that a process exists',
            'f-setown': 'may be asked for; the signal itself is dropped, as the victim shows',
          },
    after: { signals: 0, memory: 'SECRET in memory' },
  },
  'sockets': {
    except: (form) =>
      form !== 'landlock'
        ? Object.fromEntries(
            ['udp', 'udp-sendmmsg', 'udp6', 'udp-connect'].map((name) => [name, 'a datagram to nobody']),
          )
        : {},
    after: NO_ARRIVALS,
  },
  'unix-sockets': { after: NO_ARRIVALS },
  'supervisor': {},
  'deputy': {},
}

/** They change or kill what is around them, so the guest does not try them without a cell. */
export const ONLY_CONFINED = ['supervisor', 'deputy']

/** Programs of the guest that attacks try to reach. */
export const SERVICES = ['ipc-host', 'victim', 'host-listeners']
