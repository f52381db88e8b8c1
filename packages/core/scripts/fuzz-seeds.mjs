// Seeds for fuzzing: real plans of the library, and real files of git.
import { encodeCommand, encodePlan } from '../dist/sandbox/plan/encode-plan.js'
import { encodeFrame } from '../dist/sandbox/frames.js'
import { probeHost } from '../dist/sandbox/host/probe-host.js'
import { findLauncher } from '../dist/sandbox/host/launcher.js'
import { createPlanner } from '../dist/sandbox/plan/planner.js'
import { parsePolicy, resolvePolicy } from '../dist/policy/index.js'

const POLICIES = [
  {},
  { network: 'all', exec: 'all' },
  { network: ['example.org', '*.example.org:8443', '192.0.2.0/24', '[2001:db8::1]:443'] },
  { filesystem: { read: ['/etc', '!/etc/shadow'], write: ['/var/tmp'] }, exec: ['sh', '/bin/true'] },
  {
    exec: 'none',
    environment: ['A=b'],
    limits: {
      memory: '64M',
      processes: 8,
      cpu: '1s',
      wall: '2s',
      output: 1024,
      openFiles: 64,
      fileSize: '1M',
      scratch: '1M',
    },
  },
]

const STREAMS = [
  { in: 'frames', out: 'frames', err: 'frames' },
  { in: 'terminal', out: 'terminal', err: 'direct' },
]

const plans = async () => {
  const planner = createPlanner(
    await probeHost(findLauncher(), { isRoot: process.getuid() === 0, temporaryFolder: '/tmp' }),
  )
  return POLICIES.flatMap((policy) =>
    ['namespaces', 'landlock'].flatMap((form) =>
      STREAMS.map((stdio) => {
        const boundary = resolvePolicy(parsePolicy(policy, 'seed'), {
          workspace: '/var/tmp',
          home: '/root',
          kind: 'process',
        })
        const request = {
          boundary,
          cwd: '/',
          program: '/bin/sh',
          searchPath: '/usr/bin:/bin',
          hostEnvironment: {},
          form,
          stdio,
          foreground: true,
          clock: 'start',
          delivery: 'gathered',
          observe: true,
          proxy: { authority: 'PEM' },
        }
        return encodePlan(planner.plan(request, [{ path: '/var/tmp', object: 'directory' }]).plan)
      }),
    ),
  )
}

const COMMANDS = [
  { program: '/bin/true', argv: ['true'], environment: {} },
  {
    program: '/bin/sh',
    argv: ['sh', '-c', 'echo "$1"', '', 'x'.repeat(200)],
    environment: { PATH: '/usr/bin', EMPTY: '' },
  },
].map(encodeCommand)

/** After a byte that names the kind (native/fuzz/plan.c). */
const marked = (mark, bytes) => Buffer.concat([Buffer.of(mark), bytes])

const CONFIGS = [
  '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n',
  '[remote "origin"]\n\turl = https://example.com/a.git\n\tfetch = ' +
    '+refs/heads/*:refs/remotes/origin/*\n[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n',
  '; comment\n[user]\n name = "A ; B" # more\n\temail=a@example.com\r\n[submodule "a\\"b"] \n\tactive\n\turl = ../b\n',
  // Each makes git run a program in another way, so that the judge must find them all.
  '[core]\n\tfsmonitor = /evil\n',
  '[core] fsmonitor = /evil # ]\n',
  '[core "x"] sshCommand = evil # "]\n',
  '[core.old]\n\tpager = evil\n',
  '[alias]\n\tstatus = !evil\n',
  '[include]\n\tpath = evil\n',
  '[core]\n\tbare = false\\\n\n\tfsmonitor = evil\n',
  '[remote "a"]\n\turl = evil:"":anything\n',
  '[remote "a"]\n\turl = a\r\n\tvcs = evil',
  '[core]\n\tbare\0\n\tpager = evil\n',
]

/** A DNS query. `options` are those of EDNS. */
const question = (name, type, options = []) =>
  Buffer.from([
    0x12,
    0x34,
    1,
    0,
    0,
    1,
    0,
    0,
    0,
    0,
    0,
    options.length === 0 ? 0 : 1,
    ...name.split('.').flatMap((label) => [label.length, ...Buffer.from(label)]),
    0,
    0,
    type,
    0,
    1,
    ...options,
  ])
const EDNS = [0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0]
const QUESTIONS = [
  question('example.org', 1),
  question('example.org', 28, EDNS),
  question('deep.test', 1, EDNS),
  question('elsewhere.net', 1),
  question('1.2.0.192.in-addr.arpa', 12),
]

const request = (...words) => Buffer.from(`${['cordon-nested-1', ...words, 'end'].join('\0')}\0`)
const REQUESTS = [
  request('1234567890123', '3128'),
  request(
    '9',
    '3128',
    'name',
    'example.org',
    '443',
    'below',
    'test',
    '80',
    'block',
    '192.0.2.0/24',
    '8443',
    'block',
    '2001:db8::/32',
    '1',
  ),
]

const words = (...list) => Buffer.from(list.map((word) => `${word}\0`).join(''))
const WALL_REQUESTS = [
  words('2', '', '/usr/bin/bwrap', '--args', '5', '--', '/dev/.cordon-cell', 'walled'),
  words('0', '/tmp/cordon-0', '/usr/bin/firejail', '--quiet', '--', '/opt/cordon-cell', 'walled'),
  words('1', '', 'bwrap'),
  words('1', '', '/usr/bin/bwrap', '--args', '5').subarray(0, -1),
]

const MOUNTS = [
  '22 27 0:21 / /proc rw,relatime - proc proc rw\n',
  '36 35 98:0 /a /with\\040space\\134and\\011tab rw master:1 - ext3 /dev/root rw\n',
  '36 35 98:0 /a /cut\\04',
  '36 35 98:0',
]

const PROGRAMS = [
  words('true', '/usr/local/bin:/usr/bin:/bin'),
  words('/bin/true', ''),
  words('../true', '/usr/bin'),
  words('true', `${'/usr/bin/.'.repeat(500)}:/usr/bin`),
]

export const SEEDS = {
  'plan': async () => [
    ...(await plans()).map((bytes) => marked(0, bytes)),
    ...COMMANDS.map((bytes) => marked(1, bytes)),
  ],
  'frames': async () => [
    ...(await plans()).map((bytes) => encodeFrame('P', bytes)),
    Buffer.concat([
      encodeFrame('C', COMMANDS[0]),
      encodeFrame('I', Buffer.from('input')),
      encodeFrame('I'),
      encodeFrame('K'),
    ]),
  ],
  'dns': async () => QUESTIONS,
  'nested': async () => REQUESTS,
  'wall': async () => WALL_REQUESTS,
  'mount-point': async () => MOUNTS.map((text) => Buffer.from(text)),
  'find-program': async () => PROGRAMS,
  'git-config': async () => CONFIGS.map((text) => Buffer.from(text)),
}
